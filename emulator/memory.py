"""Memory under a sanitizer: buffers and arrays with bounds, validity bits and race tracking.

Defines `Cells`, one named piece of memory whose elements lie in one array per plane of the
domain. Relies on the machine for masks and reports. It does not know formats: values go in and
come out as tuples of arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tang.emulator.ints import Lanes, tight
from tang.emulator.machine import Array, Machine, Site, Value
from tang.emulator.records import Kind
from tang.kernel.ir import Scope

NOBODY, MANY = -1, -2
_THREAD, _WORKGROUP = Scope.THREAD, Scope.WORKGROUP
Parts = tuple[Any, ...]


class Cells:
    """`size` elements, shared by all threads, or per workgroup, or per thread.

    planes  flat arrays; element i of instance k is at k·size + i, of thread k at i·lanes + k
    valid   which elements have been written; None when all have
    writer  last thread to write each element since the last barrier, or NOBODY
    reader  the only thread that read it, NOBODY or MANY
    taint   elements that depend on a doubtful decision; None where that is not tracked
    doubtful  whether any element may be tainted
    bounds  of the integers that it holds; None while they are not known
    sure    of an array per thread: the elements of which no active lane lacks a value
    """

    __slots__ = (
        "bounds",
        "doubtful",
        "name",
        "planes",
        "reader",
        "scope",
        "single",
        "size",
        "sure",
        "taint",
        "valid",
        "writer",
    )

    def __init__(
        self,
        name: str,
        planes: Parts,
        size: int,
        scope: Scope | None,
        *,
        valid: Array | None = None,
        taint: Array | None = None,
    ) -> None:
        self.name = name
        self.planes = planes
        self.size = size
        self.scope = scope
        self.valid = valid
        self.taint = taint
        self.doubtful = taint is not None and bool(taint.any())
        self.writer: Array | None = None
        self.reader: Array | None = None
        self.bounds: tuple[int, int] | None = None
        self.single: Array | None = planes[0] if len(planes) == 1 else None
        self.sure = [valid is None] * size if scope is _THREAD else []

    def integer_bounds(self) -> tuple[int, int]:
        """Bounds of all integers that it holds, found by a scan when first asked for."""
        if self.bounds is None:
            self.bounds = int(self.planes[0].min()), int(self.planes[0].max())
        return self.bounds

    def widen(self, lo: int, hi: int) -> None:
        """Integers between these bounds are stored next."""
        if self.bounds is not None:
            self.bounds = min(lo, self.bounds[0]), max(hi, self.bounds[1])

    def track_races(self) -> None:
        """Start to record which threads touch which element."""
        count = len(self.planes[0])
        self.writer = np.full(count, NOBODY, np.int64)
        self.reader = np.full(count, NOBODY, np.int64)

    def barrier(self, arrived: Array | None) -> None:
        """Forget accesses in the workgroups that arrived (all of them when None)."""
        if self.writer is None or self.reader is None:
            return
        for tracked in (self.writer, self.reader):
            if arrived is None:
                tracked.fill(NOBODY)
            else:
                tracked.reshape(-1, self.size)[arrived] = NOBODY

    # --- loads ----------------------------------------------------------------------------------

    def load(self, m: Machine, index: Value, site: Site) -> Parts:
        """The elements at `index`; lanes that are out of bounds get zero."""
        if type(index) is int and 0 <= index < self.size:
            return self._load_uniform(m, index, site)
        inside = self._inside(m, index, site, "reads")
        flat = self._flat(m, index)
        if self.single is not None:
            parts: Parts = (self.single.take(flat, mode="clip"),)
        else:
            parts = tuple([p.take(flat, mode="clip") for p in self.planes])
        if inside is not None:
            parts = tuple(np.where(inside, p, p.dtype.type(0)) for p in parts)
        self._note_load(m, flat, inside, site)
        return parts

    def _load_uniform(self, m: Machine, index: int, site: Site) -> Parts:
        if self.scope is None:
            quiet = not m.sanitize or (self.valid is None and self.writer is None)
            if quiet and not self.doubtful:
                if self.single is not None:
                    return (self.single[index],)
                return tuple([p[index] for p in self.planes])
            flat = np.full(m.lanes, index)
            self._note_load(m, flat, None, site)
            return tuple([p[index] for p in self.planes])
        if self.scope is _THREAD:
            row = slice(index * m.lanes, (index + 1) * m.lanes)
            if self.doubtful or not self.sure[index]:
                self._note_row(m, row, index, site)
            if self.single is not None:
                return (self.single[row].copy(),)
            return tuple([p[row].copy() for p in self.planes])
        flat = self._flat(m, index)
        self._note_load(m, flat, None, site)
        return tuple(p[flat] for p in self.planes)

    def _note_row(self, m: Machine, row: slice, index: int, site: Site) -> None:
        if self.taint is not None and self.doubtful:
            m.add_taint(self.taint[row])
        if m.sanitize and self.valid is not None:
            ok = self.valid[row]
            if ok.all():
                self.sure[index] = True
            else:
                self._uninitialised(m, ~ok, np.full(m.lanes, index), site)

    def _note_load(self, m: Machine, flat: Array, inside: Array | None, site: Site) -> None:
        if self.taint is not None and self.doubtful:
            m.add_taint(self.taint.take(flat, mode="clip"))
        if not m.sanitize:
            return
        if self.valid is not None:
            ok = self.valid.take(flat, mode="clip")
            if not ok.all():
                bad = ~ok if inside is None else ~ok & inside
                self._uninitialised(m, bad, self._element(m, flat), site)
        if self.writer is not None:
            self._note_read(m, flat, inside, site)

    def _uninitialised(self, m: Machine, bad: Array, index: Array, site: Site) -> None:
        text = f"{self.name}[{{index}}] is read by thread {{thread}} before anything is written"
        m.report(Kind.UNINITIALISED, site, self.name, bad, index, text)

    def _note_read(self, m: Machine, flat: Array, inside: Array | None, site: Site) -> None:
        chosen = _lanes(m, inside)
        at, who = flat[chosen], m.threads[chosen]
        if self.writer is None or self.reader is None:
            return
        self._race(m, self.writer[at], at, who, site, "read")
        seen = self.reader[at]
        new = np.where((seen == NOBODY) | (seen == who), who, MANY)
        self.reader[at] = new
        self.reader[at[self.reader[at] != new]] = MANY

    # --- stores ---------------------------------------------------------------------------------

    def store(self, m: Machine, index: Value, parts: Parts, site: Site) -> None:
        """Write the active lanes; those out of bounds are dropped."""
        if self.scope is _THREAD and type(index) is int and 0 <= index < self.size:
            self._store_row(m, index, parts)
            return
        inside = self._inside(m, index, site, "writes")
        flat = self._flat(m, index)
        chosen = _lanes(m, inside)
        at = flat[chosen]
        for plane, part in zip(self.planes, parts, strict=True):
            plane[at] = part[chosen] if isinstance(part, np.ndarray) and part.ndim else part
        if self._takes_taint(m) and self.taint is not None and m.taint is not None:
            self.taint[at] = m.taint[chosen]
        if self.valid is not None:
            self.valid[at] = True
        if m.sanitize and self.writer is not None:
            self._note_write(m, at, m.threads[chosen], site)

    def _store_row(self, m: Machine, index: int, parts: Parts) -> None:
        row = slice(index * m.lanes, (index + 1) * m.lanes)
        where = True if m.mask is None else m.mask
        for plane, part in zip(self.planes, parts, strict=True):
            np.copyto(plane[row], part, where=where, casting="unsafe")
        if self._takes_taint(m) and self.taint is not None and m.taint is not None:
            np.copyto(self.taint[row], m.taint, where=where)
        if self.valid is not None and not self.sure[index]:
            np.copyto(self.valid[row], True, where=where)

    def _takes_taint(self, m: Machine) -> bool:
        """Whether a store changes any taint: it brings some, or may overwrite some."""
        self.doubtful = self.doubtful or m.doubtful
        return self.doubtful

    def _note_write(self, m: Machine, at: Array, who: Array, site: Site) -> None:
        if self.writer is None or self.reader is None:
            return
        self._race(m, self.writer[at], at, who, site, "written")
        self._race(m, self.reader[at], at, who, site, "read before it is written")
        self.writer[at] = who
        self._race(m, self.writer[at], at, who, site, "written")

    def _race(self, m: Machine, other: Array, at: Array, who: Array, site: Site, verb: str) -> None:
        conflict = (other != NOBODY) & (other != who)
        if not conflict.any():
            return
        first = int(np.flatnonzero(conflict)[0])
        rival = "several threads" if other[first] == MANY else f"thread {other[first]}"
        bad = np.zeros(m.lanes, np.bool_)
        bad[who[conflict]] = True
        index = np.zeros(m.lanes, np.int64)
        index[who] = self._element_of(at, who, m)
        text = f"{self.name}[{{index}}] is {verb} by thread {{thread}} and touched by {rival}"
        m.report(Kind.RACE, site, self.name, bad, index, text)

    # --- addresses ------------------------------------------------------------------------------

    def _inside(self, m: Machine, index: Value, site: Site, verb: str) -> Array | None:
        """None when every active lane is in bounds, else which lanes are (and a report)."""
        if type(index) is int:
            if 0 <= index < self.size:
                return None
            values: Value = index
        elif isinstance(index, Lanes):
            if index.lo >= 0 and index.hi < self.size:
                return None
            lo, hi = tight(m, index)
            if lo >= 0 and hi < self.size:
                return None
            values = index.array
        else:
            values = np.asarray(index, np.int64)
        inside = np.broadcast_to((values >= 0) & (values < self.size), (m.lanes,))
        shown = np.broadcast_to(values, (m.lanes,))
        text = f"thread {{thread}} {verb} {self.name}[{{index}}] of {self.size}"
        m.report(Kind.OUT_OF_BOUNDS, site, self.name, ~inside, shown, text)
        return inside

    def _flat(self, m: Machine, index: Value) -> Array:
        values = index.array if isinstance(index, Lanes) else index
        if self.scope is _THREAD:
            values = np.clip(values, 0, max(self.size - 1, 0)) * m.lanes + m.threads
        elif self.scope is _WORKGROUP:
            inner = np.clip(values, 0, max(self.size - 1, 0))
            values = m.threads // m.workgroup * self.size + inner
        if type(values) is int:
            return np.full(m.lanes, values)
        return np.asarray(np.broadcast_to(values, (m.lanes,)))

    def _element(self, m: Machine, flat: Array) -> Array:
        return self._element_of(flat, m.threads, m)

    def _element_of(self, flat: Array, who: Array, m: Machine) -> Array:
        if self.scope is _THREAD:
            return (flat - who) // m.lanes
        return flat % self.size if self.scope is _WORKGROUP else flat


def _lanes(m: Machine, inside: Array | None) -> Value:
    """A selector of the lanes that take part."""
    if m.mask is None:
        return slice(None) if inside is None else np.flatnonzero(inside)
    return np.flatnonzero(m.mask if inside is None else m.mask & inside)
