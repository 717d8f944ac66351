"""Probes: what a device's operations and whole expressions give on special values.

Defines `probed`, which measures a device's profile once and keeps it on disk, and `NativeRows`,
which asks a device for the results of single operations. Relies on emitted kernels run as any
other and on NumPy's IEEE arithmetic for what each hypothesis predicts. It guesses nothing: a
device that fits no hypothesis is refused.

The hypotheses for a row are that subnormal operands are kept or read as zero and that subnormal
results are kept or flushed; a quotient or root may also round in the device's own way. Then every
whole expression must be the composition of its rows, or the device contracts or rewrites it.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any, Final

import numpy as np

from tang.device.base import Compiled, Device, Ran
from tang.device.compiler import default_cache
from tang.device.hypotheses import (
    HYPOTHESES,
    STEPS,
    Hypothesis,
    Step,
    Value,
    as_numbers,
    converted,
    exact_fma,
    flattened,
    is_near,
    numbers_of,
    same_bits,
    widened,
)
from tang.device.probe_kernels import Arrays, Probe, job_of, load, probe_of
from tang.device.storage import AnyArray, dtype_of
from tang.device.texts import made_folder
from tang.emit.unit import emit, supports
from tang.errors import DeviceError
from tang.kernel import ir as k
from tang.kernel.profile import SUBJECT, Profile, profile_from_data, row

VERSION: Final = 2
"""Of the hypotheses: a profile of another version is measured anew."""

_TESTS: Final = ("lt", "le", "eq")
_MAY_BE_NATIVE: Final = ("div", "sqrt")


def probed(device: Device, cache: Path | None = None) -> Profile:
    """The profile of a device, measured unless it is on disk.

    The file is named by the device, its driver or compiler, and the texts of the probes. Raises
    DeviceError naming row and values where no hypothesis fits.
    """
    tests = _tests(device.language)
    folder = made_folder(cache or default_cache())
    path = folder / f"profile-{_key(device, tests)}.json"
    try:
        return profile_from_data(json.loads(path.read_text()))
    except (OSError, ValueError, TypeError):
        found = _measured(device, tests)
    with tempfile.NamedTemporaryFile("w", dir=folder, delete=False) as f:
        f.write(json.dumps(found.to_data(), indent=1) + "\n")
    Path(f.name).replace(path)
    return found


def _key(device: Device, tests: Sequence[Probe]) -> str:
    own = getattr(device, "identity", None) or getattr(device, "description", "")
    parts = [str(VERSION), device.name, device.language, repr(own)]
    texts = [emit(t.kernel, device.language) for t in tests]
    return hashlib.blake2b("\0".join([*parts, *texts]).encode(), digest_size=16).hexdigest()


# --- what is run ----------------------------------------------------------------------------------


def _tests(language: str) -> list[Probe]:
    """Every probe that the language can say: rows, then conversions, then whole expressions."""
    found = []
    for t in (k.F32, k.F64):
        operands = tuple(load(n, t) for n in "abc")
        for op in SUBJECT:
            type_ = k.BOOL if op in _TESTS else t
            value = k.Op(type_, op, operands[: k.OPS[op]])
            found.append(probe_of(row(op, t), value, t, True))
    floats = [t for t in k.Type if t.is_float]
    pairs = [(s, t) for s in floats for t in floats if s is not t]
    found += [
        probe_of(f"{s.value} convert {t.value}", k.Convert(t, load("a", s)), s, True)
        for s, t in pairs
    ]
    for t in (k.F32, k.F64):
        found += [probe_of(f"{t.value} {n}", e, t, False) for n, e in _expressions(t).items()]
    return [t for t in found if supports(t.kernel, language) is None]


def _expressions(t: k.Type) -> dict[str, k.Expr]:
    """Expressions that vendors were seen to contract or to rewrite as over the reals."""
    a, b, c = (load(n, t) for n in "abc")

    def op(name: str, *args: k.Expr) -> k.Expr:
        return k.Op(t, name, args)

    def real(value: Fraction | int) -> k.Const:
        return k.Const(t, Fraction(value))

    root = op("sqrt", a)
    return {
        "a*b+c": op("add", op("mul", a, b), c),
        "a*b-c": op("sub", op("mul", a, b), c),
        "a*b+a*c": op("add", op("mul", a, b), op("mul", a, c)),
        "(a+b)-b": op("sub", op("add", a, b), b),
        "(a-b)+b": op("add", op("sub", a, b), b),
        "sqrt(a)*sqrt(a)": op("mul", root, root),
        "1/(1/a)": op("div", real(1), op("div", real(1), a)),
        "(a/b)*b": op("mul", op("div", a, b), b),
        "(a+.1)+.7": op("add", op("add", a, real(Fraction(1, 10))), real(Fraction(7, 10))),
        "a*0": op("mul", a, real(0)),
        "0-a": op("sub", real(0), a),
        "a+0": op("add", a, real(0)),
        "a-0": op("sub", a, real(0)),
        "a*1": op("mul", a, real(1)),
        "a*-1": op("mul", a, real(-1)),
        "a/1": op("div", a, real(1)),
        "a-a": op("sub", a, a),
        "a/3": op("div", a, real(3)),
        "a<b?a:b": op("select", k.Op(k.BOOL, "lt", (a, b)), a, b),
    }


_TELLING: Final = (
    0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -3.0, np.inf, -np.inf, np.nan, 1 / 3, 65504.0, 1e-5, 7.25,
)  # fmt: skip


def _operands(t: k.Type) -> dict[str, AnyArray]:
    """Pairs of telling values (normal, subnormal, special), and random ones of many sizes."""
    wide = k.F64 if t is k.F64 else k.F32
    kind = dtype_of(wide).type
    info = np.finfo(kind)
    tiny, least = float(info.tiny), float(info.smallest_subnormal)
    edges = (tiny, -tiny, tiny * 1.5, tiny / 2, -tiny / 4, least, -least, 3 * least, tiny - least,
             float(info.max), tiny * 2**30)  # fmt: skip
    values = np.array([*_TELLING, *edges])
    pairs = np.array(list(product(values, values)))
    rng = np.random.default_rng(17)
    size = 600
    near = np.ldexp(rng.uniform(-2, 2, (3, size)), rng.integers(-12, 12, (3, size)))
    low = np.ldexp(rng.uniform(-2, 2, (3, size)), rng.integers(-30, 8, (3, size))) * tiny
    half, double = (rng.uniform(x, 2 * x, size).astype(kind) for x in (0.5, 1))
    border = np.stack([half, kind(tiny) / half, double])  # products around the smallest number
    quotients = np.stack([double * kind(tiny), np.nextafter(double, kind(2)), half])
    third = rng.permutation(pairs[:, 0])
    narrow = np.ldexp(rng.uniform(-2, 2, (3, size)), rng.integers(-28, -10, (3, size)))
    single = np.ldexp(rng.uniform(-2, 2, (3, size)), rng.integers(-150, -124, (3, size)))
    single[:, :4] = 2.0**-126 * (1 - np.array([2.0**-26, 2.0**-25, 2.0**-24, 0.75]))
    blocks = (near, low, narrow, single, border, quotients)
    columns = (pairs[:, 0], pairs[:, 1], third)
    with np.errstate(all="ignore"):
        made = [np.concatenate(p).astype(kind) for p in zip(columns, *blocks, strict=True)]
    return {n: _stored(a, t) for n, a in zip("abc", made, strict=True)}


def _stored(values: AnyArray, t: k.Type) -> AnyArray:
    """Reals in the memory format of a type; narrow ones by their upper bits or one rounding."""
    if t is k.BF16:
        return (values.view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    with np.errstate(all="ignore"):
        return values.astype(dtype_of(t))


def _run(device: Device, tests: Sequence[Probe]) -> dict[str, AnyArray]:
    """What the device gives for every test; raises DeviceError unless all of them ran."""
    compiled = device.compile([t.kernel for t in tests])
    jobs = [
        job_of(c, _operands(t.source), t.value.type) for t, c in zip(tests, compiled, strict=True)
    ]
    found = {}
    for t, outcome in zip(tests, device.run(jobs, 60.0), strict=True):
        if not isinstance(outcome, Ran):
            raise DeviceError(f"no profile of {device.name}: the probe {t.name} ended as {outcome}")
        found[t.name] = outcome.memories[-1].data
    return found


# --- what is found --------------------------------------------------------------------------------


class _Rows:
    """What was found about rows so far."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.native = NativeRows(device)
        self.found: dict[str, Step] = {}
        self.reads: set[str] = set()
        self.flushes: set[str] = set()
        self.early: set[str] = set()
        self.own: set[str] = set()
        self.fused = False

    def judge(self, t: Probe, got: AnyArray) -> None:
        """Settle the row of a test, or refuse the device."""
        data, op = _operands(t.source), t.name.split()[1]
        used = [data[n] for n in "abc"[: k.OPS.get(op, 1)]]
        step, mask = self._step(t, op, used, got)
        for h in HYPOTHESES:
            if h.flushes and op in _TESTS:
                continue
            with np.errstate(all="ignore"):
                expected = as_numbers(
                    np.asarray(h.of(step, op)(*map(numbers_of(t.source), used))), t.value.type
                )
            if (same_bits(as_numbers(got, t.value.type), expected) | ~mask).all():
                self._note(t.name, h)
                self.found[t.name] = h.of(step, op)
                return
        if op in _MAY_BE_NATIVE and is_near(got, STEPS[op], used):
            self.own.add(t.name)
            self.found[t.name] = lambda *x: self.native(op, t.source, flattened(x))
            return
        raise DeviceError(self._refusal(t.name, used, got, step))

    def _note(self, name: str, h: Hypothesis) -> None:
        if h.reads:
            self.reads.add(name)
        if h.flushes:
            self.flushes.add(name)
        if h.early:
            self.early.add(name)

    def _step(
        self, t: Probe, op: str, used: Sequence[AnyArray], got: AnyArray
    ) -> tuple[Step, AnyArray]:
        """What IEEE says of a row, and which elements that can be told of."""
        everywhere = np.ones(got.shape, np.bool_)
        if op == "convert":
            return converted(t.value.type), everywhere
        if op != "fma":
            return STEPS[op], everywhere
        with np.errstate(all="ignore"):
            exact = exact_fma(*used)
        return (lambda a, b, c: np.add(widened(a) * widened(b), widened(c)).astype(a.dtype)), exact

    def _refusal(self, name: str, used: Sequence[AnyArray], got: AnyArray, step: Step) -> str:
        with np.errstate(all="ignore"):
            ieee = np.asarray(step(*used))
        wrong = np.flatnonzero(~same_bits(got, ieee)) if got.dtype == ieee.dtype else np.array([0])
        first = int(wrong[0]) if wrong.size else 0
        at = ", ".join(repr(x[first]) for x in used)
        return (
            f"the profile of {self.device.name} fits no hypothesis: {name} of {at} gives "
            f"{got[first]!r}, IEEE {ieee[first]!r}; {wrong.size} of {got.size} differ. Replay "
            "cannot follow this device"
        )


# --- the whole ------------------------------------------------------------------------------------


def _measured(device: Device, tests: Sequence[Probe]) -> Profile:
    got = _run(device, tests)
    rows = _Rows(device)
    for t in tests:
        if t.single:
            rows.judge(t, got[t.name])
    for t in tests:
        if not t.single:
            _judge_expression(rows, t, got[t.name])
    return Profile(
        reads_zero=tuple(sorted(rows.reads)),
        flushes=tuple(sorted(rows.flushes)),
        early=tuple(sorted(rows.early)),
        native=tuple(sorted(rows.own)),
        unsteady=tuple(sorted(n for n in rows.own if _is_unsteady(rows, n))),
        fused=_fused(device),
        subgroup=getattr(device, "subgroup", 0),
    )


def _judge_expression(rows: _Rows, t: Probe, got: AnyArray) -> None:
    """Raise DeviceError unless an expression is the composition of its rows."""
    data = _operands(t.source)
    with np.errstate(all="ignore"):
        expected = np.asarray(_composed(t.value, data, rows.found, t.source))
    expected = np.broadcast_to(expected, got.shape)
    same = same_bits(got, expected)
    if same.all():
        return
    first = int(np.flatnonzero(~same)[0])
    at = ", ".join(f"{n} = {data[n][first]!r}" for n in "abc")
    raise DeviceError(
        f"the profile of {rows.device.name} fits no hypothesis: it contracts or rewrites {t.name}; "
        f"for {at} it gives {got[first]!r} and its operations one by one {expected[first]!r} "
        f"({int((~same).sum())} of {same.size} differ). Replay cannot follow this device"
    )


def _composed(e: k.Expr, data: Arrays, found: Mapping[str, Step], t: k.Type) -> Value:
    if isinstance(e, k.Load):
        return data[e.source]
    if isinstance(e, k.Const):
        number = e.value if isinstance(e.value, Fraction) else Fraction(0)
        count = next(iter(data.values())).size
        return np.full(count, float(number), dtype_of(t))
    if isinstance(e, k.Op) and e.op == "select":
        return np.where(*(_composed(a, data, found, t) for a in e.args))
    if isinstance(e, k.Op):
        return found[row(e.op, t)](*(_composed(a, data, found, t) for a in e.args))
    raise DeviceError(f"no probe has {type(e).__name__}")


def _is_unsteady(rows: _Rows, name: str) -> bool:
    """Whether a native row gives other results in a loop whose end is known only at run time."""
    format_, op = name.split()
    t = k.Type(format_)
    value = k.Op(t, op, tuple(load(n, t) for n in "abc"[: k.OPS[op]]))
    turn, count, total = k.Var(k.I32, "turn"), k.Var(k.I32, "n"), k.Var(t, "total")
    index, zero, one = k.Var(k.I32, "global_id"), k.Const(k.I32, 0), k.Const(k.I32, 1)
    add = k.Assign(total, k.Op(t, "add", (total, value)))
    body: tuple[k.Stmt, ...] = (
        k.Declare(total, k.Const(t, Fraction(0))),
        k.For(turn, zero, k.Op(k.I32, "min", (count, one)), (add,)),
        k.Store("out", index, total),
    )
    inside = k.If(k.Op(k.BOOL, "lt", (index, count)), body)
    params = (*(k.Param(n, t, False) for n in "abc"), k.Param("out", t, True))
    looped = Probe(k.Kernel("probe", params, (count,), (inside,)), value, t, name, False)
    data = _operands(t)
    got = _run(rows.device, [looped])[name]
    with np.errstate(all="ignore"):
        zeros = np.zeros(got.shape, got.dtype)
        straight = _composed(value, data, rows.found, t)
        expected = np.asarray(rows.found[row("add", t)](zeros, straight))
    return not same_bits(got, expected).all()


def _fused(device: Device) -> bool:
    """Whether fma rounds once: (1 + 2⁻¹²)² − (1 + 2⁻¹¹) is 2⁻²⁴ then, and 0 after two roundings."""
    made = probe_of("fma", k.Op(k.F32, "fma", tuple(load(n, k.F32) for n in "abc")), k.F32, True)
    if supports(made.kernel, device.language) is not None:
        return False
    a, c = np.full(64, 1 + 2.0**-12, np.float32), np.full(64, -(1 + 2.0**-11), np.float32)
    (compiled,) = device.compile([made.kernel])
    (outcome,) = device.run([job_of(compiled, {"a": a, "b": a, "c": c}, k.F32)], 60.0)
    return isinstance(outcome, Ran) and bool((outcome.memories[-1].data == 2.0**-24).all())


COUNTED: Final = 3 * 2**33 + 3
"""What `counting_kernel` stores in each of 64 elements."""


def counting_kernel() -> k.Kernel:
    """The sum of the three integers from 2³³ on, by a loop over 64-bit integers."""
    turn, total, first = k.Var(k.I64, "i"), k.Var(k.I64, "total"), k.Const(k.I64, 2**33)
    last = k.Op(k.I64, "add", (first, k.Const(k.I64, 3)))
    body = (
        k.Declare(total, k.Const(k.I64, 0)),
        k.For(turn, first, last, (k.Assign(total, k.Op(k.I64, "add", (total, turn))),)),
        k.Store("out", k.Var(k.I32, "global_id"), total),
    )
    return k.Kernel("count", (k.Param("out", k.I64, True),), (k.Var(k.I32, "n"),), body)


class NativeRows:
    """Asks a device for rows that it rounds in its own way: native(op, type, operands)."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._compiled: dict[tuple[str, k.Type], Compiled] = {}

    def __call__(self, op: str, type_: k.Type, operands: tuple[Any, ...]) -> AnyArray:
        """The device's results for flat arrays of one size; raises DeviceError unless it ran."""
        count = operands[0].size
        if not count:
            return np.empty(0, dtype_of(type_))
        given = dict(zip("abc", (*operands, *operands[:1] * (3 - len(operands))), strict=True))
        (outcome,) = self._device.run([job_of(self._of(op, type_), given, type_)], 60.0)
        if not isinstance(outcome, Ran):
            raise DeviceError(f"{self._device.name} did not give {type_.value} {op}: {outcome}")
        return outcome.memories[-1].data

    def _of(self, op: str, type_: k.Type) -> Compiled:
        key = op, type_
        if key not in self._compiled:
            value = k.Op(type_, op, tuple(load(n, type_) for n in "abc"[: k.OPS[op]]))
            (made,) = self._device.compile([probe_of(row(op, type_), value, type_, True).kernel])
            self._compiled[key] = made
        return self._compiled[key]


__all__ = ["COUNTED", "NativeRows", "counting_kernel", "probed"]
