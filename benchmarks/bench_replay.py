"""How fast replay is: multiply-adds per second, and the cost of one operation on few lanes.

Prints one line per measurement. Relies on hand-written kernels. It compares nothing with a device.
Run: python benchmarks/bench_replay.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from tang.emulator.functions import call_function
from tang.emulator.replay import replay_launch
from tang.ir.extent import poly
from tang.kernel.ir import (
    BOOL,
    F32,
    I64,
    Assign,
    Const,
    Declare,
    Expr,
    For,
    Function,
    If,
    Kernel,
    Let,
    Load,
    Op,
    Param,
    Stmt,
    Store,
    Var,
)
from tang.kernel.plan import Launch

GID, N, K, T = Var(I64, "global_id"), Var(I64, "n"), Var(I64, "k"), Var(F32, "t")


def integer(value: int) -> Const:
    return Const(I64, value)


def index(op: str, a: Expr, b: Expr) -> Op:
    return Op(I64, op, (a, b))


def matmul(size: int, fused: bool) -> Launch:
    """One thread per element of a size × size product, a loop over k."""
    row, col = Var(I64, "row"), Var(I64, "col")
    side = integer(size)
    a = Load(F32, "a", index("add", index("mul", row, side), K))
    b = Load(F32, "b", index("add", index("mul", K, side), col))
    step = Op(F32, "fma", (a, b, T)) if fused else Op(F32, "add", (T, Op(F32, "mul", (a, b))))
    body: tuple[Stmt, ...] = (
        Let(row, index("floordiv", GID, side)),
        Let(col, index("mod", GID, side)),
        Declare(T, Const(F32, Fraction(0))),
        For(K, integer(0), side, (Assign(T, step),)),
        Store("out", GID, T),
    )
    guard = If(Op(BOOL, "lt", (GID, N)), body)
    params = (Param("a", F32, False), Param("b", F32, False), Param("out", F32, True))
    kernel = Kernel("matmul", params, (N,), (guard,))
    return Launch(kernel, ("a", "b", "out"), (poly(size * size),), poly(size * size))


def chain(length: int, tail: int) -> Launch:
    """`length` dependent multiplications and additions on n − tail of the lanes."""
    steps: list[Stmt] = [Declare(T, Load(F32, "a", GID))]
    half = Const(F32, Fraction(1, 2))
    for k in range(length // 2):
        steps.append(Assign(T, Op(F32, "add", (Op(F32, "mul", (T, half)), half))))
        del k
    steps.append(Store("out", GID, T))
    guard = If(Op(BOOL, "lt", (GID, N)), tuple(steps))
    params = (Param("a", F32, False), Param("out", F32, True))
    kernel = Kernel("chain", params, (N,), (guard,))
    lanes = 960 - tail
    return Launch(kernel, ("a", "out"), (poly(lanes),), poly(lanes))


def loads(count: int, tail: int) -> Launch:
    """A loop of gathers with a computed index: four integer operations and a load each pass."""
    at = index("mod", index("add", index("mul", GID, integer(7)), K), N)
    body = (
        Declare(T, Const(F32, Fraction(0))),
        For(K, integer(0), integer(count), (Assign(T, Op(F32, "add", (T, Load(F32, "a", at)))),)),
        Store("out", GID, T),
    )
    guard = If(Op(BOOL, "lt", (GID, N)), body)
    params = (Param("a", F32, False), Param("out", F32, True))
    kernel = Kernel("loads", params, (N,), (guard,))
    lanes = 960 - tail
    return Launch(kernel, ("a", "out"), (poly(lanes),), poly(lanes))


def seconds(run: Callable[[], object], repeat: int = 7) -> float:
    """The best of several runs, after one that compiles."""
    run()
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


def time_launch(launch: Launch, sizes: dict[str, int], domain: str, sanitize: bool) -> float:
    data = {name: np.random.default_rng(0).random(n) for name, n in sizes.items()}
    state = {name: a.astype(np.float32) for name, a in data.items()}
    return seconds(lambda: replay_launch(launch, state, {}, domain=domain, sanitize=sanitize))


def report_matmul(size: int) -> None:
    sizes = dict.fromkeys(("a", "b", "out"), size * size)
    for domain in ("formats", "real", "shadow"):
        for fused in (False, True):
            best = time_launch(matmul(size, fused), sizes, domain, True)
            kind = "fma" if fused else "mul, add"
            print(f"matmul {size}³ {domain:8} {kind:8}: {size**3 / best / 1e6:7.1f} M mul-add/s")


def report_overhead() -> None:
    for tail in (0, 7):
        lanes = 960 - tail
        sizes = {"a": lanes, "out": lanes}
        for domain in ("formats", "real", "shadow"):
            short, long = (time_launch(chain(n, tail), sizes, domain, True) for n in (2, 202))
            gather = time_launch(loads(101, tail), sizes, domain, True)
            gather -= time_launch(loads(1, tail), sizes, domain, True)
            launch = f"{short * 1e6:6.0f} µs a launch"
            plain = f"{(long - short) / 200 * 1e6:5.2f} µs a float operation"
            print(
                f"{lanes} lanes {domain:8}: {plain}, "
                f"{gather / 500 * 1e6:5.2f} µs an operation of a gather loop, {launch}"
            )


def report_function() -> None:
    x, y = Var(F32, "x"), Var(F32, "y")
    body = tuple(
        Let(Var(F32, f"y{j}"), Op(F32, "mul", (x if j == 0 else Var(F32, f"y{j - 1}"), x)))
        for j in range(10)
    )
    del y
    function = Function("f", (x,), body, Var(F32, "y9"))
    data = np.random.default_rng(0).random(2**22).astype(np.float32)
    best = seconds(lambda: call_function(function, (data,)), 3)
    print(f"function of 10 multiplications: {data.size / best / 1e6:.0f} M elements/s")


def main() -> None:
    report_matmul(128)
    report_overhead()
    report_function()


if __name__ == "__main__":
    main()
