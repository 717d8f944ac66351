"""Conformance of statements: control flow, arrays, barriers, grids, memory and names.

Defines `statement_cases`. Relies on the builders of cases. Every case is small and shows one
construct in the ways in which languages differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import numpy as np

from tang.device.storage import dtype_of, pack
from tang.kernel import ir as k
from tang.verify.conformance.case import (
    GROUP,
    ID,
    LOCAL,
    Array,
    Case,
    N,
    below,
    blank,
    integer,
    kernel,
    kernel_case,
    load,
    op,
    real,
)

EXTENTS: Final = (1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1023, 1025)
"""Numbers of threads around powers of two."""


def statement_cases() -> Iterator[Case]:
    """Every statement of the kernel IR, and grids and buffers of telling sizes."""
    yield from (_grid(), _no_threads(), _ids(), *map(_workgroup, (1, 7, 32, 128, 256)))
    yield from (_loops(), _empty_loops(), _bound_once(), _branches(), _scopes(), _calls())
    yield from map(_thread_array, (t for t in k.Type))
    yield from map(_shared_array, (t for t in k.Type))
    yield from (_tree(), _two_arrays(), _barrier_loop())
    yield from map(_single_element, k.Type)
    yield from map(_odd_length, k.Type)
    yield from (_many_buffers(), _in_place(), _last_store(), _gather(), _scatter())
    yield from (_scalars(k.I32), _scalars(k.I64), _wide_index(), _names(), _deep(), _many_lets())


def numbers(t: k.Type, count: int, seed: int = 0) -> Array:
    """Distinct small values of a type in memory format."""
    values = np.random.default_rng(seed).permutation(count) % 100
    return pack(values % 2 if t is k.BOOL else values, t)


def _copied(t: k.Type) -> k.Stmt:
    return k.Store("out", ID, load("x", t))


# --- grids ----------------------------------------------------------------------------------------


def _grid() -> Case:
    made = kernel("grid", {"x": k.F32, "out": k.F32}, [below(_copied(k.F32))])
    states = [{"x": numbers(k.F32, n), "out": blank(k.F32, n)} for n in EXTENTS]
    return kernel_case("grids of 2^k ± 1 threads", made, states, EXTENTS)


def _no_threads() -> Case:
    """With n = 0 the guard holds for no thread; the branch without it writes."""
    guard = k.If(op("lt", ID, N), (k.Store("out", ID, integer(1)),), (k.Store("out", ID, ID),))
    made = kernel("nobody", {"out": k.I32}, [guard], workgroup=8)
    return kernel_case("a guard of 0 threads", made, {"out": blank(k.I32, 8)}, 8, [[0]])


def _ids() -> Case:
    value = op("add", op("mul", GROUP, integer(1000)), op("add", op("mul", ID, integer(7)), LOCAL))
    made = kernel("ids", {"out": k.I32}, [k.Store("out", ID, value)], workgroup=4, scalars=())
    return kernel_case("ids of threads and groups", made, {"out": blank(k.I32, 1200)}, 1200)


def _workgroup(size: int) -> Case:
    made = kernel("sized", {"x": k.F32, "out": k.F32}, [below(_copied(k.F32))], workgroup=size)
    state = {"x": numbers(k.F32, 300), "out": blank(k.F32, 300)}
    return kernel_case(f"workgroups of {size}", made, state, 300)


# --- control flow ---------------------------------------------------------------------------------


def _loops() -> Case:
    """Nested loops with branches: a sum of odd elements less the others."""
    acc, i, j = k.Var(k.F32, "acc"), k.Var(k.I32, "i"), k.Var(k.I32, "j")
    odd = op("eq", op("mod", j, integer(2)), integer(1))
    take = k.Assign(acc, op("add", acc, load("x", k.F32, j)))
    drop = k.Assign(acc, op("sub", acc, load("x", k.F32, i)))
    inner = k.For(j, i, op("add", i, integer(3)), (k.If(odd, (take,), (drop,)),))
    body: list[k.Stmt] = [
        k.Declare(acc, real(0)),
        k.For(i, integer(0), N, (inner,)),
        k.Store("out", ID, acc),
    ]
    made = kernel("loops", {"x": k.F32, "out": k.F32}, body, workgroup=8)
    state = {"x": numbers(k.F32, 16), "out": blank(k.F32, 8)}
    return kernel_case("nested loops", made, state, 8, [[5]])


def _empty_loops() -> Case:
    """Loops of no, one and negative many turns; bounds differ between threads."""
    count, i = k.Var(k.I32, "count"), k.Var(k.I32, "i")
    lo, hi = load("lo", k.I32), load("hi", k.I32)
    body: list[k.Stmt] = [
        k.Declare(count, integer(0)),
        k.For(i, lo, hi, (k.Assign(count, op("add", count, op("add", i, integer(100)))),)),
        k.Store("out", ID, count),
    ]
    made = kernel("turns", {"lo": k.I32, "hi": k.I32, "out": k.I32}, body, 8, ())
    state = {
        "lo": np.array([0, 0, 5, -3, 2, -2, 0, 7], np.int32),
        "hi": np.array([0, 1, 2, 3, 2, -7, 9, 8], np.int32),
        "out": blank(k.I32, 8),
    }
    return kernel_case("loops of no turns", made, state, 8)


def _bound_once() -> Case:
    """The end of a loop is evaluated before its first turn."""
    m, i = k.Var(k.I32, "m"), k.Var(k.I32, "i")
    grow = k.Assign(m, op("add", m, integer(1)))
    body: list[k.Stmt] = [
        k.Declare(m, integer(5)),
        k.For(i, integer(0), m, (grow,)),
        k.Store("out", ID, m),
    ]
    made = kernel("once", {"out": k.I32}, body, workgroup=8, scalars=())
    return kernel_case("a loop's end is evaluated once", made, {"out": blank(k.I32, 8)}, 8)


def _branches() -> Case:
    """Branches in branches, with and without an alternative, that differ between threads."""
    y = k.Var(k.F32, "y")
    x = load("x", k.F32)

    def plus(n: int) -> k.Stmt:
        return k.Assign(y, op("add", y, real(n)))

    inner = k.If(op("lt", x, real(20)), (plus(1),), (plus(2), k.If(op("eq", x, x), (plus(4),))))
    body: list[k.Stmt] = [
        k.Declare(y, real(0)),
        k.If(op("lt", x, real(50)), (inner, plus(8))),
        k.If(op("lt", x, real(0)), (), (plus(16),)),
        k.Store("out", ID, y),
    ]
    made = kernel("branches", {"x": k.F32, "out": k.F32}, body, 64, ())
    return kernel_case(
        "nested branches", made, {"x": numbers(k.F32, 64), "out": blank(k.F32, 64)}, 64
    )


def _scopes() -> Case:
    """One name in sibling blocks means different values of different types."""
    first = (k.Let(k.Var(k.F32, "t"), load("x", k.F32)), k.Store("out", ID, k.Var(k.F32, "t")))
    whole = k.Var(k.I32, "t")
    second = (
        k.Let(whole, op("mul", ID, integer(3))),
        k.Store("out", ID, k.Convert(k.F32, whole)),
    )
    made = kernel(
        "scopes", {"x": k.F32, "out": k.F32},
        [k.If(op("lt", ID, integer(20)), first, second)], 32, (),
    )  # fmt: skip
    return kernel_case(
        "names of sibling blocks", made, {"x": numbers(k.F32, 32), "out": blank(k.F32, 32)}, 32
    )


def _calls() -> Case:
    """Functions of several parameters that call each other."""
    a, n, twice = k.Var(k.F32, "a"), k.Var(k.I32, "n"), k.Var(k.F32, "twice")
    scale = k.Function("scale", (a, n), (), op("mul", a, k.Convert(k.F32, n)))
    outer = k.Function(
        "outer", (a,), (k.Let(twice, op("add", a, a)),),
        k.Call(k.F32, "scale", (twice, integer(3))),
    )  # fmt: skip
    body = [k.Store("out", ID, k.Call(k.F32, "outer", (load("x", k.F32),)))]
    made = kernel("calls", {"x": k.F32, "out": k.F32}, body, 8, (), (scale, outer))
    return kernel_case(
        "functions call functions", made, {"x": numbers(k.F32, 8), "out": blank(k.F32, 8)}, 8
    )


# --- arrays and barriers --------------------------------------------------------------------------


def _thread_array(t: k.Type) -> Case:
    """Each thread reverses four elements in an array of its own."""
    i = k.Var(k.I32, "i")
    base = op("mul", ID, integer(4))
    mirrored = op("sub", integer(3), i)
    body: list[k.Stmt] = [
        k.Array("tile", t, 4),
        k.For(i, integer(0), integer(4), (
            k.Store("tile", mirrored, load("x", t, op("add", base, i))),
        )),
        k.For(i, integer(0), integer(4), (
            k.Store("out", op("add", base, i), load("tile", t, i)),
        )),
    ]  # fmt: skip
    made = kernel("own_array", {"x": t, "out": t}, body, 8, ())
    state = {"x": numbers(t, 64), "out": blank(t, 64)}
    return kernel_case(f"arrays of a thread, {t.value}", made, state, 16)


def _shared_array(t: k.Type) -> Case:
    """A workgroup reverses its elements through an array that it shares."""
    mirrored = op("sub", integer(15), LOCAL)
    body: list[k.Stmt] = [
        k.Array("tile", t, 16, k.Scope.WORKGROUP),
        k.Store("tile", LOCAL, load("x", t)),
        k.Barrier(),
        k.Store("out", ID, load("tile", t, mirrored)),
    ]
    made = kernel("shared", {"x": t, "out": t}, body, 16, ())
    state = {"x": numbers(t, 48), "out": blank(t, 48)}
    return kernel_case(f"arrays of a workgroup, {t.value}", made, state, 48)


def _tree() -> Case:
    """A tree sum: barriers in uniform loops and branches; registers live across them."""
    s, kept, step = k.Var(k.I32, "s"), k.Var(k.F32, "kept"), k.Var(k.I32, "step")
    tile = load("tile", k.F32, LOCAL)
    other = load("tile", k.F32, op("add", LOCAL, step))
    halve = k.If(op("lt", LOCAL, step), (k.Store("tile", LOCAL, op("add", tile, other)),))
    body: list[k.Stmt] = [
        k.Array("tile", k.F32, 32, k.Scope.WORKGROUP),
        k.Array("own", k.F32, 2),
        k.Declare(kept, load("x", k.F32)),
        k.Store("own", integer(1), kept),
        k.Store("tile", LOCAL, kept),
        k.Barrier(),
        k.For(s, integer(0), integer(6), (
            k.Let(step, op("floordiv", integer(16), op("add", op("mul", s, s), integer(1)))),
            k.If(op("lt", s, N), (k.Barrier(), halve, k.Barrier()), (
                k.Barrier(), k.Assign(kept, real(0)),
            )),
        )),
        k.Store("out", ID, op("add", op("add", load("tile", k.F32, integer(0)), kept),
                              load("own", k.F32, integer(1)))),
    ]  # fmt: skip
    made = kernel("tree", {"x": k.F32, "out": k.F32}, body, 32)
    state = {"x": numbers(k.F32, 96), "out": blank(k.F32, 96)}
    return kernel_case("barriers in loops and branches", made, [state] * 2, (96, 96), [[2], [6]])


def _two_arrays() -> Case:
    """Two shared arrays of different types do not overlap."""
    i = op("sub", integer(15), LOCAL)
    body: list[k.Stmt] = [
        k.Array("bytes", k.U8, 16, k.Scope.WORKGROUP),
        k.Array("words", k.F32, 16, k.Scope.WORKGROUP),
        k.Store("bytes", LOCAL, k.Convert(k.U8, ID)),
        k.Store("words", LOCAL, load("x", k.F32)),
        k.Barrier(),
        k.Store("out", ID, op("add", load("words", k.F32, i),
                              k.Convert(k.F32, load("bytes", k.U8, i)))),
    ]  # fmt: skip
    made = kernel("two_arrays", {"x": k.F32, "out": k.F32}, body, 16, ())
    return kernel_case(
        "two arrays of a workgroup", made, {"x": numbers(k.F32, 32), "out": blank(k.F32, 32)}, 32
    )


def _barrier_loop() -> Case:
    """Each turn passes values on to the next thread: two barriers a turn are needed."""
    turn, value = k.Var(k.I32, "turn"), k.Var(k.F32, "value")
    following = op("mod", op("add", LOCAL, integer(1)), integer(16))
    body: list[k.Stmt] = [
        k.Array("ring", k.F32, 16, k.Scope.WORKGROUP),
        k.Declare(value, load("x", k.F32)),
        k.For(turn, integer(0), N, (
            k.Store("ring", LOCAL, value),
            k.Barrier(),
            k.Assign(value, load("ring", k.F32, following)),
            k.Barrier(),
        )),
        k.Store("out", ID, value),
    ]  # fmt: skip
    made = kernel("ring", {"x": k.F32, "out": k.F32}, body, 16)
    state = {"x": numbers(k.F32, 48), "out": blank(k.F32, 48)}
    return kernel_case("a ring through a shared array", made, [state] * 2, (48, 48), [[0], [5]])


# --- memory ---------------------------------------------------------------------------------------


def _single_element(t: k.Type) -> Case:
    """A buffer of one element; its neighbours in the word are guard zones."""
    made = kernel("single", {"x": t, "out": t}, [below(_copied(t))], workgroup=1)
    return kernel_case(
        f"one element, {t.value}", made, {"x": numbers(t, 1) + numbers(t, 1), "out": blank(t, 1)}, 1
    )


def _odd_length(t: k.Type) -> Case:
    """Neighbours that share a word are written by different threads, and by different groups."""
    made = kernel("odd", {"x": t, "out": t}, [below(_copied(t))], workgroup=3)
    return kernel_case(
        f"an odd length, {t.value}", made, {"x": numbers(t, 77), "out": blank(t, 77)}, 77
    )


def _many_buffers() -> Case:
    """Five inputs and two outputs of different types."""
    kinds = {"a": k.F32, "b": k.F16, "c": k.U8, "d": k.I32, "e": k.BOOL, "p": k.F32, "q": k.I32}
    wide = [k.Convert(k.F32, load(n, kinds[n])) for n in "bcd"]
    total = op("add", op("add", load("a", k.F32), wide[0]), op("add", wide[1], wide[2]))
    body = below(
        k.Store("p", ID, op("select", load("e", k.BOOL), total, real(-1))),
        k.Store("q", ID, op("add", load("d", k.I32), k.Convert(k.I32, load("c", k.U8)))),
    )
    made = kernel("buffers", kinds, [body], outputs=2)
    state = {n: numbers(t, 70, seed) for seed, (n, t) in enumerate(kinds.items())}
    return kernel_case("seven buffers", made, state, 70)


def _in_place() -> Case:
    """A thread reads back what it wrote to an output."""
    i = k.Var(k.I32, "i")
    body = below(
        k.Store("out", ID, load("x", k.F32)),
        k.For(i, integer(0), integer(3), (
            k.Store("out", ID, op("mul", load("out", k.F32), real(2))),
        )),
    )  # fmt: skip
    made = kernel("in_place", {"x": k.F32, "out": k.F32}, [body])
    return kernel_case(
        "an output is read back", made, {"x": numbers(k.F32, 70), "out": blank(k.F32, 70)}, 70
    )


def _last_store() -> Case:
    """Of two stores of one thread the later one stays."""
    body = below(
        k.Store("out", ID, integer(200, k.U8)),
        k.Store("out", ID, load("x", k.U8)),
    )
    made = kernel("last", {"x": k.U8, "out": k.U8}, [body])
    return kernel_case(
        "the last store stays", made, {"x": numbers(k.U8, 70), "out": blank(k.U8, 70)}, 70
    )


def _gather() -> Case:
    """An element chosen by an index; outside the source, a value instead of a read."""
    at = k.Var(k.I32, "at")
    inside = k.Op(k.BOOL, "and", (op("le", integer(0), at), op("lt", at, integer(16))))
    value = k.Var(k.F32, "value")
    body = below(
        k.Let(at, load("index", k.I32)),
        k.Declare(value, real("nan")),
        k.If(inside, (k.Assign(value, load("x", k.F32, at)),)),
        k.Store("out", ID, value),
    )
    made = kernel("gather", {"x": k.F32, "index": k.I32, "out": k.F32}, [body])
    index = np.random.default_rng(2).integers(-4, 20, 70).astype(np.int32)
    index[:4] = (2**31 - 1, -(2**31), 15, 16)
    state = {"x": numbers(k.F32, 16), "index": index, "out": blank(k.F32, 70)}
    return kernel_case("a guarded gather", made, state, 70)


def _scatter() -> Case:
    """Elements of 16 bits stored at permuted places, which share words between groups."""
    body = below(k.Store("out", load("index", k.I32), load("x", k.F16)))
    made = kernel("scatter", {"x": k.F16, "index": k.I32, "out": k.F16}, [body], workgroup=8)
    index = np.random.default_rng(4).permutation(71).astype(np.int32)
    state = {"x": numbers(k.F16, 71), "index": index, "out": blank(k.F16, 71)}
    return kernel_case("a permuted store", made, state, 71)


# --- scalars, widths, names -----------------------------------------------------------------------


def _scalars(t: k.Type) -> Case:
    """Several scalars with the ends of their range."""
    names = ("n", "first", "second")
    scalars = tuple(k.Var(t, name) for name in names)
    body = [k.Store("out", integer(i), s) for i, s in enumerate(scalars)]
    made = kernel("scalars", {"out": t}, body, workgroup=1, scalars=scalars)
    info = np.iinfo(dtype_of(t))
    given = [[3, int(info.max), int(info.min)]]
    return kernel_case(f"scalars of {t.value}", made, {"out": blank(t, 3)}, 1, given)


def _wide_index() -> Case:
    """Loops and indices of 64 bits whose partial sums exceed 32."""
    i, thread = k.Var(k.I64, "i"), k.Var(k.I64, "global_id")
    large = integer(2**33, k.I64)
    index = op("sub", op("add", thread, large), large)
    total = k.Var(k.I64, "total")
    body: list[k.Stmt] = [
        k.Declare(total, integer(0, k.I64)),
        k.For(i, large, op("add", large, integer(3, k.I64)),
              (k.Assign(total, op("add", total, i)),)),
        k.Store("out", index, op("add", total, load("x", k.I64, index))),
    ]  # fmt: skip
    made = kernel("wide", {"x": k.I64, "out": k.I64}, body, 8, ())
    return kernel_case(
        "indices of 64 bits", made, {"x": numbers(k.I64, 16), "out": blank(k.I64, 16)}, 16
    )


def _names() -> Case:
    """Names that are keywords, types, builtins or no identifiers at all in some language."""
    names = ("int", "half", "main", "return", "vec4", "gl_Position", "__x", "thread", "Ünï", "a b")
    values = [k.Var(k.F32, n) for n in names]
    lets: list[k.Stmt] = [k.Let(values[0], load("float", k.F32))]
    lets += [k.Let(v, op("add", before, real(1))) for before, v in pairwise(values)]
    f = k.Function("if", (k.Var(k.F32, "for"),), (), op("neg", k.Var(k.F32, "for")))
    total = k.Call(k.F32, "if", (values[-1],))
    body = [below(*lets, k.Store("device", ID, total))]
    made = kernel("kernel", {"float": k.F32, "device": k.F32}, body, functions=(f,))
    state = {"float": numbers(k.F32, 9), "device": blank(k.F32, 9)}
    return kernel_case("names that are keywords", made, state, 9)


def _deep() -> Case:
    """An expression two hundred operations deep."""
    value: k.Expr = load("x", k.F32)
    for n in range(100):
        value = op("add", op("mul", value, real(1) if n % 3 else real(-1)), load("x", k.F32))
    made = kernel("deep", {"x": k.F32, "out": k.F32}, [below(k.Store("out", ID, value))])
    return kernel_case(
        "a deep expression", made, {"x": numbers(k.F32, 65), "out": blank(k.F32, 65)}, 65
    )


def _many_lets() -> Case:
    """Two hundred values that live at once."""
    values = [k.Var(k.F32, f"v{n}") for n in range(200)]
    lets: list[k.Stmt] = [
        k.Let(v, op("mul", load("x", k.F32), real(n + 1))) for n, v in enumerate(values)
    ]
    total: k.Expr = values[0]
    for v in values[1:]:
        total = op("add", total, v)
    made = kernel("lets", {"x": k.F32, "out": k.F32}, [below(*lets, k.Store("out", ID, total))])
    return kernel_case(
        "many values at once", made, {"x": numbers(k.F32, 65), "out": blank(k.F32, 65)}, 65
    )
