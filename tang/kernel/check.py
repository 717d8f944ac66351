"""Legality of kernels and plans.

Defines the typing table of the kernel IR and the checks of names, types, stores, barriers and
launches. Relies on the kernel IR and on plans. It proves nothing about values: bounds, races and
initialisation are the business of replay.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, NoReturn

from tang.errors import TangBugError
from tang.ir.expr import NAMED
from tang.kernel import ir as k
from tang.kernel.narrow import coding_named, conversion_named
from tang.kernel.plan import Launch, Plan, Role

ROUNDINGS: Final = ("rne",)
OVERFLOWS: Final = ("inf",)
_FLOATS = frozenset(t for t in k.Type if t.is_float)
_INTS = frozenset(t for t in k.Type if t.is_int)
_BOOLS = frozenset((k.BOOL,))
_UNSIGNED = frozenset((k.U8, k.U32))
_ANY = frozenset(k.Type)

OPERANDS: Final[dict[str, frozenset[k.Type]]] = {
    **dict.fromkeys(("add", "sub", "mul", "neg"), _FLOATS | _INTS),
    **dict.fromkeys(("div", "sqrt", "fma", "floor", "isnan"), _FLOATS),
    **dict.fromkeys(("floordiv", "mod", "min", "max"), _INTS),
    **dict.fromkeys(("band", "bor", "bxor", "shl", "shr"), _UNSIGNED),
    **dict.fromkeys(("lt", "le"), _FLOATS | _INTS),
    **dict.fromkeys(("and", "or", "not"), _BOOLS),
    "eq": _ANY,
    "select": _ANY,
    **dict.fromkeys(k.MATH, _FLOATS),
}
"""The types that an operation takes; its operands agree (of select, the last two)."""

TO_BOOL: Final = ("lt", "le", "eq", "isnan", "and", "or", "not")
"""Operations whose result is BOOL whatever the operands are."""


@dataclass(slots=True)
class _Names:
    """What may be used at a point of a kernel."""

    subject: str
    values: dict[str, k.Type] = field(default_factory=dict)
    mutable: set[str] = field(default_factory=set)
    uniform: set[str] = field(default_factory=set)
    memory: dict[str, k.Type] = field(default_factory=dict)
    writable: set[str] = field(default_factory=set)
    functions: dict[str, k.Function] = field(default_factory=dict)
    divergent: bool = False

    def inner(self, divergent: bool) -> _Names:
        """The names of a nested block."""
        return _Names(
            self.subject,
            dict(self.values),
            set(self.mutable),
            set(self.uniform),
            dict(self.memory),
            set(self.writable),
            self.functions,
            self.divergent or divergent,
        )

    def fail(self, where: object, message: str) -> NoReturn:
        raise TangBugError(f"kernel {self.subject!r}: {message}, in {where}")

    def require(self, condition: bool, where: object, message: str) -> None:
        if not condition:
            self.fail(where, message)

    def introduce(self, name: str, where: object) -> None:
        taken = name in self.values or name in self.memory
        self.require(not taken, where, f"{name} is already a name")


def check_kernel(kernel: k.Kernel) -> None:
    """Raise TangBugError naming kernel and statement unless the kernel is well-formed."""
    names = _Names(kernel.name)
    names.require(kernel.workgroup >= 1, "workgroup", "a workgroup has at least one thread")
    for p in kernel.params:
        names.introduce(p.name, p)
        names.memory[p.name] = p.type
        if p.writable:
            names.writable.add(p.name)
    for s in kernel.scalars:
        names.introduce(s.name, s)
        names.require(s.type in (k.I32, k.I64), s, "a scalar is an I32 or an I64")
        names.values[s.name] = s.type
        names.uniform.add(s.name)
    for f in kernel.functions:
        _check_function(f, names)
    _check_block(kernel.body, names)


def _check_function(f: k.Function, outer: _Names) -> None:
    names = _Names(f"{outer.subject}: {f.name}", functions=dict(outer.functions))
    for p in f.params:
        names.introduce(p.name, p)
        names.values[p.name] = p.type
    _check_block(f.body, names)
    _check_expr(f.result, names, f.result)
    outer.require(f.name not in outer.functions, f.name, "two functions share the name")
    known = f.implements in ("", *k.MATH) or conversion_named(f.implements) is not None
    known = known or coding_named(f.implements) is not None
    outer.require(known, f.name, f"{f.implements} is no function of MATH and no rounding")
    outer.functions[f.name] = f


def _check_block(body: tuple[k.Stmt, ...], names: _Names) -> None:
    for s in body:
        STATEMENTS[type(s)](s, names)


def _name_value(s: k.Let | k.Declare, names: _Names) -> None:
    _check_typed(s.value, s.var.type, names, s)
    names.introduce(s.var.name, s)
    names.values[s.var.name] = s.var.type
    if isinstance(s, k.Declare):
        names.mutable.add(s.var.name)
    elif _is_uniform(s.value, names):
        names.uniform.add(s.var.name)


def _assign(s: k.Assign, names: _Names) -> None:
    names.require(s.var.name in names.mutable, s, f"{s.var.name} is not a declared register")
    _check_expr(s.var, names, s)
    _check_typed(s.value, s.var.type, names, s)


def _array(s: k.Array, names: _Names) -> None:
    names.introduce(s.name, s)
    names.require(s.size >= 1, s, "an array has at least one element")
    names.memory[s.name] = s.type
    names.writable.add(s.name)


def _store(s: k.Store, names: _Names) -> None:
    names.require(s.target in names.writable, s, f"{s.target} cannot be written")
    _check_index(s.index, names, s)
    _check_typed(s.value, names.memory[s.target], names, s)


def _for(s: k.For, names: _Names) -> None:
    names.require(s.var.type in (k.I32, k.I64), s.var, "a loop counts in I32 or I64")
    for bound in (s.lo, s.hi):
        _check_typed(bound, s.var.type, names, s.var)
    names.introduce(s.var.name, s.var)
    uniform = all(_is_uniform(e, names) for e in (s.lo, s.hi))
    inner = names.inner(divergent=not uniform)
    inner.values[s.var.name] = s.var.type
    if uniform:
        inner.uniform.add(s.var.name)
    _check_block(s.body, inner)


def _if(s: k.If, names: _Names) -> None:
    _check_typed(s.condition, k.BOOL, names, s.condition)
    divergent = not _is_uniform(s.condition, names)
    for branch in (s.then, s.otherwise):
        _check_block(branch, names.inner(divergent))


def _barrier(s: k.Barrier, names: _Names) -> None:
    names.require(not names.divergent, s, "not every thread may reach this barrier")
    names.require(s.scope is k.Scope.WORKGROUP, s, "a barrier spans a workgroup")


STATEMENTS: Final[dict[type, Callable[..., None]]] = {
    k.Let: _name_value,
    k.Declare: _name_value,
    k.Assign: _assign,
    k.Array: _array,
    k.Store: _store,
    k.For: _for,
    k.If: _if,
    k.Barrier: _barrier,
}
"""The check of each statement."""


def _check_typed(e: k.Expr, kind: k.Type, names: _Names, where: object) -> None:
    _check_expr(e, names, where)
    names.require(e.type is kind, where, f"expected {kind.value}, not {e.type.value}")


def _check_index(e: k.Expr, names: _Names, where: object) -> None:
    _check_expr(e, names, where)
    names.require(e.type in (k.I32, k.I64, k.U32), where, f"{e.type.value} is no index")


def _check_expr(e: k.Expr, names: _Names, where: object) -> None:
    EXPRESSIONS[type(e)](e, names, where)


def _const(e: k.Const, names: _Names, where: object) -> None:
    names.require(_is_literal(e), where, f"{e.value!r} is no {e.type.value}")


def _is_literal(e: k.Const) -> bool:
    if e.type.is_float:
        exact = isinstance(e.value, Fraction | int) and not isinstance(e.value, bool)
        return exact or (isinstance(e.value, str) and e.value in NAMED)
    if e.type is k.BOOL:
        return isinstance(e.value, bool)
    if not isinstance(e.value, int) or isinstance(e.value, bool):
        return False
    signed = e.type in (k.I32, k.I64)
    bits = 8 * e.type.bytes
    low, high = (-1 << (bits - 1), 1 << (bits - 1)) if signed else (0, 1 << bits)
    return low <= e.value < high


def _var(e: k.Var, names: _Names, where: object) -> None:
    if e.name in k.BUILTINS:
        names.require(e.type in (k.I32, k.I64), where, f"{e.name} is an I32 or an I64")
        return
    names.require(e.name in names.values, where, f"{e.name} is not declared")
    kind = names.values[e.name]
    names.require(kind is e.type, where, f"{e.name} is {kind.value}, used as {e.type.value}")


def _op(e: k.Op, names: _Names, where: object) -> None:
    if conversion_named(e.op) is not None:
        _rounding(e, names, where)
        return
    arity = k.OPS.get(e.op, k.MATH.get(e.op))
    names.require(arity is not None, where, f"unknown operation {e.op}")
    names.require(len(e.args) == arity, where, f"{e.op} takes {arity} operands")
    for a in e.args:
        _check_expr(a, names, where)
    same = e.args[1:] if e.op == "select" else e.args
    kind = same[0].type
    names.require(all(a.type is kind for a in same), where, f"operands of {e.op} differ in type")
    names.require(kind in OPERANDS[e.op], where, f"{e.op} does not take {kind.value}")
    if e.op == "select":
        names.require(e.args[0].type is k.BOOL, where, "select takes a bool first")
    result = k.BOOL if e.op in TO_BOOL else kind
    names.require(e.type is result, where, f"{e.op} gives {result.value}, not {e.type.value}")
    if e.op in ("floordiv", "mod"):
        divisor = e.args[1].value if isinstance(e.args[1], k.Const) else 1
        names.require(isinstance(divisor, int) and divisor > 0, where, "a divisor is positive")


def _rounding(e: k.Op, names: _Names, where: object) -> None:
    """A rounding takes an f32 or an f64 and gives an f32."""
    for a in e.args:
        _check_expr(a, names, where)
    taken = len(e.args) == 1 and e.args[0].type in (k.F32, k.F64)
    names.require(taken and e.type is k.F32, where, f"{e.op} takes one f32 or f64, and gives f32")


def _load(e: k.Load, names: _Names, where: object) -> None:
    names.require(e.source in names.memory, where, f"{e.source} is no buffer or array")
    kind = names.memory[e.source]
    names.require(kind is e.type, where, f"{e.source} holds {kind.value}, not {e.type.value}")
    _check_index(e.index, names, where)


def _convert(e: k.Convert, names: _Names, where: object) -> None:
    _check_expr(e.value, names, where)
    names.require(k.BOOL not in (e.type, e.value.type), where, "bools are not converted: select")
    names.require(e.rounding in ROUNDINGS, where, f"unknown rounding {e.rounding}")
    names.require(e.overflow in OVERFLOWS, where, f"unknown overflow mode {e.overflow}")


def _bitcast(e: k.Bitcast, names: _Names, where: object) -> None:
    _check_expr(e.value, names, where)
    same = e.type.bytes == e.value.type.bytes and k.BOOL not in (e.type, e.value.type)
    names.require(same, where, f"no bit cast from {e.value.type.value} to {e.type.value}")


def _call(e: k.Call, names: _Names, where: object) -> None:
    names.require(e.function in names.functions, where, f"unknown function {e.function}")
    f = names.functions[e.function]
    for a in e.args:
        _check_expr(a, names, where)
    came, want = [a.type for a in e.args], [p.type for p in f.params]
    names.require(came == want, where, f"{f.name} takes other operands")
    names.require(e.type is f.result.type, where, f"{f.name} gives {f.result.type.value}")


EXPRESSIONS: Final[dict[type, Callable[..., None]]] = {
    k.Const: _const,
    k.Var: _var,
    k.Op: _op,
    k.Load: _load,
    k.Convert: _convert,
    k.Bitcast: _bitcast,
    k.Call: _call,
}
"""The check of each expression."""


def _is_uniform(e: k.Expr, names: _Names) -> bool:
    """Whether every thread of a workgroup surely has the same value."""
    match e:
        case k.Const():
            return True
        case k.Var():
            return e.name in names.uniform or e.name == "group_id"
        case k.Op() | k.Call():
            return all(_is_uniform(a, names) for a in e.args)
        case k.Convert() | k.Bitcast():
            return _is_uniform(e.value, names)
        case k.Load():
            return False


def check_plan(plan: Plan) -> None:
    """Raise TangBugError unless kernels are legal and launches fit buffers, in a legal order."""
    held = {b.name: b for b in plan.buffers}
    _expect(len(held) == len(plan.buffers), "plan: two buffers share a name")
    kernels = [launch.kernel.name for launch in plan.launches]
    _expect(len(set(kernels)) == len(kernels), "plan: two kernels share a name")
    written = {b.name for b in plan.buffers if b.role is Role.INPUT}
    written |= {b.name for b in plan.buffers if any(n.terms == () for n in b.shape)}
    for launch in plan.launches:
        check_kernel(launch.kernel)
        _check_launch(launch, plan, written)
    for r in plan.results:
        _expect(r.buffer in written, f"plan: result {r.name!r} is in {r.buffer!r}, never written")


def _check_launch(launch: Launch, plan: Plan, written: set[str]) -> None:
    kernel, known = launch.kernel, {b.name: b for b in plan.buffers}
    where = f"launch of {kernel.name!r}"
    _expect(len(launch.buffers) == len(kernel.params), f"{where}: buffers and params differ")
    _expect(len(launch.scalars) == len(kernel.scalars), f"{where}: wrong number of scalars")
    _expect(len(set(launch.buffers)) == len(launch.buffers), f"{where}: a buffer is passed twice")
    outputs = set()
    for name, p in zip(launch.buffers, kernel.params, strict=True):
        _expect(name in known, f"{where}: unknown buffer {name!r}")
        buffer = known[name]
        _expect(buffer.type is p.type, f"{where}: {name!r} is not {p.type.value}")
        if p.writable:
            _expect(buffer.role is not Role.INPUT, f"{where}: writes the input {name!r}")
            outputs.add(name)
        else:
            _expect(name in written, f"{where}: reads {name!r} before it is written")
    written |= outputs


def _expect(condition: bool, message: str) -> None:
    if not condition:
        raise TangBugError(message)
