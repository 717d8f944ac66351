"""The check of data certificates: every field again, and exact arithmetic in balls.

Defines `check_data`. Relies on the program and the schedule that the certificate carries, on
emulation for the values and on the interpreter's balls for the exact ones; it shares no code with
what bounds. It cannot see whether the values are those of a device: tests of emulation see that.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.budget.data_certificate import FORMULA, KIND, VERSION, constants_of, sealed
from tang.budget.data_check_balls import Exactly, Tensor, checked_in_balls
from tang.budget.precision import applied
from tang.device.storage import array_of, unpack
from tang.emulator.replay import replay
from tang.errors import BudgetError, ScheduleError, TangError
from tang.ir.bind import bind, infer_sizes
from tang.ir.expr import REAL
from tang.ir.graph import Graph
from tang.ir.serial import from_json, to_json
from tang.ir.validate import validate
from tang.kernel.ir import F64
from tang.kernel.plan import Buffer
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.kernel.text import plan_text
from tang.rewrite import rewrite
from tang.schedule.serial import schedule_from_json, schedule_to_json, unique_fields
from tang.verify.subject import Subject, Task, computed, prepare

F64Array = npt.NDArray[np.float64]
Index = tuple[int, ...]

_FIELDS: Final = {
    "kind": str, "version": int, "strength": str, "formula": str, "graph": str, "plan": str,
    "inputs": dict, "seed": (int, type(None)), "sizes": dict, "constants": list, "outputs": dict,
    "program": str, "schedule": str, "nodes": list, "digest": str,
}  # fmt: skip
_ROW: Final = {
    "name": str, "format": str, "shape": list, "elements": int, "largest": float, "error": float,
    "bound": float, "finite": int, "vacuous": int, "values": str, "bounds": str,
}  # fmt: skip
SLACK: Final = 2.0**-20
"""Of a bound: what f64 may be off beside formats of 24 bits and less, 2^-29 and some room."""
UNHELD: Final = ("seed",)
"""The fields that nothing tells: what data were drawn from. The data themselves are held."""


@dataclass(frozen=True, slots=True)
class CheckedData:
    """What was confirmed: tensors, elements within their bounds, without a bound, and open ones."""

    tensors: int
    confirmed: int
    unbounded: int
    undecided: int

    def __str__(self) -> str:
        nothing = not self.confirmed and self.unbounded + self.undecided > 0
        return (
            f"{self.tensors} tensors: {self.confirmed} elements within their bounds, "
            f"{self.unbounded} without a bound, {self.undecided} undecided"
            + (": nothing is confirmed" if nothing else "")
        )


def check_data(
    text: str,
    graph: Graph,
    inputs: Mapping[str, Any],
    precision: object = None,
    *,
    rules: Iterable[str] | None = None,
) -> CheckedData:
    """Confirm every field of a certificate, and |computed − exact| ≤ bound of every element.

    The values are emulated again from the program and the schedule in the certificate. Exact ones
    are computed in balls, of stored tensors in that program, of outputs in `graph` itself; an
    element counts once. With `precision` (and `rules`, as of `certify_data`) program and schedule
    must be those that it gives. Raises BudgetError naming the place that does not hold. A larger
    bound than need be holds, if the summaries are those of it.
    """
    validate(graph)
    found = _parsed(text)
    _same("graph: the program", found["graph"], _sha(to_json(graph).encode()))
    _check_inputs(found, graph, inputs)
    subject = _subject(found, inputs)
    if precision is not None:
        _check_precision(subject, graph, precision, rules)
    stored = [b for b in computed(subject.expanded) if b.ref is not None and b.sort is REAL]
    tensors = _tensors(found["nodes"], stored, subject)
    _check_facts(found, subject)
    exactly = checked_in_balls(subject.bound, inputs, list(tensors.values()))
    wide = _is_wide(subject.schedule)
    for row in found["nodes"]:
        _check_summary(row, tensors[row["name"]], exactly[row["name"]], wide)
    outputs = _outputs(found["outputs"], subject, tensors, graph)
    again = checked_in_balls(bind(graph, found["sizes"]), inputs, outputs)
    if found["digest"] != sealed(found)["digest"]:
        raise BudgetError("digest: the certificate was changed after it was made")
    undecided = {(t.stored, at) for t in outputs for at in again[t.name].undecided}
    undecided |= {(n, at) for n, e in exactly.items() for at in e.undecided}
    total = sum(t.values.size for t in tensors.values())
    unbounded = sum(int(np.isinf(t.bounds).sum()) for t in tensors.values())
    return CheckedData(len(tensors), total - unbounded - len(undecided), unbounded, len(undecided))


# --- the text -------------------------------------------------------------------------------------


def _parsed(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text, object_pairs_hook=unique_fields)
    except (TypeError, ValueError, RecursionError, ScheduleError) as e:
        raise BudgetError(f"the certificate is no JSON: {e}") from e
    if not isinstance(found, dict) or found.get("kind") != KIND:
        raise BudgetError("this is no data certificate: its kind is another")
    if found.get("version") != VERSION or isinstance(found["version"], bool):
        raise BudgetError(f"version: expected {VERSION}, not {found.get('version')!r}")
    _check_fields("the certificate", found, _FIELDS)
    for n, row in enumerate(found["nodes"]):
        _check_fields(f"nodes[{n}]", row, _ROW)
    for name, wanted in (("strength", "data"), ("formula", FORMULA)):
        if found[name] != wanted:
            raise BudgetError(f"{name}: expected {wanted!r}, not {found[name]!r}")
    return found


def _check_fields(where: str, found: object, kinds: Mapping[str, Any]) -> None:
    """Exactly these fields, each of its kind; a bool is no number."""
    if not isinstance(found, dict) or set(found) != set(kinds):
        held = sorted(set(kinds) ^ set(found)) if isinstance(found, dict) else [found]
        raise BudgetError(f"{where} cannot be read: too much or missing: {held[0]!r}")
    for name, kind in kinds.items():
        value = found[name]
        if not isinstance(value, kind) or isinstance(value, bool):
            raise BudgetError(f"{where} has no {name!r}, or of another kind: {value!r}"[:200])


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _of_array(array: npt.NDArray[Any]) -> str:
    plain = array.astype(array.dtype.newbyteorder("<"))
    return _sha(f"{plain.dtype.str}{list(array.shape)}".encode() + plain.tobytes())


def _same(what: str, said: object, found: str) -> None:
    if said != found:
        raise BudgetError(f"the certificate is for another one: {what} has another digest")


# --- what it was made of --------------------------------------------------------------------------


def _check_inputs(found: Mapping[str, Any], graph: Graph, inputs: Mapping[str, Any]) -> None:
    names = [i.name for i in graph.inputs]
    if not isinstance(inputs, Mapping):
        raise BudgetError(f"inputs are arrays by name, of {', '.join(names)}, not {inputs!r}")
    for name in names:
        if name not in inputs:
            raise BudgetError(f"no data for input {name!r}: give those of the certificate")
    for name in sorted({*found["inputs"], *inputs}, key=str):
        if name not in names:
            raise BudgetError(f"inputs: the program has no {name!r}: one of {', '.join(names)}")
    arrays = {n: array_of(inputs[n], f"input {n!r}", BudgetError) for n in names}
    for name in names:
        _same(f"input {name!r}", found["inputs"].get(name), _of_array(arrays[name]))
    sizes = dict(infer_sizes(graph, {n: a.shape for n, a in arrays.items()}))
    if found["sizes"] != sizes or any(type(n) is not int for n in found["sizes"].values()):
        raise BudgetError(f"sizes: the data have {sizes}, not {found['sizes']}")


def _subject(found: Mapping[str, Any], inputs: Mapping[str, Any]) -> Subject:
    """The program of the certificate under its schedule, lowered; the digest of its plan holds."""
    try:
        program, schedule = from_json(found["program"]), schedule_from_json(found["schedule"])
        for name, again in (
            ("program", to_json(program)),
            ("schedule", schedule_to_json(schedule)),
        ):
            if again != found[name]:
                raise BudgetError(f"{name}: it is not as it was written")
        subject = prepare(Task(graph=program, inputs=inputs, schedule=schedule), cure="")
    except TangError as e:
        raise BudgetError(f"the program or the schedule of the certificate: {e}") from e
    if subject.sizes != found["sizes"]:
        raise BudgetError(f"sizes: its program has {subject.sizes}, not {found['sizes']}")
    _same("plan: the program under its schedule", found["plan"],
          _sha(plan_text(subject.packed).encode()))  # fmt: skip
    return subject


def _check_precision(
    subject: Subject, graph: Graph, precision: object, rules: Iterable[str] | None
) -> None:
    made, schedule = applied(precision, rewrite(graph, rules).graph)
    if to_json(made) != to_json(subject.task.graph):
        raise BudgetError("program: the certificate is of another one than this precision gives")
    if schedule_to_json(schedule) != schedule_to_json(subject.schedule):
        raise BudgetError("schedule: the certificate is for another precision")


def _check_facts(found: Mapping[str, Any], subject: Subject) -> None:
    wanted = [{"name": c.name, "value": c.value, "from": c.provenance}
              for c in constants_of(subject.expanded)]  # fmt: skip
    for said, own in zip(found["constants"], wanted, strict=False):
        if said != own:
            raise BudgetError(f"constants: expected {own}, not {said}")
    if len(found["constants"]) != len(wanted):
        raise BudgetError(f"constants: there are {len(wanted)}, not {len(found['constants'])}")


def _outputs(
    said: Mapping[str, Any], subject: Subject, tensors: Mapping[str, Tensor], graph: Graph
) -> list[Tensor]:
    """The outputs as tensors of `graph` itself."""
    refs = {o.name: str(o.ref) for o in subject.bound.outputs}
    wanted = {n: r for n, r in refs.items() if r in tensors}
    asked = {o.name: o.ref for o in graph.outputs}
    for name in sorted({*said, *wanted}):
        if said.get(name) != wanted.get(name) or name not in asked:
            node = said.get(name)
            raise BudgetError(f"output {name!r}: the certificate has no tensor {node!r} for it")
    return [tensors[r].named(f"output {n} ({r})", asked[n]) for n, r in wanted.items()]


def _is_wide(schedule: Schedule) -> bool:
    """Whether anything is as wide as the f64 that errors are taken from."""
    every: list[NodeSchedule] = [schedule.default, *(s for _, s in schedule.nodes)]
    return any(F64 in (s.storage, s.accumulate, s.partial) for s in every)


# --- rows -----------------------------------------------------------------------------------------


def _tensors(
    rows: list[dict[str, Any]], stored: list[Buffer], subject: Subject
) -> dict[str, Tensor]:
    """The rows' tensors: those of the plan in its order, with the values of emulation."""
    if [r["name"] for r in rows] != [str(b.ref) for b in stored]:
        known = ", ".join(str(b.ref) for b in stored)
        raise BudgetError(f"nodes: the stored tensors are {known}, in this order")
    done = replay(subject.expanded, subject.stored, sizes=subject.sizes, sanitize=False)
    found = {}
    for row, b in zip(rows, stored, strict=True):
        name = row["name"]
        values = unpack(done.buffers[b.name], b.type).astype(np.float64)
        if row["format"] != b.format or row["elements"] != values.size:
            raise BudgetError(f"{name}: it holds {values.size} elements of {b.format}")
        shape = _shape(row, subject, b)
        said, bounds = (_array(row, part, shape) for part in ("values", "bounds"))
        if not _equal(said, values.reshape(shape)):
            raise BudgetError(f"{name}: its values are not those that its schedule gives")
        if np.isnan(bounds).any() or (bounds < 0).any():
            raise BudgetError(f"{name}: a bound is NaN or negative")
        ref = b.ref
        if ref is not None:
            found[name] = Tensor(name, name, ref, said, bounds)
    return found


def _shape(row: Mapping[str, Any], subject: Subject, b: Buffer) -> Index:
    ref = b.ref
    shape = () if ref is None else tuple(p.constant for p in subject.bound.shape(ref))
    if row["shape"] != list(shape) or any(type(n) is not int for n in row["shape"]):
        raise BudgetError(f"{row['name']}: its shape is {shape}, not {row['shape']}")
    return shape


def _array(row: Mapping[str, Any], part: str, shape: Index) -> F64Array:
    try:
        flat = np.frombuffer(base64.b64decode(row[part], validate=True), "<f8")
        if base64.b64encode(flat.tobytes()).decode() != row[part]:
            raise ValueError("it is not as it was written")
        return flat.reshape(shape)
    except (ValueError, binascii.Error) as e:
        raise BudgetError(f"{row['name']}: its {part} cannot be read: {e}") from e


def _equal(a: F64Array, b: F64Array) -> bool:
    """Bit for bit, but for the payload of a NaN."""
    same = a.reshape(-1).view(np.int64) == np.ascontiguousarray(b).reshape(-1).view(np.int64)
    return bool((same | (np.isnan(a) & np.isnan(b)).reshape(-1)).all())


def _check_summary(row: Mapping[str, Any], t: Tensor, exactly: Exactly, wide: bool) -> None:
    """The summaries of a row: of its bounds as they are, of its errors as balls have them.

    Errors are said against f64, which is as far from exact as SLACK of the bound, or where
    something is computed in f64 itself, as the bound.
    """
    finite = t.bounds[np.isfinite(t.bounds)]
    most = float(finite.max(initial=0.0))
    if row["bound"] != most or row["finite"] != finite.size:
        raise BudgetError(
            f"{t.name}: its largest bound {row['bound']:.6g} is not that of its elements"
        )
    slack = most if wide else most * SLACK
    for word in ("error", "largest"):
        said, span = float(row[word]), exactly.error if word == "error" else exactly.largest
        lo, hi = span
        open_ = bool(exactly.undecided) and said >= lo - slack
        if not (math.isfinite(said) and (open_ or lo - slack <= said <= hi + slack)):
            raise BudgetError(f"{t.name}: its {word} is {hi:.6g}, not {said:.6g}")
    if row["error"] > row["bound"]:
        raise BudgetError(f"{t.name}: its error {row['error']:.6g} is above its bound {most:.6g}")
    few, many = exactly.vacuous(t, 1.0 if wide else SLACK)
    if not few <= row["vacuous"] <= many:
        raise BudgetError(f"{t.name}: {few} bounds are vacuous, not {row['vacuous']}")


__all__ = ["CheckedData", "check_data"]
