"""Statements as closures: masks, lockstep loops, stores, arrays and barriers.

Defines `compiled`, which turns a kernel into steps over a machine and caches them. Relies on
`compile` for expressions. It does not allocate buffers or bind sizes: that is `replay`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tang.emulator import ints
from tang.emulator.compile import Cache, Compiled, Compiler, remember
from tang.emulator.domain import Domain
from tang.emulator.ints import STORED, Lanes, Node, tight, to_array
from tang.emulator.machine import Array, Machine, Value
from tang.emulator.memory import Cells
from tang.emulator.records import Kind
from tang.kernel.ir import (
    BOOL,
    Assign,
    Barrier,
    Declare,
    For,
    If,
    Kernel,
    Let,
    Load,
    Scope,
    Stmt,
    Store,
    Type,
)
from tang.kernel.ir import Array as ArrayStmt

ndarray = np.ndarray
Step = Callable[[Machine], None]
_CACHE: Final[Cache] = OrderedDict()


def compiled(kernel: Kernel, domain: Domain, *, abstracted: bool) -> Compiled:
    """The kernel for that domain; the same objects for the same kernel object."""
    key = (id(kernel), domain.name, abstracted)
    found = _CACHE.get(key)
    if found is not None and found.domain is domain:
        return found  # type: ignore[no-any-return]
    compiler = _Statements(Compiler(kernel, domain, abstracted=abstracted))
    run = compiler.block(kernel.body, "body")
    form = Compiled(
        kernel,
        domain,
        run,
        compiler.inner.slots,
        frozenset(compiler.loaded),
        frozenset(compiler.stored),
    )
    return remember(_CACHE, key, form)  # type: ignore[no-any-return]


def allocate(domain: Domain, type_: Type, count: int) -> tuple[Array, ...]:
    """Planes for `count` elements (at least one), NaN or 0 until they are written."""
    size = max(count, 1)
    if not type_.is_float:
        return (np.zeros(size, STORED[type_]),)
    return tuple(_blank(dtype, size) for dtype in domain.dtypes(type_))


def _blank(dtype: Value, size: int) -> Array:
    if np.dtype(dtype) == np.uint16:  # the bits of bf16
        return np.full(size, 0x7FC0, np.uint16)
    return np.full(size, np.nan, dtype)


class _Statements:
    """Compiles the statements of one kernel."""

    def __init__(self, inner: Compiler) -> None:
        self.inner = inner
        self.domain = inner.domain
        self.loaded: set[str] = set()
        self.stored: set[str] = set()
        self._by_kind: dict[type, Callable[[Any, str], Step]] = {
            Let: self._bind, Declare: self._bind, Assign: self._assign, ArrayStmt: self._array,
            Store: self._store, For: self._for, If: self._if, Barrier: self._barrier,
        }  # fmt: skip

    def block(self, body: tuple[Stmt, ...], path: str) -> Step:
        """The statements of a block, in order."""
        steps = [self._by_kind[type(s)](s, f"{path}[{i}]") for i, s in enumerate(body)]
        if len(steps) == 1:
            return steps[0]

        def block(m: Machine) -> None:
            for step in steps:
                step(m)

        return block

    def _node(self, e: Value, path: str) -> Node:
        self._note_loads(e)
        return self.inner.expr(e, path)

    def _note_loads(self, e: Value) -> None:
        if isinstance(e, Load):
            self.loaded.add(e.source)
            self._note_loads(e.index)
        for child in getattr(e, "args", ()):
            self._note_loads(child)
        if hasattr(e, "value") and hasattr(e.value, "type"):
            self._note_loads(e.value)

    def _bind(self, s: Let | Declare, path: str) -> Step:
        node, slot = self._node(s.value, path), self.inner.slot(s.var.name)

        def bind(m: Machine) -> None:
            m.regs[slot] = node(m)

        return bind

    def _assign(self, s: Assign, path: str) -> Step:
        node, slot = self._node(s.value, path), self.inner.slot(s.var.name)
        merge = self._merge(s.var.type)

        def assign(m: Machine) -> None:
            value, mask = node(m), m.mask
            m.regs[slot] = value if mask is None else merge(mask, value, m.regs[slot])

        return assign

    def _merge(self, type_: Type) -> Callable[[Array, Any, Any], Any]:
        return self.domain.merge if type_.is_float else ints.merge

    # --- memory ---------------------------------------------------------------------------------

    def _array(self, s: ArrayStmt, path: str) -> Step:
        domain = self.domain

        def array(m: Machine) -> None:
            groups = m.lanes // m.workgroup
            count = s.size * (m.lanes if s.scope is Scope.THREAD else groups)
            planes = allocate(domain, s.type, count)
            blank = np.zeros(len(planes[0]), np.bool_)
            taint = blank.copy() if m.taint is not None else None
            valid = blank if m.sanitize else None
            if valid is not None and m.mask is not None and s.scope is Scope.THREAD:
                # lanes that do not execute here never read what they did not write
                valid[: s.size * m.lanes].reshape(-1, m.lanes)[:] = ~m.mask
            cells = Cells(s.name, planes, s.size, s.scope, valid=valid, taint=taint)
            cells.bounds = 0, 0
            if s.scope is Scope.WORKGROUP and m.sanitize:
                cells.track_races()
            m.cells[s.name] = cells

        return array

    def _store(self, s: Store, path: str) -> Step:
        self.stored.add(s.target)
        index, value = self._node(s.index, path), self._node(s.value, path)
        site, target, type_ = self.inner.site(path), s.target, s.value.type
        if type_.is_float:
            pack = self.domain.pack

            def store_float(m: Machine) -> None:
                m.cells[target].store(m, index(m), pack(type_, value(m)), site)

            return store_float
        decide = self.domain.decide

        def store(m: Machine) -> None:
            given = value(m)
            part = decide(m, given) if type_ is BOOL else to_array(given)
            cells = m.cells[target]
            if type(given) is Lanes:
                cells.widen(given.lo, given.hi)
            elif type(given) is int:
                cells.widen(given, given)
            cells.store(m, index(m), (part,), site)

        return store

    # --- control --------------------------------------------------------------------------------

    def _if(self, s: If, path: str) -> Step:
        condition = self._node(s.condition, path)
        then = self.block(s.then, f"{path}.then")
        otherwise = self.block(s.otherwise, f"{path}.otherwise") if s.otherwise else None
        decide = self.domain.decide

        def branch(m: Machine) -> None:
            c = decide(m, condition(m))
            if type(c) is not ndarray:
                chosen = then if c else otherwise
                if chosen is not None:
                    chosen(m)
                return
            outer = m.mask
            active = c if outer is None else c & outer
            count = np.count_nonzero(active)
            everyone = m.lanes if outer is None else np.count_nonzero(outer)
            if count:
                m.mask = outer if count == everyone else active
                then(m)
            if otherwise is not None and count < everyone:
                rest = ~c if outer is None else outer & ~c
                m.mask = outer if count == 0 else rest
                otherwise(m)
            m.mask = outer

        return branch

    def _for(self, s: For, path: str) -> Step:
        low, high = self._node(s.lo, path), self._node(s.hi, path)
        slot = self.inner.slot(s.var.name)
        body = self.block(s.body, f"{path}.body")

        def loop(m: Machine) -> None:
            lo, hi = low(m), high(m)
            if type(lo) is int and type(hi) is int:
                for i in range(lo, hi):
                    m.regs[slot] = i
                    body(m)
            else:
                _varying_loop(m, lo, hi, slot, body)

        return loop

    def _barrier(self, s: Barrier, path: str) -> Step:
        site = self.inner.site(path)

        def barrier(m: Machine) -> None:
            arrived: Array | None = None
            if m.mask is not None:
                groups = m.mask.reshape(-1, m.workgroup)
                arrived = np.asarray(groups.any(axis=1))
                missing = arrived[:, None] & ~groups
                if missing.any() and s.scope is Scope.WORKGROUP:
                    _report_divergence(m, missing.reshape(-1), site)
            for cells in m.cells.values():
                if cells.scope is Scope.WORKGROUP:
                    cells.barrier(arrived)

        return barrier


def _report_divergence(m: Machine, missing: Array, site: Value) -> None:
    mask, m.mask = m.mask, None  # the guilty lanes are those that do not execute now
    text = "thread {thread} does not reach a barrier that others of its workgroup wait at"
    m.report(Kind.DIVERGENT_BARRIER, site, "barrier", missing, -1, text)
    m.mask = mask


def _varying_loop(m: Machine, lo: Value, hi: Value, slot: int, body: Step) -> None:
    """Lockstep: pass k runs the lanes that have more than k iterations."""
    outer = m.mask
    start, stop = to_array(lo), to_array(hi)
    trips = np.broadcast_to(stop - start, (m.lanes,))
    if outer is not None:
        trips = np.where(outer, trips, 0)
    everywhere = trips if outer is None else trips[outer]
    shortest, longest = (
        (int(everywhere.min()), int(everywhere.max())) if everywhere.size else (0, 0)
    )
    (first, last), end = tight(m, lo), tight(m, hi)[1]
    for k in range(longest):
        if k >= shortest:
            m.mask = trips > k
        # lanes that still run have counters within these bounds
        bounds = first + k, min(last + k, end - 1)
        m.regs[slot] = start + k if type(start) is int else Lanes(start + k, *bounds)
        body(m)
    m.mask = outer
