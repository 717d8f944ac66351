"""The check of data certificates: exact arithmetic again, in balls, from the certificate alone.

Defines `check_data`. Relies on the interpreter's ball arithmetic and on the JSON of certificates
and programs; it shares no code with what made the certificate, and needs no plan or schedule.
It cannot see whether the computed values are those of a device: emulation answers for that.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import flint
import numpy as np
import numpy.typing as npt

from tang.errors import BudgetError, TangError
from tang.interpreter import ball_interpret
from tang.interpreter.ball_numbers import EITHER, UNDECIDED
from tang.ir.bind import bind
from tang.ir.graph import Graph, Output
from tang.ir.serial import from_json, to_json
from tang.ir.view import Ref

F64Array = npt.NDArray[np.float64]
Index = tuple[int, ...]

PRECISIONS: Final = (128, 512)
"""Bits of the balls; the second for what the first leaves open."""


@dataclass(frozen=True, slots=True)
class CheckedData:
    """What was confirmed: tensors, elements within their bounds, without a bound, and open ones."""

    tensors: int
    confirmed: int
    unbounded: int
    undecided: int

    def __str__(self) -> str:
        return (
            f"{self.tensors} tensors: {self.confirmed} elements within their bounds, "
            f"{self.unbounded} without a bound, {self.undecided} undecided"
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Tensor:
    """A tensor of the certificate: the name to blame, what it is in a program, and its numbers."""

    name: str
    ref: Ref
    values: F64Array
    bounds: F64Array


def check_data(text: str, graph: Graph, inputs: Mapping[str, Any]) -> CheckedData:
    """Confirm |computed − exact| ≤ bound, element by element, of every tensor of a certificate.

    Stored tensors are held against the rewritten program that the certificate carries, outputs
    against `graph` itself. Raises BudgetError naming the node where a bound does not hold or a
    summary is not that of its elements, and for a certificate of another program or other data.
    """
    found = _parsed(text)
    _same("the program", found["graph"], _sha(to_json(graph).encode()))
    for name, array in inputs.items():
        _same(f"input {name!r}", found["inputs"].get(name), _of_array(np.asarray(array)))
    nodes = {t.name: t for t in map(_tensor, found["nodes"])}
    program = from_json(found["program"])
    counts = _check(bind(program, found["sizes"]), inputs, list(nodes.values()))
    asked = {o.name: o.ref for o in graph.outputs}
    outputs = []
    for name, node in found["outputs"].items():
        if node not in nodes or name not in asked:
            raise BudgetError(f"output {name!r}: the certificate has no tensor {node!r} for it")
        outputs.append(replace(nodes[node], name=f"output {name} ({node})", ref=asked[name]))
    again = _check(bind(graph, found["sizes"]), inputs, outputs)
    return CheckedData(len(nodes), *(a + b for a, b in zip(counts, again, strict=True)))


# --- the text -------------------------------------------------------------------------------------


def _parsed(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as e:
        raise BudgetError(f"the certificate is no JSON: {e}") from e
    kinds = {
        "graph": str, "program": str, "inputs": dict, "sizes": dict, "nodes": list, "outputs": dict,
    }  # fmt: skip
    if not isinstance(found, dict) or found.get("kind") != "tang data certificate":
        raise BudgetError("this is no data certificate: its kind is another")
    if found.get("version") != 1:
        raise BudgetError(f"version: expected 1, not {found.get('version')!r}")
    for name, kind in kinds.items():
        if not isinstance(found.get(name), kind):
            raise BudgetError(f"the certificate has no {name!r}, or of another kind")
    return found


def _tensor(data: Any) -> _Tensor:  # noqa: ANN401 - plain data
    """A row of the certificate, whose summary must be that of its elements."""
    try:
        name, shape = str(data["name"]), tuple(int(n) for n in data["shape"])
        values, bounds = (_array(data[part], shape) for part in ("values", "bounds"))
        said = float(data["bound"]), float(data["error"]), int(data["finite"])
        node, _, output = name.rpartition(".")
    except (KeyError, TypeError, ValueError, binascii.Error) as e:
        raise BudgetError(f"a node of the certificate cannot be read: {e!r}") from e
    finite = bounds[np.isfinite(bounds)]
    if np.isnan(bounds).any() or (finite < 0).any():
        raise BudgetError(f"{name}: a bound is NaN or negative")
    if said[0] != finite.max(initial=0.0) or said[2] != finite.size:
        raise BudgetError(f"{name}: its largest bound {said[0]:.6g} is not that of its elements")
    if not said[1] <= said[0]:
        raise BudgetError(f"{name}: its error {said[1]:.6g} is above its bound {said[0]:.6g}")
    return _Tensor(name, Ref(node, output), values, bounds)


def _array(data: str, shape: Index) -> F64Array:
    flat = np.frombuffer(base64.b64decode(data, validate=True), "<f8")
    return flat.reshape(shape)


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _of_array(array: npt.NDArray[Any]) -> str:
    plain = array.astype(array.dtype.newbyteorder("<"))
    return _sha(f"{plain.dtype.str}{list(array.shape)}".encode() + plain.tobytes())


def _same(what: str, said: object, found: str) -> None:
    if said != found:
        raise BudgetError(f"the certificate is for another one: {what} has another digest")


# --- the numbers ----------------------------------------------------------------------------------


def _check(graph: Graph, inputs: Mapping[str, Any], tensors: list[_Tensor]) -> tuple[int, int, int]:
    """Elements confirmed, without a bound, and undecided at every precision."""
    named = {f"t{i}": t for i, t in enumerate(tensors)}
    unbounded = sum(int(np.isinf(t.bounds).sum()) for t in tensors)
    todo = {label: list(np.argwhere(np.isfinite(t.bounds))) for label, t in named.items()}
    total = sum(map(len, todo.values()))
    for prec in PRECISIONS:
        wanted = tuple(Output(n, named[n].ref) for n, left in todo.items() if left)
        if not wanted:
            break
        try:
            exact = ball_interpret(replace(graph, outputs=wanted), inputs, prec)
        except TangError as e:
            raise BudgetError(f"the certificate's program cannot be evaluated: {e}") from e
        todo = {
            o.name: list(_open(named[o.name], exact[o.name].value, todo[o.name], prec))
            for o in wanted
        }
    undecided = sum(map(len, todo.values()))
    return total - undecided, unbounded, undecided


def _open(t: _Tensor, exact: Any, elements: list[Any], prec: int) -> Iterator[Any]:  # noqa: ANN401
    """The elements that these balls do not decide; BudgetError for one beyond its bound."""
    if np.shape(exact) != t.values.shape:
        raise BudgetError(f"{t.name}: its shape is {t.values.shape}, not {np.shape(exact)}")
    before, flint.ctx.prec = flint.ctx.prec, prec
    try:
        for element in elements:
            at = tuple(int(i) for i in element)
            holds = _holds(float(t.values[at]), exact[at], float(t.bounds[at]))
            if holds is False:
                raise BudgetError(
                    f"{t.name}{list(at)}: |{t.values[at]!r} − {exact[at]}| is above its bound "
                    f"{t.bounds[at]!r}"
                )
            if holds is None:
                yield element
    finally:
        flint.ctx.prec = before


def _holds(value: float, exact: Any, bound: float) -> bool | None:  # noqa: ANN401 - a number
    """Whether |value − exact| ≤ bound; None where the ball does not tell."""
    if exact is UNDECIDED:
        return None
    if exact is EITHER:
        return math.isinf(value)
    if isinstance(exact, float):
        return value == exact or (math.isnan(value) and math.isnan(exact))
    if not math.isfinite(value):
        return False
    distance = abs(flint.arb(value) - exact)
    if distance <= flint.arb(bound):
        return True
    return False if distance > flint.arb(bound) else None


__all__ = ["CheckedData", "check_data"]
