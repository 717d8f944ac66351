"""Conformance of expressions: every operation, constant, conversion and bit cast, type by type.

Defines `operation_cases`. Relies on the kernel IR's tables, so a new row or type is covered at
once or refused by name. Data are all pairs of telling values, and random ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Final

import numpy as np

from tang.device.storage import dtype_of, pack
from tang.errors import TangBugError
from tang.ir.format import FORMATS
from tang.kernel import ir as k
from tang.kernel.check import OPERANDS, TO_BOOL
from tang.kernel.expand import expand_kernel
from tang.verify.conformance.case import (
    ID,
    Array,
    Case,
    blank,
    elementwise,
    integer,
    kernel,
    kernel_case,
    load,
    op,
    real,
)

FLOATS: Final = tuple(t for t in k.Type if t.is_float)
INTS: Final = tuple(t for t in k.Type if t.is_int)
COUNT: Final = 521
"""Elements per row: a prime, so that rows end within a workgroup and within a word."""

TELLING: Final = (
    0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, np.inf, -np.inf, np.nan, 1 / 3, 65504.0, 65520.0,
    1e-5, 6e-8, 3e-8, 1e-40, -1e-45, 3.4028235e38, 2.0**31, -7.25,
)  # fmt: skip


def operation_cases() -> Iterator[Case]:
    """Every row of OPS and MATH over every type that it takes; constants; conversions."""
    for t in FLOATS:
        yield from _float_cases(t)
    for t in INTS:
        yield from _integer_cases(t)
    yield _bool_case()
    yield from _math_cases()
    yield from (_constant_case(t) for t in k.Type)
    yield from (_folded_case(t) for t in INTS)
    yield from _conversion_cases()
    yield from _bitcast_cases()


def rows_of(t: k.Type) -> list[str]:
    """The rows of OPS that take a type."""
    unknown = k.OPS.keys() - OPERANDS.keys()
    if unknown:
        raise TangBugError(f"no operand types for {', '.join(sorted(unknown))}")
    return [name for name in k.OPS if t in OPERANDS[name]]


# --- floats ---------------------------------------------------------------------------------------


def reals(operands: int, seed: int = 1) -> list[Array]:
    """Per operand COUNT f64 values: pairs of telling values first, then random magnitudes."""
    rng = np.random.default_rng(seed)
    telling = rng.permutation([(a, b) for a in TELLING for b in TELLING])[: COUNT - 160]
    found = []
    for n in range(operands):
        wide = np.ldexp(rng.uniform(-2, 2, 160), rng.integers(-14, 12, 160))
        found.append(np.concatenate([telling[:, n % 2] if n < 2 else telling[::-1, 0], wide]))
    return found


def _float_cases(t: k.Type) -> Iterator[Case]:
    data = {n: pack(a, t) for n, a in zip("abc", reals(3), strict=True)}
    types = dict.fromkeys(data, t)
    a, b, c = (load(n, t) for n in "abc")
    rows = {name: op(name, *(a, b, c)[: k.OPS[name]]) for name in rows_of(t) if name != "select"}
    own = {n: e for n, e in rows.items() if n not in TO_BOOL and n != "fma"}
    tests = {n: e for n, e in rows.items() if n in TO_BOOL}
    tests |= {"ne": k.Op(k.BOOL, "not", (rows["eq"],))}
    yield elementwise(f"{t.value} arithmetic", own, data, types)
    yield elementwise(f"{t.value} fma", {"fma": rows["fma"]}, data, types)
    yield elementwise(f"{t.value} comparisons", tests, data, types)
    chosen = {
        "select lt": op("select", op("lt", a, b), a, c),
        "select isnan": op("select", op("isnan", a), b, a),
    }
    yield elementwise(f"{t.value} select", chosen, data, types)
    yield elementwise(f"{t.value} identities", _identities(t), data, types)


def _identities(t: k.Type) -> dict[str, k.Expr]:
    """Expressions that are simpler over the reals; a compiler that knows no rounding rewrites them.

    Sources: what Mesa, PoCL and GPU drivers were seen to rewrite or contract.
    """
    a, b, c = (load(n, t) for n in "abc")
    zero, one, tenth = real(0, t), real(1, t), real(Fraction(1, 10), t)
    root = op("sqrt", a)
    return {
        "a*b+a*c": op("add", op("mul", a, b), op("mul", a, c)),
        "a*b+c": op("add", op("mul", a, b), c),
        "a*b-c": op("sub", op("mul", a, b), c),
        "(a+b)-b": op("sub", op("add", a, b), b),
        "(a-b)+b": op("add", op("sub", a, b), b),
        "sqrt(a)*sqrt(a)": op("mul", root, root),
        "1/(1/a)": op("div", one, op("div", one, a)),
        "(a/b)*b": op("mul", op("div", a, b), b),
        "(a+0.1)+0.7": op("add", op("add", a, tenth), real(Fraction(7, 10), t)),
        "(a*0.1)*10": op("mul", op("mul", a, tenth), real(10, t)),
        "a*0": op("mul", a, zero),
        "a+0": op("add", a, zero),
        "0-a": op("sub", zero, a),
        "a-a": op("sub", a, a),
        "a/a": op("div", a, a),
        "a/3": op("div", a, real(3, t)),
        "-(a-b)": op("neg", op("sub", a, b)),
        "a*-1": op("mul", a, real(-1, t)),
        "a<b?a:b": op("select", op("lt", a, b), a, b),
        "a==a?a:0": op("select", op("eq", a, a), a, zero),
    }


# --- integers and bools ---------------------------------------------------------------------------


def _edges(t: k.Type) -> list[int]:
    info = np.iinfo(dtype_of(t))
    low, high = int(info.min), int(info.max)
    near = [0, 1, 2, 3, 7, 8, 63, 64, 127, 128, 255, 256, 32767, 65535, 46340, 46341, 2**24 + 1]
    wide = [2**31 - 1, 2**31, 2**32 - 1, 2**32, high // 2, high - 1, high, low, low + 1, low // 2]
    return sorted({v for n in (*near, *wide) for v in (n, -n) if low <= v <= high})


_EXACT: Final[dict[str, Callable[[int, int], int]]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a, b: -a,
}


def _legal(name: str, t: k.Type, a: int, b: int) -> bool:
    """Whether the kernel IR gives the operation a meaning on these operands."""
    if name in ("floordiv", "mod"):
        return b > 0
    if name in ("shl", "shr"):
        return b < 8 * t.bytes
    if t in (k.I32, k.I64) and name in _EXACT:
        info = np.iinfo(dtype_of(t))
        return int(info.min) <= _EXACT[name](a, b) <= int(info.max)
    return True


def _integer_data(t: k.Type, names: Sequence[str]) -> dict[str, Array]:
    """Operands of every row: a_NAME and b_NAME, COUNT legal pairs each."""
    edges, rng = _edges(t), np.random.default_rng(3)
    shifts = list(range(8 * t.bytes))
    data = {}
    for name in names:
        seconds = shifts if name in ("shl", "shr") else edges
        pairs = [(a, b) for a in edges for b in seconds if _legal(name, t, a, b)]
        order = rng.permutation(len(pairs))
        chosen = [pairs[order[i % len(pairs)]] for i in range(COUNT)]
        for n, letter in enumerate("ab"):
            data[f"{letter}_{name}"] = np.array([p[n] for p in chosen], dtype_of(t))
    return data


def _integer_cases(t: k.Type) -> Iterator[Case]:
    names = [n for n in rows_of(t) if n not in TO_BOOL and n != "select"]
    for some in (names[:3], names[3:6], names[6:9], names[9:]):
        if some:
            yield _integer_rows(t, some)
    data = _integer_data(t, ["le"])
    a, b = load("a_le", t), load("b_le", t)
    tests = {n: op(n, a, b) for n in ("lt", "le", "eq")}
    types = dict.fromkeys(data, t)
    yield elementwise(f"{t.value} comparisons", tests, data, types)
    chosen = {"select": op("select", op("lt", a, b), a, b)}
    yield elementwise(f"{t.value} select", chosen, data, types)


def _integer_rows(t: k.Type, names: Sequence[str]) -> Case:
    data = _integer_data(t, names)
    data = {n: a for n, a in data.items() if not n.startswith("b_") or k.OPS[n[2:]] > 1}
    rows = {n: op(n, *(load(f"{letter}_{n}", t) for letter in "ab"[: k.OPS[n]])) for n in names}
    return elementwise(f"{t.value} {' '.join(names)}", rows, data, dict.fromkeys(data, t))


def _bool_case() -> Case:
    data = {"a": np.arange(COUNT) % 2, "b": np.arange(COUNT) // 2 % 2, "c": np.arange(COUNT) % 3}
    a, b = load("a", k.BOOL), load("b", k.BOOL)
    rows: dict[str, k.Expr] = {
        "and": k.Op(k.BOOL, "and", (a, b)),
        "or": k.Op(k.BOOL, "or", (a, b)),
        "not": k.Op(k.BOOL, "not", (a,)),
        "eq": op("eq", a, b),
        "select": op("select", a, b, k.Op(k.BOOL, "not", (b,))),
        "true": k.Op(k.BOOL, "or", (a, k.Const(k.BOOL, True))),
        "false": k.Op(k.BOOL, "and", (a, k.Const(k.BOOL, False))),
    }
    arrays = {n: (data[n] > 0).astype(np.uint8) for n in ("a", "b")}
    return elementwise("bool", rows, arrays, dict.fromkeys(arrays, k.BOOL))


# --- functions ------------------------------------------------------------------------------------


def _math_cases() -> Iterator[Case]:
    """Every row of MATH by its portable function; f16 and bf16 go through f32."""
    for name in k.MATH:
        yield _math_case(k.F32, [name])
    yield _math_case(k.F16, ["exp2", "tanh"])
    yield _math_case(k.BF16, ["log2", "sin"])


def _math_case(t: k.Type, names: Sequence[str]) -> Case:
    data = {n: pack(a, t) for n, a in zip("ab", reals(2, seed=5), strict=True)}
    rows: dict[str, k.Expr] = {n: op(n, *(load(x, t) for x in "ab"[: k.MATH[n]])) for n in names}
    used = data if any(k.MATH[n] > 1 for n in names) else {"a": data["a"]}
    case = elementwise(f"{t.value} {' '.join(names)}", rows, used, dict.fromkeys(used, t))
    expanded = expand_kernel(case.kernels[0])
    arrays = {**used, "out": blank(t, COUNT * len(names))}
    return kernel_case(case.name, expanded, arrays, COUNT, parts=case.parts)


# --- constants ------------------------------------------------------------------------------------


def _constants(t: k.Type) -> list[k.Const]:
    if t is k.BOOL:
        return [k.Const(t, False), k.Const(t, True)]
    if t.is_int:
        return [integer(n, t) for n in _edges(t)]
    named = [real(n, t) for n in ("inf", "-inf", "nan", "-0.0", "ln2", "log2e", "pi")]
    tiny = tuple(Fraction(1, 2**n) for n in (10, 24, 25, 126, 133, 134, 149, 150, 1074))
    other: tuple[Fraction | int, ...] = (
        0,
        1,
        -1,
        Fraction(1, 10),
        Fraction(-1, 3),
        16777217,
        65504,
        10**38,
        10**300,
    )
    largest = Fraction(
        float(FORMATS[t.value].largest)
    )  # beyond it a constant is an error, not an infinity
    finite = (Fraction(n) for n in (*tiny, *other, largest, -largest))
    return named + [real(n, t) for n in finite if abs(n) <= largest]


def _constant_case(t: k.Type) -> Case:
    """A thread per constant: out[i] = the i-th."""
    constants = _constants(t)
    body: list[k.Stmt] = [k.Store("out", integer(n), c) for n, c in enumerate(constants)]
    first = k.If(op("eq", ID, integer(0)), tuple(body))
    made = kernel(f"{t.value} constants", {"out": t}, [first], workgroup=1, scalars=())
    parts = tuple(str(c.value) for c in constants)
    return kernel_case(made.name, made, {"out": blank(t, len(constants))}, 1, parts=parts)


def _folded_case(t: k.Type) -> Case:
    """Operations over constants alone, which a compiler evaluates itself."""
    info = np.iinfo(dtype_of(t))
    low, high = integer(int(info.min), t), integer(int(info.max), t)
    seven, three = integer(7, t), integer(3, t)
    rows: list[k.Expr] = [op(n, seven, three) for n in ("add", "sub", "mul", "floordiv", "mod")]
    rows += [op("min", low, high), op("max", low, high), op("mod", high, seven)]
    rows += [
        op("floordiv", low, three),
        op("mod", low, three),
        op("select", op("lt", low, high), low, high),
    ]
    if t in (k.U8, k.U32):
        rows += [op("add", high, seven), op("sub", three, seven), op("mul", high, high)]
        rows += [op("neg", seven), op("shl", high, seven), op("shr", high, seven)]
        rows += [op("bxor", high, seven), op("bor", low, seven), op("band", high, seven)]
    else:
        rows += [
            op("neg", high),
            op("floordiv", integer(-7, t), three),
            op("mod", integer(-7, t), three),
        ]
    body = [k.Store("out", integer(n), e) for n, e in enumerate(rows)]
    made = kernel(f"{t.value} folded", {"out": t}, body, workgroup=1, scalars=())
    parts = tuple(f"row {n}" for n in range(len(rows)))
    return kernel_case(made.name, made, {"out": blank(t, len(rows))}, 1, parts=parts)


# --- conversions ----------------------------------------------------------------------------------


def _conversion_cases() -> Iterator[Case]:
    """Every pair of types but bool, by destination; wide sources in cases of their own."""
    wide = (k.I64, k.F64)
    types = [t for t in k.Type if t is not k.BOOL]
    for to in types:
        narrow = [t for t in types if t not in wide]
        yield _conversions(f"narrow to {to.value}", narrow, to)
        for source in wide:
            yield _conversions(f"{source.value} to {to.value}", [source], to)


def _conversions(name: str, sources: Sequence[k.Type], to: k.Type) -> Case:
    data = {f"from_{s.value}": _sources(s, to) for s in sources}
    types = {f"from_{s.value}": s for s in sources}
    rows: dict[str, k.Expr] = {n: k.Convert(to, load(n, s)) for n, s in types.items()}
    return elementwise(name, rows, data, types)


def _sources(source: k.Type, to: k.Type) -> Array:
    """COUNT values of a type whose conversion has a meaning."""
    rng = np.random.default_rng(11)
    if source.is_float and to.is_float:
        bits = rng.integers(0, 256, COUNT * source.bytes, dtype=np.uint8).view(dtype_of(source))
        return np.concatenate([pack(reals(1)[0], source)[: COUNT - 200], bits[:200]])
    if source.is_float:
        found = [float(v) for v in _edges(to) if abs(v) < 2**24]
        values = [v for v in found if _holds(source, v)]
    else:
        values = [v for v in _edges(source) if to.is_float or _fits(source, to, v)]
    chosen = np.array([values[i % len(values)] for i in rng.permutation(COUNT)])
    return pack(chosen, source)


def _holds(t: k.Type, value: float) -> bool:
    return bool(abs(value) <= 2 ** {k.F16: 11, k.BF16: 8}.get(t, 24))


def _fits(source: k.Type, to: k.Type, value: int) -> bool:
    """Into a signed type a value must fit; into an unsigned one it wraps."""
    if to in (k.U8, k.U32):
        return True
    info = np.iinfo(dtype_of(to))
    return int(info.min) <= value <= int(info.max)


def _bitcast_cases() -> Iterator[Case]:
    """Every pair of types of one size but bool; all bits survive, of NaNs that they are NaNs."""
    types = [t for t in k.Type if t is not k.BOOL]
    for to in types:
        sources = [t for t in types if t.bytes == to.bytes]
        data = {f"from_{s.value}": _patterns(s) for s in sources}
        named = {f"from_{s.value}": s for s in sources}
        rows: dict[str, k.Expr] = {n: k.Bitcast(to, load(n, s)) for n, s in named.items()}
        yield elementwise(f"bits to {to.value}", rows, data, named)


def _patterns(t: k.Type) -> Array:
    """Random bits without NaNs, whose payloads a float register need not keep."""
    rng = np.random.default_rng(13)
    words = rng.integers(0, 256, COUNT * t.bytes, dtype=np.uint8)
    top = words.reshape(COUNT, t.bytes)[:, -1]
    top &= 0xBF  # clears a bit of every exponent: no NaN and no infinity in any float format
    top[::3] &= 0x80  # zeros and subnormals
    return np.ascontiguousarray(words).view(dtype_of(t))
