"""Schedules as JSON.

Defines `schedule_to_json` and `schedule_from_json`: a version, a default, and per node the fields
of a NodeSchedule; what is left out takes its default. Relies on the schedule data. It does not
know a graph: unknown nodes are found by `check_schedule`.
"""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import Any, Final

from tang.errors import FormatError, ScheduleError
from tang.ir.format import SPECIALS, Format, custom_format
from tang.ir.given import shown
from tang.ir.parse import first_repeated
from tang.kernel.ir import Type
from tang.kernel.narrow import NARROW, OVERFLOWS, ROUNDINGS, refusal
from tang.kernel.schedule import PLACES, NodeSchedule, Schedule, name_of

Field = int | str | dict[str, int | str]
"""What stands for a field in JSON."""

VERSION: Final = 1
LARGEST: Final = 1_000_000
"""No text longer than this many characters, and no number larger, is a schedule."""
_POWER: Final = re.compile(r"[eE][+-]?[0_]*[1-9][0-9_]{4}")
"""A power of ten that is beyond every format, and long to write."""


def schedule_to_json(schedule: Schedule) -> str:
    """The schedule as text that `schedule_from_json` reads back to an equal one."""
    nodes = {name: node_to_json(s) for name, s in schedule.nodes}
    whole = {"version": VERSION, "default": node_to_json(schedule.default), "nodes": nodes}
    return json.dumps(whole, indent=2) + "\n"


def node_to_json(s: NodeSchedule) -> dict[str, Field]:
    """All fields; rounding, overflow and promotion only where they are not as everywhere else."""
    found: dict[str, Field] = {
        "split": s.split,
        "storage": format_to_json(s.storage),
        "accumulate": format_to_json(s.accumulate),
        "workgroup": s.workgroup,
        "lanes": s.lanes,
        "place": s.place,
    }
    plain = NodeSchedule()
    if (s.rounding, s.overflow) != (plain.rounding, plain.overflow):
        found |= {"rounding": s.rounding, "overflow": s.overflow}
    if s.promote:
        found["promote"] = s.promote
    if s.partial is not None:
        found["partial"] = format_to_json(s.partial)
    return found


def format_to_json(format_: Type | Format) -> Field:
    """A format by its name; a user's as an object with its parts."""
    if not isinstance(format_, Format) or NARROW.get(format_.name) == format_:
        return name_of(format_)
    return {
        "name": format_.name,
        "p": format_.p,
        "emin": format_.emin,
        "largest": str(format_.largest),
        "specials": format_.specials,
    }


def schedule_from_json(text: str) -> Schedule:
    """The schedule in a JSON text; raises ScheduleError naming the place."""
    whole = _object(_parsed(text), "the schedule", ("version", "default", "nodes"), "inputs")
    if "version" not in whole:
        raise ScheduleError(f'version: it is missing: write "version": {VERSION}')
    if whole["version"] != VERSION or isinstance(whole["version"], bool):
        raise ScheduleError(f"version: expected {VERSION}, not {whole['version']!r}")
    default = _node(whole.get("default", {}), "default")
    nodes = _object(whole.get("nodes", {}), "nodes", None)
    named = tuple(
        (name, _node(value, f"nodes[{name!r}]", "scale")) for name, value in nodes.items()
    )
    return Schedule(nodes=named, default=default)


def _parsed(text: str) -> object:
    if len(text) > LARGEST:
        raise ScheduleError(f"a schedule has at most {LARGEST} characters, not {len(text)}")
    try:
        found: object = json.loads(text, object_pairs_hook=unique_fields)
    except (ValueError, RecursionError) as error:
        raise ScheduleError(f"the schedule is no JSON: {error}") from error
    return found


def unique_fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of a JSON text, for `object_pairs_hook`; raises ScheduleError for a name twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ScheduleError(f"{first_repeated(pairs)!r} occurs twice in one object: keep one")
    return found


def _object(
    value: object, where: str, known: tuple[str, ...] | None, precise: str = ""
) -> dict[str, Any]:
    """The value, if it is an object of known fields; `precise` is one that a precision has there
    besides, and that whoever reads a precision has taken out."""
    if not isinstance(value, dict):
        raise ScheduleError(f"{where}: expected an object, not {type(value).__name__}")
    for name in value:
        if known is not None and name not in known:
            also = f"; a precision may have {precise} as well" if precise else ""
            listed = ", ".join(known)
            raise ScheduleError(f"{where}: unknown field {name!r}: one of {listed}{also}")
    return value


def _node(value: object, where: str, precise: str = "") -> NodeSchedule:
    plain = NodeSchedule()
    usual = node_to_json(plain) | {"rounding": plain.rounding, "overflow": plain.overflow}
    usual |= {"promote": plain.promote}
    whole = usual | _object(value, where, (*usual, "partial"), precise)
    partial = whole.get("partial")
    return NodeSchedule(
        split=_number(whole["split"], f"{where}.split"),
        storage=format_from_json(whole["storage"], f"{where}.storage"),
        accumulate=format_from_json(whole["accumulate"], f"{where}.accumulate"),
        workgroup=_number(whole["workgroup"], f"{where}.workgroup"),
        lanes=_number(whole["lanes"], f"{where}.lanes"),
        place=_word(whole["place"], PLACES, f"{where}.place"),
        rounding=_word(whole["rounding"], ROUNDINGS, f"{where}.rounding"),
        overflow=_word(whole["overflow"], OVERFLOWS, f"{where}.overflow"),
        promote=_number(whole["promote"], f"{where}.promote", least=0),
        partial=None if partial is None else format_from_json(partial, f"{where}.partial"),
    )


def _number(value: object, where: str, least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= LARGEST:
        raise ScheduleError(
            f"{where}: expected an integer from {least} to {LARGEST}, not {value!r}"
        )
    return value


def _word(value: object, known: tuple[str, ...], where: str) -> str:
    if not isinstance(value, str) or value not in known:
        raise ScheduleError(f"{where}: expected one of {', '.join(known)}, not {value!r}")
    return value


def format_from_json(value: object, where: str) -> Type | Format:
    """The format that `format_to_json` wrote; raises ScheduleError naming the place."""
    known: dict[str, Type | Format] = {t.value: t for t in Type if t.is_float}
    known |= NARROW
    if isinstance(value, dict):
        return _custom(_object(value, where, ("name", "p", "emin", "largest", "specials")), where)
    if not isinstance(value, str) or value not in known:
        raise ScheduleError(f"{where}: expected one of {', '.join(known)}, not {value!r}")
    return known[value]


def _text(value: object, where: str, example: str) -> str:
    if not isinstance(value, str) or not value:
        raise ScheduleError(f"{where}: expected a text, as {example!r}, not {shown(value)}")
    return value


def _whole(value: object, where: str, example: int) -> int:
    """An integer as it is written: no number is rounded to one, and true is none."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ScheduleError(f"{where}: expected an integer, as {example}, not {shown(value)}")
    return value


def _rational(value: object, where: str) -> Fraction:
    """An exact number that some format may have; no power of ten is written out that none has."""
    given = shown(value)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ScheduleError(f"{where}: expected a number, as 240 or '480/2', not {given}")
    if isinstance(value, str) and _POWER.search(value):
        raise ScheduleError(f"{where}: {given} is beyond every format")
    try:
        return Fraction(value)
    except (ValueError, ArithmeticError) as e:
        raise ScheduleError(f"{where}: expected a number, as 240 or '480/2', not {given}") from e


def _custom(fields: dict[str, Any], where: str) -> Format:
    for name in ("name", "p", "emin", "largest"):
        if name not in fields:
            raise ScheduleError(f"{where}: a user's format has no {name!r}")
    try:
        made = custom_format(
            _text(fields["name"], f"{where}.name", "e5m1"),
            p=_whole(fields["p"], f"{where}.p", 4),
            emin=_whole(fields["emin"], f"{where}.emin", -6),
            largest=_rational(fields["largest"], f"{where}.largest"),
            specials=_word(fields.get("specials", "ieee"), SPECIALS, f"{where}.specials"),
        )
    except FormatError as e:
        raise ScheduleError(f"{where}: {e}") from e
    reason = refusal(made)
    if reason:
        raise ScheduleError(f"{where}: {made.name} cannot be held in f32: {reason}")
    return made
