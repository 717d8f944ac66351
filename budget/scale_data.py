"""Scales of narrow tensors as data: per tensor, row or block, in f32 or as powers of two.

Defines `Scale`, `Narrow`, `Precise` and `precise_from_json`, which reads them from the JSON of a
precision. Relies on the JSON of schedules for everything else in it. It changes no program: that is
`scales`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tang.errors import ScheduleError
from tang.ir.format import Format
from tang.kernel.ir import F32, Type
from tang.kernel.narrow import OVERFLOWS, ROUNDINGS, USUAL
from tang.kernel.schedule import Schedule
from tang.schedule.serial import format_from_json, schedule_from_json, unique_fields

PERS: Final = ("tensor", "row", "block")
FORMATS: Final = ("f32", "e8m0")
BLOCK: Final = 32
_FIELDS: Final = ("per", "block", "format", "amax", "value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How a tensor is divided before it is stored narrow, and multiplied when it is read.

    per     "tensor": one scale; "row": one for each line along the last axis; "block": one for
            each `block` neighbours along it, which must divide it
    format  "f32": amax / largest number of the format; "e8m0": the power of two
            2^(⌊log2 amax⌋ − emax) of OCP Microscaling Formats 1.0, section 6.3
    amax    whether the scale comes from the largest magnitude of the very data; else it is `value`,
            a positive number, for the whole tensor
    """

    per: str = "tensor"
    block: int = BLOCK
    format: str = "f32"
    amax: bool = True
    value: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrow:
    """The format of an input, where it is not the default's, and its scale."""

    storage: Type | Format = F32
    rounding: str = "rne"
    overflow: str = USUAL
    scale: Scale | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Precise:
    """A schedule with what it has no fields for: scales of nodes, and formats of single inputs."""

    schedule: Schedule
    nodes: Mapping[str, Scale] = field(default_factory=dict)
    inputs: Mapping[str, Narrow] = field(default_factory=dict)

    @property
    def is_plain(self) -> bool:
        return not self.nodes and not self.inputs


def precise_from_json(text: str) -> Precise:
    """A precision's JSON: that of `tang.schedule.serial`, where nodes may have a "scale" and
    "inputs" may give single inputs a format; raises ScheduleError naming the place."""
    try:
        whole = json.loads(text, object_pairs_hook=unique_fields)
    except (ValueError, RecursionError):
        return Precise(schedule=schedule_from_json(text))  # which says what is wrong
    if not isinstance(whole, dict):
        return Precise(schedule=schedule_from_json(text))
    if isinstance(whole.get("default"), dict) and "scale" in whole["default"]:
        raise ScheduleError("default.scale: a scale belongs to a node or an input: name it there")
    inputs = _inputs(whole.pop("inputs", {}))
    scales = _node_scales(whole.get("nodes"))
    return Precise(schedule=schedule_from_json(json.dumps(whole)), nodes=scales, inputs=inputs)


def _node_scales(nodes: object) -> dict[str, Scale]:
    """The scales of nodes, which are taken out of their objects."""
    found = {}
    for name, value in nodes.items() if isinstance(nodes, dict) else ():
        if isinstance(value, dict) and "scale" in value:
            found[name] = scale_from(value.pop("scale"), f"nodes[{name!r}].scale")
    return found


def _inputs(value: object) -> dict[str, Narrow]:
    if not isinstance(value, dict):
        raise ScheduleError(f"inputs: expected an object, not {type(value).__name__}")
    return {name: _narrow(v, f"inputs[{name!r}]") for name, v in value.items()}


def _narrow(value: object, where: str) -> Narrow:
    fields = _object(value, where, ("storage", "rounding", "overflow", "scale"))
    scale = fields.get("scale")
    return Narrow(
        storage=format_from_json(fields.get("storage", "f32"), f"{where}.storage"),
        rounding=_word(fields.get("rounding", "rne"), ROUNDINGS, f"{where}.rounding"),
        overflow=_word(fields.get("overflow", USUAL), OVERFLOWS, f"{where}.overflow"),
        scale=None if scale is None else scale_from(scale, f"{where}.scale"),
    )


def scale_from(value: object, where: str) -> Scale:
    """A scale from its JSON; raises ScheduleError naming the place."""
    fields = _object(value, where, _FIELDS)
    scale = Scale(
        per=_word(fields.get("per", "tensor"), PERS, f"{where}.per"),
        block=fields.get("block", BLOCK),
        format=_word(fields.get("format", "f32"), FORMATS, f"{where}.format"),
        amax=fields.get("amax", True),
        value=fields.get("value", 1.0),
    )
    if type(scale.block) is not int or scale.block < 1:
        raise ScheduleError(f"{where}.block: expected a positive integer, not {scale.block!r}")
    if "block" in fields and scale.per != "block":
        raise ScheduleError(f"{where}.block: only a scale per block has one, not per {scale.per}")
    if type(scale.amax) is not bool:
        raise ScheduleError(f"{where}.amax: expected true or false, not {scale.amax!r}")
    _check_value(scale, where, given="value" in fields)
    return scale


def _check_value(scale: Scale, where: str, *, given: bool) -> None:
    if scale.amax:
        if given:
            raise ScheduleError(f"{where}.value: amax takes the scale from the data: drop one")
        return
    if scale.per != "tensor" or not given:
        raise ScheduleError(f"{where}: without amax a scale is one value, per tensor: give both")
    v = scale.value
    number = isinstance(v, int | float) and not isinstance(v, bool)
    if not (number and 2.0**-126 <= v <= 2.0**127):
        shown = repr(v)[:60]
        raise ScheduleError(f"{where}.value: expected a number from 2^-126 to 2^127, not {shown}")
    if scale.format == "e8m0" and math.frexp(v)[0] != 0.5:
        raise ScheduleError(f"{where}.value: {v!r} is no power of two, and e8m0 has no others")


def _object(value: object, where: str, known: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ScheduleError(f"{where}: expected an object, not {type(value).__name__}")
    for name in value:
        if name not in known:
            raise ScheduleError(f"{where}: unknown field {name!r}: one of {', '.join(known)}")
    return value


def _word(value: object, known: tuple[str, ...], where: str) -> str:
    if not isinstance(value, str) or value not in known:
        raise ScheduleError(f"{where}: expected one of {', '.join(known)}, not {value!r}")
    return value
