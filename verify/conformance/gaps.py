"""What a language may lack: the only reasons for which the suite accepts UNSUPPORTED.

Defines `GAPS` and `gaps_of`. Relies on the kernel IR alone: the list is the suite's, not the
dialect's, so a table that forgot a row cannot excuse itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from tang.kernel import ir as k
from tang.kernel.walk import statements, subexpressions

GAPS: Final[Mapping[str, Mapping[str, str]]] = {
    "c": {},
    "opencl": {},
    "cuda": {},
    "wgsl": {
        "i64": "integers have 32 bits",
        "f64": "floats have 32 bits",
        "fma f16": "fma may round twice",
        "fma bf16": "fma may round twice",
        "fma f32": "fma may round twice",
    },
    "glsl": {"fma f64": "fma may round twice"},
    "msl": {"f64": "floats have 32 bits"},
}
"""Language → feature (a type, or an operation and its type) → why it cannot be said."""


def gaps_of(kernel: k.Kernel, language: str) -> tuple[str, ...]:
    """The reasons for which a language need not support a kernel; none means that it must."""
    known = GAPS.get(language, {})
    used = dict.fromkeys(_features(kernel))
    return tuple(f"{f}: {known[f]}" for f in used if f in known)


def _features(kernel: k.Kernel) -> Iterator[str]:
    """The types and operations that a kernel mentions, by name."""
    yield from (p.type.value for p in kernel.params)
    yield from (s.type.value for s in kernel.scalars)
    for f in kernel.functions:
        yield from (p.type.value for p in f.params)
        body = (*f.body, k.Let(k.Var(f.result.type, "result"), f.result))
        yield from _in(body)
    yield from _in(kernel.body)


def _in(body: tuple[k.Stmt, ...]) -> Iterator[str]:
    for s in statements(body):
        if isinstance(s, k.Array):
            yield s.type.value
        elif isinstance(s, k.Let | k.Declare | k.For):
            yield s.var.type.value
    for e in subexpressions(body):
        yield e.type.value
        if isinstance(e, k.Op):
            yield f"{e.op} {e.args[-1].type.value}"
