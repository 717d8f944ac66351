"""Kernels as nested closures: resolved once, then executed lane-parallel many times.

Defines `compiled` (cached per kernel, domain and mode) and the closures of expressions and
functions; those of statements are in `statements`. Relies on the domain for floats and on `ints`
for integers. It executes nothing.

A node is a function of the machine that returns the value of its expression in every lane. Lanes
outside the mask compute too; their values are garbage that nothing may store or report.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import numpy as np

from tang.emulator import ints
from tang.emulator.domain import Domain, Operation
from tang.emulator.extremes import extreme_of
from tang.emulator.formats import check_conversion
from tang.emulator.ints import Lanes, Node
from tang.emulator.machine import Machine, Site, Value
from tang.emulator.narrow import exact_function
from tang.errors import TangBugError
from tang.kernel.ir import (
    BOOL,
    I32,
    I64,
    Bitcast,
    Call,
    Const,
    Convert,
    Expr,
    Function,
    Kernel,
    Load,
    Op,
    Type,
    Var,
)
from tang.kernel.narrow import coding_named, conversion_named

ndarray = np.ndarray
Body = Callable[..., Any]
"""A compiled function: of the machine and its arguments."""
Cache = OrderedDict[tuple[int, str, bool], Any]

_COMPARISONS: Final = ("lt", "le", "eq")
_CACHED: Final = 512
_BODIES: Final[Cache] = OrderedDict()


class Compiler:
    """Compiles the expressions of one kernel for one domain."""

    def __init__(self, kernel: Kernel, domain: Domain, *, abstracted: bool) -> None:
        self.kernel = kernel
        self.domain = domain
        self.abstracted = abstracted
        self.slots: dict[str, int] = {}
        self.functions = {f.name: f for f in kernel.functions}
        self.builtins: Mapping[str, Node] = _BUILTIN_NODES
        self.calls = False
        self._bodies: dict[tuple[str, str], Body] = {}
        self._by_kind: dict[type, Callable[[Any, str], Node]] = {
            Const: self._const, Var: self._var, Op: self._op, Load: self._load,
            Convert: self._convert, Bitcast: self._bitcast, Call: self._call,
        }  # fmt: skip

    def site(self, path: str) -> Site:
        return Site(path)

    def expr(self, e: Expr, path: str) -> Node:
        """The node of an expression that stands in the statement at `path`."""
        return self._by_kind[type(e)](e, path)

    def slot(self, name: str) -> int:
        """The slot of a variable."""
        return self.slots.setdefault(name, len(self.slots))

    def _const(self, e: Const, path: str) -> Node:
        value: Any
        if e.type.is_float:
            exact = isinstance(e.value, Fraction | str)
            value = _literal(self.domain, e) if exact else self.domain.constant(e)
        elif e.type is BOOL:
            value = bool(e.value)
        else:
            value = ints.constant(e.type, int(e.value))
        return lambda m: value

    def _var(self, e: Var, path: str) -> Node:
        if e.name in self.builtins and e.name not in self.slots:
            return self.builtins[e.name]
        slot = self.slot(e.name)
        return lambda m: m.regs[slot]

    def _load(self, e: Load, path: str) -> Node:
        index, source, site = self.expr(e.index, path), e.source, self.site(path)
        type_ = e.type
        if type_.is_float:
            unpack = self.domain.unpack
            return lambda m: unpack(type_, m.cells[source].load(m, index(m), site))
        if type_ in (I32, I64):

            def signed(m: Machine) -> Value:
                cells = m.cells[source]
                (part,) = cells.load(m, index(m), site)
                if type(part) is ndarray:
                    return Lanes(part.astype(np.int64), *cells.integer_bounds())
                return int(part)

            return signed
        return lambda m: m.cells[source].load(m, index(m), site)[0]

    # --- operations -----------------------------------------------------------------------------

    def _op(self, e: Op, path: str) -> Node:
        whole = self._extreme(e, path) if e.op == "select" else None
        if whole is not None:
            return whole
        args = tuple(self.expr(a, path) for a in e.args)
        operand = e.args[0].type if e.op != "select" else e.type
        if e.op == "select":
            return self._select(e.type, args)
        if operand.is_float:
            return _applied(self._float_operation(e.op, operand, path), args)
        if e.op in _COMPARISONS and operand is not BOOL:
            return ints.comparison(e.op, args)
        if operand is BOOL:
            return _applied(Operation(self.domain.logic[e.op]), args)
        return ints.operation(e.op, e.type, args, self.site(path))

    def _extreme(self, e: Op, path: str) -> Node | None:
        """A maximum, minimum or absolute value, where the domain takes it as one operation."""
        found = extreme_of(e)
        operation = None if found is None else self.domain.extreme(found[0], e.type)
        if found is None or operation is None:
            return None
        return _applied(operation, tuple(self.expr(a, path) for a in found[1]))

    def _float_operation(self, op: str, operand: Type, path: str) -> Operation:
        """A row of OPS or MATH over floats, or a rounding to a narrow format."""
        conversion = conversion_named(op)
        if conversion is not None:
            return self.domain.rounded(conversion, operand)
        return self.domain.operation(op, operand, self.site(path))

    def _select(self, type_: Type, args: tuple[Node, ...]) -> Node:
        condition, yes, no = args
        merge = self.domain.merge if type_.is_float else ints.merge
        logic, decide = self.domain.logic, self.domain.decide
        if "select" in logic and (type_.is_float or type_ is BOOL):
            return _applied(Operation(logic["select" if type_.is_float else "choose"]), args)

        def select(m: Machine) -> Value:
            c = decide(m, condition(m))
            a, b = yes(m), no(m)
            if type(c) is ndarray:
                return merge(c, a, b)
            return a if c else b

        return select

    # --- conversions ----------------------------------------------------------------------------

    def _convert(self, e: Convert, path: str) -> Node:
        value, source, site = self.expr(e.value, path), e.value.type, self.site(path)
        check_conversion(e.rounding, e.overflow)
        type_, domain = e.type, self.domain
        if source is BOOL:
            value = _decided(domain, value)
        if type_.is_float:
            return _applied(Operation(domain.to_float(type_, source)), (value,))
        if source.is_float:
            return lambda m: domain.to_int(m, type_, value(m), site)
        return ints.convert(type_, source, value, site)

    def _bitcast(self, e: Bitcast, path: str) -> Node:
        value, source = self.expr(e.value, path), e.value.type
        type_, domain = e.type, self.domain
        if source.is_float:
            return lambda m: domain.to_bits(m, type_, source, value(m))
        if type_.is_float:
            return lambda m: domain.from_bits(m, type_, source, value(m))
        return ints.bitcast(type_, source, value)

    # --- calls ----------------------------------------------------------------------------------

    def _call(self, e: Call, path: str) -> Node:
        function = self.functions.get(e.function)
        if function is None:
            raise TangBugError(f"{self.kernel.name} calls {e.function!r}, which it does not define")
        self.calls = True
        args = tuple(self.expr(a, path) for a in e.args)
        if self.abstracted and function.implements:
            return self._observed(function, args, self._abstract(function, path))
        return self._observed(function, args, self._by_body(function, path))

    def _abstract(self, function: Function, path: str) -> Callable[..., Any]:
        if coding_named(function.implements) is not None:
            return coded(function)
        operation = self._float_operation(function.implements, function.params[0].type, path)
        if operation.impure:
            return operation.function
        pure = operation.function
        return lambda m, *values: pure(*values)

    def _by_body(self, function: Function, path: str) -> Callable[..., Any]:
        outer = self.domain
        inner = outer.inner if function.implements and outer.inner else outer
        body = self.body(function, inner)
        if inner is outer or outer.call is None:
            return body
        after, enter = outer.call(function, self.site(path)), outer.enter
        floats = tuple(p.type.is_float for p in function.params)

        def shadowed(m: Machine, *values: Value) -> Value:
            entered = (enter(v) if f else v for v, f in zip(values, floats, strict=True))
            return after(m, body(m, *entered), *values)

        return shadowed

    def _observed(
        self, function: Function, args: tuple[Node, ...], evaluate: Callable[..., Any]
    ) -> Node:
        enter = self.domain.enter
        floats = tuple(p.type.is_float for p in function.params)
        gives_float = function.result.type.is_float

        def call(m: Machine) -> Value:
            values = tuple(a(m) for a in args)
            result = evaluate(m, *values)
            if m.observer is not None:
                pairs = zip(values, floats, strict=True)
                seen = tuple(enter(v) if f else v for v, f in pairs)
                m.observer(function, seen, enter(result) if gives_float else result)
            return result

        return call

    def body(self, function: Function, domain: Domain) -> Body:
        """What runs a function's body on the values of its parameters."""
        key = domain.name, function.name
        found = self._bodies.get(key) or _shared_body(function, domain, self.abstracted)
        if found is None:
            compiler = Compiler(self.kernel, domain, abstracted=self.abstracted)
            compiler.functions, compiler._bodies = self.functions, self._bodies
            compiler.builtins = {}
            found = compiler.framed(function)
            if not compiler.calls:  # it depends on no other function of this kernel
                remember(_BODIES, (id(function), domain.name, self.abstracted), (found, function))
        self._bodies[key] = found
        return found

    def framed(self, function: Function) -> Body:
        """The function, compiled by this compiler of its own, in a frame of registers."""
        path = f"function {function.name}"
        params = [self.slot(p.name) for p in function.params]
        lets = [
            (self.slot(s.var.name), self.expr(s.value, f"{path}.body[{i}]"))
            for i, s in enumerate(function.body)
        ]
        result = self.expr(function.result, f"{path}.result")
        size = len(self.slots)

        def body(m: Machine, *values: Value) -> Value:
            outer = m.regs
            m.regs = regs = [None] * size
            for slot, value in zip(params, values, strict=True):
                regs[slot] = value
            for slot, node in lets:
                regs[slot] = node(m)
            found = result(m)
            m.regs = outer
            return found

        return body


def coded(function: Function) -> Callable[..., Any]:
    """A function between numbers and codes, as what it implements."""
    exact = exact_function(function.implements)
    if exact is None:
        raise TangBugError(f"{function.name} implements no coding")
    return lambda m, value: exact(value)


def _shared_body(function: Function, domain: Domain, abstracted: bool) -> Body | None:
    """The body as compiled for another kernel, if it was."""
    found = _BODIES.get((id(function), domain.name, abstracted))
    return None if found is None else found[0]


@lru_cache(4096)
def _literal(domain: Domain, constant: Const) -> Value:
    return domain.constant(constant)


def _applied(operation: Operation, args: tuple[Node, ...]) -> Node:
    f = operation.function
    if operation.impure:
        return lambda m: f(m, *(a(m) for a in args))
    if len(args) == 1:
        (only,) = args
        return lambda m: f(only(m))
    if len(args) == 2:
        first, second = args
        return lambda m: f(first(m), second(m))
    return lambda m: f(*(a(m) for a in args))


def _decided(domain: Domain, value: Node) -> Node:
    decide = domain.decide
    return lambda m: decide(m, value(m))


def _global_id(m: Machine) -> Lanes:
    return Lanes(m.threads, *m.thread_bounds())


def _local_id(m: Machine) -> Lanes:
    return Lanes(m.threads % m.workgroup, 0, m.workgroup - 1)


def _group_id(m: Machine) -> Lanes:
    first, last = m.thread_bounds()
    return Lanes(m.threads // m.workgroup, first // m.workgroup, last // m.workgroup)


_BUILTIN_NODES: Final[dict[str, Node]] = {
    "global_id": _global_id,
    "local_id": _local_id,
    "group_id": _group_id,
}


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """A kernel ready to run: its steps, and what memory it touches."""

    kernel: Kernel
    domain: Domain
    run: Callable[[Machine], None]
    slots: dict[str, int]
    loaded: frozenset[str]
    stored: frozenset[str]


def remember(cache: Cache, key: tuple[int, str, bool], value: Value) -> Value:
    """Keep a compiled form (which keeps its kernel alive, so ids stay unique); drop the oldest."""
    cache[key] = value
    while len(cache) > _CACHED:
        cache.popitem(last=False)
    return value
