"""Whether a plan rounds as its schedule says, where machines do not do so by themselves.

Defines `rounding_findings`, a part of the rung `round`, its part `plan_findings` that needs no
replay, `are_held` and `format_of`. Relies on the abstract plan, in which roundings to narrow
formats are operations, and on replay's numbers. It judges no rounding itself: that is the rung
`expand`; which of two formats of a node with runs an operation belongs to is what `promoted`
judges. Kernels that also compute nodes in formats of machines are not judged operation by
operation, since there both kinds of results are right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.device.storage import unpack
from tang.emulator.narrow import narrowed
from tang.emulator.replay import Replay
from tang.ir.expr import REAL
from tang.ir.format import Format, format_named
from tang.kernel import ir as k
from tang.kernel.narrow import Conversion, conversion_named, holds
from tang.kernel.plan import Buffer, Launch
from tang.kernel.schedule import NodeSchedule, Precision
from tang.kernel.text import expr_text
from tang.kernel.walk import expressions, operands, postorder, statements, subexpressions
from tang.verify.compare import Mask, bit_equal, describe
from tang.verify.report import Finding
from tang.verify.subject import Subject, written
from tang.verify.verdict import Rung, Verdict

Array = npt.NDArray[Any]
Users = dict[int, list[k.Expr | None]]

ROUNDED: Final = frozenset(("add", "sub", "mul", "div", "sqrt", "fma", *k.MATH))
"""Operations whose results a narrow format may not hold."""

_TESTS: Final = ("lt", "le", "eq", "isnan")


def rounding_findings(subject: Subject, replayed: Replay) -> list[Finding]:
    """What the plan says wrongly; where it says nothing wrong, the first buffer of each launch
    with numbers of another format than the schedule says."""
    found = plan_findings(subject)
    return found or [f for x in subject.plan.launches for f in _numbers(subject, x, replayed)]


def plan_findings(subject: Subject) -> list[Finding]:
    """The first operation of each kernel in another type than its node's, the first buffer of
    another format, and where there are none the first result that is not rounded."""
    launches = subject.plan.launches
    found = [f for x in launches for f in _types(subject, x) or _formats(subject, x)]
    if found or not any(
        p.conversion for s in _schedules(subject) for p in (s.stored, *_precisions(s))
    ):
        return found
    return [f for x in launches for f in _operations(subject, x) or _stores(subject, x)]


def _types(subject: Subject, launch: Launch) -> list[Finding]:
    """Operations that round are those of the register types of nodes that the kernel computes."""
    wanted = {p.type for s in _nodes(subject, launch.kernel.origin) for p in _precisions(s)}
    for e in subexpressions(launch.kernel.body):
        if isinstance(e, k.Op) and e.op in ROUNDED and e.type.is_float and e.type not in wanted:
            known = ", ".join(sorted(t.value for t in wanted))
            text = f"the kernel computes in {e.type.value}, its node in {known}"
            return [_finding(launch, text, expr_text(e))]
    return []


def _formats(subject: Subject, launch: Launch) -> list[Finding]:
    """Results have the format that the schedule stores them in, partial states that of the fold."""
    chosen = subject.schedule.by_name(subject.task.graph)
    for name in written(launch):
        b = subject.plan.buffer(name)
        s = chosen[launch.kernel.origin if b.ref is None else b.ref.node]
        wanted = s.computed if b.ref is None else s.stored
        if b.sort is REAL and (b.type, b.conversion) != (wanted.type, wanted.conversion):
            right = wanted.type.value if wanted.conversion is None else wanted.conversion.op
            return [_finding(launch, f"{name} is stored as {b.format}, not as {right}", "")]
    return []


def format_of(buffer: Buffer) -> Format:
    """The format of a buffer's numbers."""
    if buffer.conversion is not None:
        return buffer.conversion.format
    return format_named(buffer.type.value)


def _schedules(subject: Subject) -> Iterator[NodeSchedule]:
    yield from (s for _, s in subject.schedule.nodes)
    yield subject.schedule.default


def _numbers(subject: Subject, launch: Launch, replayed: Replay) -> list[Finding]:
    for name in written(launch):
        buffer = subject.plan.buffer(name)
        if buffer.conversion is None:
            continue
        values = unpack(replayed.planes[name]["value"], buffer.type).astype(np.float32)
        held = are_held(buffer.conversion, values)
        if not held.all():
            format_ = buffer.conversion.format.name
            kept = _as_held(buffer.conversion, values)
            detail = describe(values, kept, held, ("stored", format_))
            return [_finding(launch, f"{name} holds numbers that are none of {format_}", detail)]
    return []


def are_held(conversion: Conversion, values: Array) -> Mask:
    """Which f32 values are numbers of the format; every NaN is one where it has NaN."""
    return bit_equal(values, _as_held(conversion, values))


def _as_held(conversion: Conversion, values: Array) -> Array:
    """Numbers of the format as they are, others rounded to it.

    An infinity that the format has stays, as that of a literal does, which has not overflown.
    """
    rounded = np.asarray(narrowed(conversion, values)).reshape(values.shape)
    return np.where(np.isinf(values) & conversion.format.has_infinity, values, rounded)


def _finding(launch: Launch, message: str, detail: str) -> Finding:
    kernel = launch.kernel
    return Finding(
        Rung.ROUND,
        Verdict.WRONG,
        message,
        kernel.name,
        kernel.origin,
        detail=detail,
        origin="conversion",
    )


def _operations(subject: Subject, launch: Launch) -> list[Finding]:
    """Every operation over f32 must be an operand of a rounding that its node asks for."""
    wanted = _conversions(subject, launch.kernel.origin)
    if None in wanted:
        return []
    names = {c.op for c in wanted if c is not None}
    starts = {c.saturating.op for c in wanted if c is not None and not c.format.has_infinity}
    formats = {c.format for c in wanted if c is not None}
    params = {p.name: subject.plan.buffer(b) for p, b in _pairs(launch)}
    users, exprs = _users(launch.kernel)
    for e in exprs:
        if _needs_rounding(e, params, wanted):
            for user in users.get(id(e), ()):
                if not _is_rounded(e, user, names | starts if _is_infinite(e) else names):
                    known = ", ".join(sorted(f.name for f in formats))
                    shown = "a statement" if user is None else expr_text(user)
                    text = f"a result is not rounded to {known}"
                    return [_finding(launch, text, f"{expr_text(e)}, used by {shown}")]
    return []


def _stores(subject: Subject, launch: Launch) -> list[Finding]:
    """What is stored in a narrow format was rounded as its conversion says, or as its node does.

    Or as an inlined node stores, whose results are numbers of the format already.
    """
    own = {c.op for c in _conversions(subject, launch.kernel.origin) if c is not None}
    params = {p.name: subject.plan.buffer(b) for p, b in _pairs(launch)}
    named = {s.var.name: s.value for s in statements(launch.kernel.body) if isinstance(s, k.Let)}
    for s in statements(launch.kernel.body):
        buffer = params.get(s.target) if isinstance(s, k.Store) else None
        if not isinstance(s, k.Store) or buffer is None or buffer.conversion is None:
            continue
        roundings, types = _inlined(subject, launch, buffer.conversion.format)
        stored = s.value.value if isinstance(s.value, k.Convert) else s.value
        value = _behind(stored, named, types)
        done = conversion_named(value.op) if isinstance(value, k.Op) else None
        if done is not None and done.op not in {*roundings, buffer.conversion.op, *own}:
            text = f"what is stored in {buffer.name} is not rounded by {buffer.conversion.op}"
            return [_finding(launch, text, expr_text(value))]
    return []


def _inlined(subject: Subject, launch: Launch, target: Format) -> tuple[set[str], set[k.Type]]:
    """How nodes that the kernel may compute store in a format: by these roundings, as these types.

    Conversions to a type round to nearest without a rounding of their own.
    """
    stored = [s.stored for s in _nodes(subject, launch.kernel.origin)]
    roundings = {p.conversion.op for p in stored if p.conversion and p.conversion.format == target}
    plain = {p.type for p in stored if p.conversion is None}
    return roundings, {t for t in plain if format_named(t.value) == target}


def _behind(e: k.Expr, named: Mapping[str, k.Expr], types: set[k.Type]) -> k.Expr:
    """The expression that a value is, behind names and conversions but for those to some types."""
    while True:
        if isinstance(e, k.Convert) and e.type not in types:
            e = e.value
        elif isinstance(e, k.Var) and e.name in named:
            e = named[e.name]
        else:
            return e


def _pairs(launch: Launch) -> Iterator[tuple[k.Param, str]]:
    return zip(launch.kernel.params, launch.buffers, strict=True)


def _conversions(subject: Subject, origin: str) -> set[Conversion | None]:
    """How the results of nodes that a kernel may compute are rounded."""
    return {p.conversion for s in _nodes(subject, origin) for p in _precisions(s)}


def _nodes(subject: Subject, origin: str) -> list[NodeSchedule]:
    """The nodes that a kernel may compute: its own, and those without a kernel."""
    chosen = subject.schedule.by_name(subject.task.graph)
    return [s for name, s in chosen.items() if name == origin or s.place != "materialise"]


def _precisions(s: NodeSchedule) -> Iterator[Precision]:
    """What the operations of a node are rounded to: within runs and outside of them."""
    yield s.computed
    if s.promotion is not None:
        yield s.promotion.precision


def _needs_rounding(
    e: k.Expr, params: Mapping[str, Buffer], wanted: set[Conversion | None]
) -> bool:
    """Whether an f32 value may be one that no format of the kernel's nodes holds."""
    if e.type is not k.F32:
        return False
    formats = [c.format for c in wanted if c is not None]
    match e:
        case k.Op():
            return e.op in ROUNDED
        case k.Convert():
            return e.value.type.is_int
        case k.Const():
            value = e.value if isinstance(e.value, str) else Fraction(e.value)
            return not any(holds(f, value) for f in formats)
        case k.Load():
            buffer = params.get(e.source)
            return buffer is not None and format_of(buffer) not in formats
        case _:
            return False


def _is_infinite(e: k.Expr) -> bool:
    """Whether a value is an infinity as a literal: folds start from the number next to it."""
    return isinstance(e, k.Const) and e.value in ("inf", "-inf")


def _is_rounded(e: k.Expr, user: k.Expr | None, names: set[str]) -> bool:
    """Whether a use of a value is a rounding; constants may be compared with as they are."""
    if not isinstance(user, k.Op):
        return False
    if isinstance(e, k.Const) and user.op in _TESTS:
        return True
    return user.op in names or (isinstance(e, k.Load) and conversion_named(user.op) is not None)


def _users(kernel: k.Kernel) -> tuple[Users, Sequence[k.Expr]]:
    """By identity of an expression those that take it, None for statements.

    A value that a let names is used where its name is.
    """
    users: Users = {}
    exprs: list[k.Expr] = []
    named: dict[str, k.Expr] = {}
    uses: dict[str, list[k.Expr | None]] = {}
    for s in statements(kernel.body):
        if isinstance(s, k.Let):
            named[s.var.name] = s.value
        for root in expressions(s):
            for e in postorder(root):
                exprs.append(e)
                for a in operands(e):
                    users.setdefault(id(a), []).append(e)
                    if isinstance(a, k.Var):
                        uses.setdefault(a.name, []).append(e)
            if not isinstance(s, k.Let):
                users.setdefault(id(root), []).append(None)
                if isinstance(root, k.Var):
                    uses.setdefault(root.name, []).append(None)
    for name, value in named.items():
        users.setdefault(id(value), []).extend(uses.get(name, ()))
    return users, exprs
