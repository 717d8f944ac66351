"""Every operation of the kernel IR, compiled as C, gives the bits of NumPy or of exact maths."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from tang.emit.literal import round_to
from tang.ir.format import FORMATS
from tang.kernel import ir as k

pytestmark = pytest.mark.filterwarnings(  # ml_dtypes signals on NaN where NumPy is silent
    "ignore:invalid value encountered:RuntimeWarning"
)

SPECIAL = (
    0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, np.inf, -np.inf, np.nan, 1 / 3, 65504.0, 65520.0,
    1e-5, 6e-8, 3e-8, 1e-40, -1e-45, 3.4028235e38, 1e300, 5e-324, 2.0**31, -7.25,
)  # fmt: skip
DTYPES = {
    k.F16: np.dtype(np.float16), k.BF16: np.dtype(ml_dtypes.bfloat16),
    k.F32: np.dtype(np.float32), k.F64: np.dtype(np.float64),
}  # fmt: skip
FLOATS = tuple(DTYPES)


def element(name, t):
    return k.Load(t, name, k.Var(k.I64, "global_id"))


def storage(x):
    return x.view(np.uint16) if x.dtype == ml_dtypes.bfloat16 else x


def same_bits(got, want):
    """Equal bits, all NaNs being one value."""
    bits = np.dtype(f"u{want.dtype.itemsize}")
    value = got.view(want.dtype)
    equal = got.view(bits) == np.ascontiguousarray(want).view(bits)
    return bool(np.all(equal | (np.isnan(value) & np.isnan(want))))


def pairs(t):
    """All pairs of special values, then random ones over the whole range of the type."""
    rng = np.random.default_rng(7)
    with np.errstate(over="ignore"):
        special = np.array(SPECIAL).astype(DTYPES[t])
        random = np.ldexp(rng.uniform(-2, 2, (2, 3000)), rng.integers(-20, 15, (2, 3000)))
        a, b = np.meshgrid(special, special)
        near = random.astype(DTYPES[t])
    return np.concatenate([a.ravel(), near[0]]), np.concatenate([b.ravel(), near[1]])


@pytest.fixture(params=FLOATS, ids=lambda t: t.value)
def t(request):
    return request.param


def test_float_arithmetic_rounds_once(t, evaluate):
    a, b = pairs(t)
    x, y = element("a", t), element("b", t)
    cases = {name: k.Op(t, name, (x, y)) for name in ("add", "sub", "mul", "div")}
    cases |= {name: k.Op(t, name, (x,)) for name in ("neg", "sqrt", "floor")}
    got = evaluate(cases, a=storage(a), b=storage(b))
    with np.errstate(all="ignore"):
        want = {
            "add": a + b, "sub": a - b, "mul": a * b, "div": a / b,
            "neg": -a, "sqrt": np.sqrt(a), "floor": np.floor(a),
        }  # fmt: skip
    for name, w in want.items():
        assert same_bits(got[name], w.astype(DTYPES[t])), name


def test_comparisons_and_nan_tests_are_ieee(t, evaluate):
    a, b = pairs(t)
    x, y = element("a", t), element("b", t)
    cases = {name: k.Op(k.BOOL, name, (x, y)) for name in ("lt", "le", "eq")}
    cases["isnan"] = k.Op(k.BOOL, "isnan", (x,))
    got = evaluate(cases, a=storage(a), b=storage(b))
    want = {"lt": a < b, "le": a <= b, "eq": a == b, "isnan": np.isnan(a)}
    for name, w in want.items():
        assert got[name].tolist() == w.astype(int).tolist(), name


def test_select_takes_one_branch(t, evaluate):
    a, b = pairs(t)
    x, y = element("a", t), element("b", t)
    less = k.Op(k.BOOL, "lt", (x, y))
    got = evaluate({"s": k.Op(t, "select", (less, x, y))}, a=storage(a), b=storage(b))
    assert same_bits(got["s"], np.where(a < b, a, b))


def exact_fma(a, b, c, name):
    """The product and sum rounded once, for finite operands and a finite result."""
    return [
        float(round_to(Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)), FORMATS[name]))
        for x, y, z in zip(a, b, c, strict=True)
    ]


def test_fma_is_fused(t, evaluate):
    rng = np.random.default_rng(3)
    p = FORMATS[t.value].p
    scale = np.ldexp(1.0, rng.integers(-6, 6, (3, 4000)))
    a, b, c = (1 + rng.integers(0, 2 ** (p - 1), (3, 4000)) / 2.0 ** (p - 1)) * scale
    a, b, c = (v.astype(DTYPES[t]) for v in (a, b, c))
    with np.errstate(over="ignore"):  # cancelling and nearly tied cases
        c[:1000] = -(a[:1000].astype(float) * b[:1000].astype(float)).astype(DTYPES[t])
        tiny = np.ldexp(1.0, -rng.integers(0, 24, 1000))
        c[1000:2000] = tiny.astype(DTYPES[t])
    operands = tuple(element(n, t) for n in "abc")
    got = evaluate({"f": k.Op(t, "fma", operands)}, a=storage(a), b=storage(b), c=storage(c))
    want = np.array(exact_fma(a, b, c, t.value)).astype(DTYPES[t])
    nonzero = want != 0  # an exact zero has the sign that IEEE gives it, which Fraction lacks
    assert same_bits(got["f"][nonzero], want[nonzero])
    assert (got["f"].view(DTYPES[t])[~nonzero] == 0).all()


def test_fma_of_special_values_is_ieee(t, evaluate):
    big = float(FORMATS[t.value].largest)
    a = np.array([np.inf, np.inf, np.nan, 1, big, -big, 0, -0.0, 1]).astype(DTYPES[t])
    b = np.array([0, 1, 1, 1, big, big, 1, 1, 1]).astype(DTYPES[t])
    c = np.array([1, -np.inf, 1, np.inf, big, 0, -0.0, -0.0, -1]).astype(DTYPES[t])
    operands = tuple(element(n, t) for n in "abc")
    got = evaluate({"f": k.Op(t, "fma", operands)}, a=storage(a), b=storage(b), c=storage(c))["f"]
    want = [np.nan, np.nan, np.nan, np.inf, np.inf, -np.inf, 0.0, -0.0, 0.0]
    assert same_bits(got, np.array(want).astype(DTYPES[t]))


INTS = {k.U8: np.uint8, k.I32: np.int32, k.U32: np.uint32, k.I64: np.int64}


@pytest.mark.parametrize("t", INTS, ids=lambda t: t.value)
def test_integer_arithmetic_is_exact(t, evaluate):
    rng = np.random.default_rng(1)
    low = -15 if t in (k.I32, k.I64) else 0
    a = rng.integers(low, 16, 500).astype(INTS[t])
    b = rng.integers(1, 16, 500).astype(INTS[t])
    x, y = element("a", t), element("b", t)
    names = ("add", "mul", "floordiv", "mod", "min", "max")
    cases = {n: k.Op(t, n, (x, y)) for n in names}
    got = evaluate(cases, a=a, b=b)
    want = {
        "add": a + b, "mul": a * b, "floordiv": a // b, "mod": a % b,
        "min": np.minimum(a, b), "max": np.maximum(a, b),
    }  # fmt: skip
    for name, w in want.items():
        assert got[name].tolist() == w.tolist(), name


@pytest.mark.parametrize("t", [k.I32, k.I64], ids=lambda t: t.value)
def test_division_rounds_down_at_the_borders(t, evaluate):
    info = np.iinfo(INTS[t])
    a = np.array([info.min, info.min + 1, -1, 0, info.max] * 3, INTS[t])
    b = np.repeat(np.array([1, 2, info.max], INTS[t]), 5)
    x, y = element("a", t), element("b", t)
    got = evaluate({n: k.Op(t, n, (x, y)) for n in ("floordiv", "mod")}, a=a, b=b)
    assert got["floordiv"].tolist() == [int(p) // int(q) for p, q in zip(a, b, strict=True)]
    assert got["mod"].tolist() == [int(p) % int(q) for p, q in zip(a, b, strict=True)]


@pytest.mark.parametrize("t", [k.U8, k.U32], ids=lambda t: t.value)
def test_unsigned_arithmetic_wraps_and_shifts(t, evaluate):
    width = 8 * t.bytes
    rng = np.random.default_rng(2)
    a = rng.integers(0, 2**width, 500, dtype=np.uint64)
    b = rng.integers(0, 2**width, 500, dtype=np.uint64)
    s = rng.integers(0, width, 500, dtype=np.uint64)
    x, y, z = (element(n, t) for n in "abs")
    both = {n: k.Op(t, n, (x, y)) for n in ("add", "sub", "mul", "band", "bor", "bxor")}
    shifts = {n: k.Op(t, n, (x, z)) for n in ("shl", "shr")}
    shifts["shl3"] = k.Op(t, "shl", (x, k.Const(t, 3)))
    shifts["neg"] = k.Op(t, "neg", (x,))
    got = evaluate(
        both | shifts, **{n: v.astype(INTS[t]) for n, v in zip("abs", (a, b, s), strict=True)}
    )
    want = {
        "add": a + b, "sub": a - b, "mul": a * b, "band": a & b, "bor": a | b, "bxor": a ^ b,
        "shl": a << s, "shr": a >> s, "shl3": a << np.uint64(3), "neg": np.uint64(0) - a,
    }  # fmt: skip
    for name, w in want.items():
        assert got[name].tolist() == w.astype(INTS[t]).tolist(), name


def test_logic_follows_truth_tables(evaluate):
    a = np.array([0, 0, 1, 1], np.uint8)
    b = np.array([0, 1, 0, 1], np.uint8)
    x, y = element("a", k.BOOL), element("b", k.BOOL)
    cases = {n: k.Op(k.BOOL, n, (x, y)) for n in ("and", "or", "eq")}
    cases["not"] = k.Op(k.BOOL, "not", (x,))
    cases["nest"] = k.Op(k.BOOL, "and", (cases["or"], k.Op(k.BOOL, "or", (cases["not"], y))))
    got = evaluate(cases, a=a, b=b)
    assert {n: v.tolist() for n, v in got.items()} == {
        "and": [0, 0, 0, 1], "or": [0, 1, 1, 1], "eq": [1, 0, 0, 1], "not": [1, 1, 0, 0],
        "nest": [0, 1, 0, 1],
    }  # fmt: skip


def test_a_bool_is_true_for_every_nonzero_byte(evaluate):
    a = np.array([0, 1, 2, 0xA5], np.uint8)
    x = element("a", k.BOOL)
    got = evaluate({"eq": k.Op(k.BOOL, "eq", (x, k.Const(k.BOOL, True)))}, a=a)
    assert got["eq"].tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize("t", [k.F32, k.F64], ids=lambda t: t.value)
def test_native_functions_are_those_of_the_host(t, evaluate):
    a = np.linspace(0.1, 3, 50).astype(DTYPES[t])
    x = element("a", t)
    unary = {"exp2": np.exp2, "log2": np.log2, "sin": np.sin, "exp": np.exp, "log": np.log,
             "tanh": np.tanh, "cos": np.cos}  # fmt: skip
    cases = {n: k.Op(t, n, (x,)) for n in (*unary, "erf")}
    cases["atan2"] = k.Op(t, "atan2", (x, k.Const(t, Fraction(1, 2))))
    got = evaluate(cases, a=a)
    eps = np.finfo(a.dtype).eps
    for name, f in unary.items():
        assert np.allclose(got[name], f(a.astype(float)), rtol=4 * eps, atol=4 * eps), name
    assert np.allclose(got["atan2"], np.arctan2(a.astype(float), 0.5), rtol=4 * eps)
