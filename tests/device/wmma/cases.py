"""Products of warp matrices to ask of SIMT and of a GPU: kernels, bits of operands, the model's."""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np

from tang.device import Job, Poison, poisoned
from tang.emulator.fda import fda_bits
from tang.ir.format import any_format
from tang.ir.tensorcore import WMMA
from tang.kernel import ir as k

STEPS = 2
"""Products that follow each other in one sum: the second one's addend is the first one's result."""

PROBLEMS = 2
"""Of each regime."""

REGIMES = ("near", "cancelling", "wide", "tiny", "huge", "bits")

TYPES = {"f16": "half", "bf16": "__nv_bfloat16", "tf32": "wmma::precision::tf32", "f32": "float"}
FIELDS = {"f16": (5, 10), "bf16": (8, 7), "tf32": (8, 23), "f32": (8, 23)}


@dataclass(frozen=True, slots=True)
class Variant:
    """A shape with formats of operands, addend and result, and the layouts of a and b."""

    operands: str
    addend: str
    result: str
    shape: tuple[int, int, int]
    layouts: str

    @property
    def name(self):
        m, n, depth = self.shape
        formats = f"{self.operands}_{self.addend}_{self.result}"
        return f"{formats}_m{m}n{n}k{depth}_{self.layouts}"

    @property
    def symbol(self):
        return f"wmma_{self.name}"


def _variants():
    shapes = ((16, 16, 16), (32, 8, 16), (8, 32, 16))
    for layouts in ("row_col", "row_row", "col_col", "col_row"):
        yield Variant("tf32", "f32", "f32", (16, 16, 8), layouts)
        yield Variant("f16", "f32", "f32", shapes[0], layouts)
    for shape in shapes:
        yield Variant("bf16", "f32", "f32", shape, "row_col")
        yield Variant("f16", "f16", "f16", shape, "row_col")
    for shape in shapes[1:]:
        yield Variant("f16", "f32", "f32", shape, "row_row")
    yield Variant("f16", "f16", "f32", shapes[0], "row_col")
    yield Variant("f16", "f32", "f16", shapes[0], "row_col")


VARIANTS = {v.name: v for v in _variants()}

HEAD = """
#include <mma.h>
using namespace nvcuda;
template <class T, class P, class C, class D, int M, int N, int K, class LA, class LB>
__device__ void multiply(const P* a, const P* b, const C* c, D* d, int lda, int ldb, int steps) {
  wmma::fragment<wmma::matrix_a, M, N, K, T, LA> left;
  wmma::fragment<wmma::matrix_b, M, N, K, T, LB> right;
  wmma::fragment<wmma::accumulator, M, N, K, C> addend;
  wmma::fragment<wmma::accumulator, M, N, K, D> sum;
  wmma::load_matrix_sync(addend, c + blockIdx.x * M * N, N, wmma::mem_row_major);
  a += blockIdx.x * steps * M * K;
  b += blockIdx.x * steps * N * K;
  for (int s = 0; s < steps; ++s) {
    wmma::load_matrix_sync(left, a + s * M * K, lda);
    wmma::load_matrix_sync(right, b + s * N * K, ldb);
    if (s == 0) wmma::mma_sync(sum, left, right, addend);
    else wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(d + blockIdx.x * M * N, sum, N, wmma::mem_row_major);
}
"""


def text_of(variants):
    """One kernel of each variant; a block computes one problem."""
    return HEAD + "\n".join(map(_kernel, variants)) + "\n"


def _kernel(v):
    m, n, depth = v.shape
    stored = "float" if v.operands == "tf32" else TYPES[v.operands]
    left, right = v.layouts.split("_")
    addend, result = TYPES[v.addend], TYPES[v.result]
    types = f"{TYPES[v.operands]}, {stored}, {addend}, {result}, {m}, {n}, {depth}"
    lda, ldb = (depth if left == "row" else m), (n if right == "row" else depth)
    return f"""
extern "C" __global__ void {v.symbol}(const {stored}* a, const {stored}* b, const {addend}* c,
                                     {result}* d) {{
  multiply<{types}, wmma::{left}_major, wmma::{right}_major>(a, b, c, d, {lda}, {ldb}, {STEPS});
}}"""


MEMORY = {"f16": k.F16, "bf16": k.BF16, "tf32": k.F32, "f32": k.F32}


def kernel_of(v):
    """The kernel's parameters as a device wants them."""
    formats = (v.operands, v.operands, v.addend, v.result)
    params = (
        k.Param(name, MEMORY[f], name == "d") for name, f in zip("abcd", formats, strict=True)
    )
    return k.Kernel(v.symbol, tuple(params), (), (), workgroup=32)


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Bits of a [problem, step, row, term], b [problem, step, column, term] and c."""

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray


def problem(v):
    """The operands of a variant, the same on every machine."""
    m, n, depth = v.shape
    draw = Draw(sorted(VARIANTS).index(v.name))
    parts = []
    for regime in REGIMES:
        a = draw.bits(v.operands, (PROBLEMS, STEPS, m, depth), regime)
        b = draw.bits(v.operands, (PROBLEMS, STEPS, n, depth), regime)
        c = draw.bits(v.addend, (PROBLEMS, m, n), regime)
        if regime == "cancelling":
            _cancel(a, b, v.operands)
        a[0, :, 0], c[0, 1::2] = 0, 0  # a row of zeros, addends of zero in others
        if regime == "bits":
            _plant_specials(a, v.operands)
        parts.append((a, b, c))
    return Problem(*(np.concatenate(x) for x in zip(*parts, strict=True)))


def _cancel(a, b, name):
    """Two large products of opposite signs in each row; every other step undoes the one before."""
    e, m = FIELDS[name]
    sign, large = a.dtype.type(1 << (e + m)), a.dtype.type((2 ** (e - 1) + 8) << m)
    a[..., 0] = a[..., 0] & a.dtype.type(2**m - 1) | large
    b[..., 0] = b[..., 0] & b.dtype.type(2**m - 1) | large
    a[..., 1], b[..., 1] = a[..., 0] ^ sign, b[..., 0]
    a[1, 1, :, 3:6], b[1, 1, :, 3:6] = a[1, 0, :, 3:6] ^ sign, b[1, 0, :, 3:6]


def _plant_specials(a, name):
    """An infinity in row 1, a NaN in row 2, infinities of both signs in row 3."""
    e, m = FIELDS[name]
    infinity = a.dtype.type((2**e - 1) << m)
    a[0, 0, 1:4, 0] = infinity, infinity | a.dtype.type(2 ** (m - 1)), infinity
    a[0, 0, 3, 1] = infinity | a.dtype.type(1 << (e + m))


class Draw:
    """Bits of a generator whose stream NumPy promises to keep."""

    def __init__(self, seed):
        self._raw = np.random.PCG64(seed)

    def below(self, limit, shape):
        return self._raw.random_raw(int(np.prod(shape))).reshape(shape) % np.uint64(limit)

    def bits(self, name, shape, regime):
        """Numbers of a format; NaN and infinities in "bits" alone."""
        e, m = FIELDS[name]
        bias, top = 2 ** (e - 1) - 1, 2**e - 2
        low, high = {
            "near": (bias - 4, bias + 4),
            "cancelling": (bias - 4, bias + 4),
            "wide": (max(bias - 40, 0), min(bias + 40, top)),
            "tiny": (bias - 78, bias - 62) if e == 8 else (0, 9),  # about floors and subnormals
            "huge": (bias + 57, bias + 65) if e == 8 else (bias + 6, top),
            "bits": (0, top + 1),
        }[regime]
        if name == "f32" and regime == "tiny":
            low, high = 0, 8
        if name == "f32" and regime == "huge":
            low, high = top - 4, top
        exponent = self.below(high - low + 1, shape) + np.uint64(low)
        if regime == "bits":  # most rows stay finite
            special = (exponent > top) & (self.below(16, shape) > 0)
            exponent = np.where(special, np.uint64(bias), exponent)
        value = self.below(2, shape) << np.uint64(e + m) | exponent << np.uint64(m)
        value |= self.below(2**m, shape)
        return value.astype(np.uint32 if e + m == 31 else np.uint16)


def values(bits, name):
    """The numbers that bits are."""
    kind = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}.get(name, np.float32)
    found = bits.view(kind)
    return found.astype(np.float32) if name == "bf16" else found


def expected(v, given, models=WMMA):
    """The bits of d by the emulator: products one after the other."""
    total, held = given.c, v.addend
    for step in range(STEPS):
        inside = "f16" if held == v.result == "f16" else "f32"
        a, b = (values(np.ascontiguousarray(x[:, step]), v.operands) for x in (given.a, given.b))
        with np.errstate(all="ignore"):
            addend = values(total, held).astype(np.float64)
            sums = fda_bits(a[:, :, None], b[:, None], addend, models[v.operands, inside])
            total = sums if inside == v.result else _narrowed(sums)
        held = v.result
    return total


def _narrowed(bits):
    """f32 results in f16: a conversion of its own, to nearest."""
    single = bits.view(np.float32)
    half = single.astype(np.float16).view(np.uint16)
    return np.where(np.isnan(single), np.uint16(0x7FFF), half)


def job_of(compiled, v, given):
    """The launch that computes all problems, and leaves d as the last memory."""
    left, right = v.layouts.split("_")
    a = given.a if left == "row" else given.a.swapaxes(2, 3)
    b = given.b if right == "col" else given.b.swapaxes(2, 3)
    formats = (v.operands, v.operands, v.addend)
    buffers = (
        np.ascontiguousarray(x).view(_numpy(f))
        for x, f in zip((a, b, given.c), formats, strict=True)
    )
    d = poisoned(MEMORY[v.result], given.c.shape, Poison.NAN)
    return Job(compiled, (*buffers, d), (), len(given.c))


def _numpy(name):
    return {"f16": np.float16, "bf16": np.uint16}.get(name, np.float32)


def found(ran, v):
    """The bits of d."""
    width = any_format(v.result).bits
    return ran.memories[-1].data.view(f"u{width // 8}")
