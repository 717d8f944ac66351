"""Cases of the conformance suite: kernels, the data they run on, and the bits that replay expects.

Defines `Case`, `kernel_case` and the small builders that tables of cases share. Relies on replay
and on the verifier's trials. It knows no language and no device.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.device.storage import dtype_of
from tang.emulator.records import Finding
from tang.emulator.replay import replay_launch
from tang.ir.extent import poly
from tang.kernel import ir as k
from tang.kernel.check import check_kernel
from tang.kernel.plan import Launch
from tang.verify.rung_emit import Trial

Array = npt.NDArray[Any]

ID: Final = k.Var(k.I32, "global_id")
LOCAL: Final = k.Var(k.I32, "local_id")
GROUP: Final = k.Var(k.I32, "group_id")
N: Final = k.Var(k.I32, "n")


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A name, launches in order, and what each equal part of the last output shows.

    seen  what replay's sanitizer found: nothing, or the case itself is wrong
    """

    name: str
    trials: tuple[Trial, ...]
    parts: tuple[str, ...] = ()
    seen: tuple[Finding, ...] = ()

    @property
    def kernels(self) -> tuple[k.Kernel, ...]:
        """The kernels, each once."""
        return tuple({id(t.launch.kernel): t.launch.kernel for t in self.trials}.values())


def kernel_case(
    name: str,
    kernel: k.Kernel,
    data: Mapping[str, Array] | Sequence[Mapping[str, Array]],
    threads: int | Sequence[int],
    scalars: Sequence[Sequence[int]] | None = None,
    parts: Sequence[str] = (),
) -> Case:
    """A case of one kernel, launched once per entry of `threads`.

    data     arrays by parameter in memory format; of outputs only the shape counts
    scalars  values of the kernel's scalars per launch; None passes the number of threads
    """
    check_kernel(kernel)
    counts = [threads] if isinstance(threads, int) else list(threads)
    states = [data] * len(counts) if isinstance(data, Mapping) else list(data)
    given = scalars if scalars is not None else [[n] * len(kernel.scalars) for n in counts]
    trials, seen = [], list[Finding]()
    for state, count, numbers in zip(states, counts, given, strict=True):
        trial, findings = _trial(kernel, state, count, numbers)
        trials.append(trial)
        seen += findings
    return Case(name, tuple(trials), tuple(parts), tuple(seen))


def _trial(
    kernel: k.Kernel, state: Mapping[str, Array], threads: int, scalars: Sequence[int]
) -> tuple[Trial, tuple[Finding, ...]]:
    names = tuple(p.name for p in kernel.params)
    launch = Launch(kernel, names, tuple(poly(n) for n in scalars), poly(threads))
    replayed = replay_launch(launch, state, {})
    after = {p.name: _memory(replayed.buffers[p.name], p.type) for p in kernel.params}
    before = tuple(_memory(state[p.name], p.type) for p in kernel.params)
    expected = tuple(after[p.name] if p.writable else None for p in kernel.params)
    groups = -(-threads // kernel.workgroup)
    return Trial(launch, before, expected, tuple(scalars), groups), replayed.findings


def _memory(array: Array, t: k.Type) -> Array:
    return np.ascontiguousarray(array).astype(dtype_of(t), copy=False)


# --- builders -------------------------------------------------------------------------------------


def integer(value: int, t: k.Type = k.I32) -> k.Const:
    """An integer constant."""
    return k.Const(t, value)


def real(value: Fraction | int | str, t: k.Type = k.F32) -> k.Const:
    """A float constant."""
    return k.Const(t, value if isinstance(value, str) else Fraction(value))


def op(name: str, *args: k.Expr) -> k.Op:
    """An operation whose result has the type of its last operand, or is a bool."""
    to_bool = name in ("lt", "le", "eq", "isnan")
    return k.Op(k.BOOL if to_bool else args[-1].type, name, args)


def load(source: str, t: k.Type, index: k.Expr = ID) -> k.Load:
    """An element of a buffer or an array."""
    return k.Load(t, source, index)


def below(*body: k.Stmt) -> k.If:
    """The statements, in threads below n."""
    return k.If(op("lt", ID, N), body)


def kernel(
    name: str,
    params: Mapping[str, k.Type],
    body: Sequence[k.Stmt],
    workgroup: int = 64,
    scalars: tuple[k.Var, ...] = (N,),
    functions: tuple[k.Function, ...] = (),
    outputs: int = 1,
) -> k.Kernel:
    """A kernel whose last parameters are outputs."""
    first = len(params) - outputs
    made = tuple(k.Param(p, t, n >= first) for n, (p, t) in enumerate(params.items()))
    return k.Kernel(
        name, made, scalars, tuple(body), workgroup, functions, origin="conformance", role=name
    )


def blank(t: k.Type, *shape: int) -> Array:
    """The place of an output."""
    return np.zeros(shape, dtype_of(t))


def elementwise(
    name: str,
    rows: Mapping[str, k.Expr],
    data: Mapping[str, Array],
    types: Mapping[str, k.Type],
    functions: tuple[k.Function, ...] = (),
) -> Case:
    """One kernel that stores every row's value for every element: out[row·n + i].

    All rows have one type and all arrays one length; rows load with `load(name, type)`.
    """
    out = next(iter(rows.values())).type
    count = len(next(iter(data.values())))
    stores = [
        k.Store("out", op("add", ID, integer(count * n)) if n else ID, value)
        for n, value in enumerate(rows.values())
    ]
    made = kernel(name, {**types, "out": out}, [below(*stores)], functions=functions)
    arrays = {**data, "out": blank(out, count * len(rows))}
    return kernel_case(name, made, arrays, count, parts=tuple(rows))
