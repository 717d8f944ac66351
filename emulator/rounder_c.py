"""The rounder in C: the same numbers as `emulator/rounder.py`, several times faster.

Defines `round_array_c` and what it can do, `suits`. Relies on `emulator/rounder_build.py` for the
compiler. It decides nothing: whatever it returns, NumPy would return too.

Adding and subtracting c = 1.5·2^(53−p)·2^e rounds |x| < 2^(e+1) to nearest even at the quantum
2^(e−p+1), because the sum lies in the binade of c; exact for p ≤ 51 while c is finite.
"""

from __future__ import annotations

import ctypes
from typing import Final

import numpy as np
import numpy.typing as npt

from tang.emulator.rounder import Rounder
from tang.emulator.rounder_random import start_of

F64Array = npt.NDArray[np.float64]

_HEAD: Final = r"""
#include <stdint.h>
#include <string.h>
#include <float.h>
#if FLT_EVAL_METHOD != 0
#error "doubles are evaluated in another precision"
#endif
static double of(uint64_t u) { double d; memcpy(&d, &u, 8); return d; }
static uint64_t bits(double d) { uint64_t u; memcpy(&u, &d, 8); return u; }
static double uniform(uint64_t start, uint64_t position) {
  uint64_t z = (position + 1u) * 0x9E3779B97F4A7C15ull + start;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  z ^= z >> 31;
  return (double)(int64_t)(z >> 11) * 0x1p-53;
}
"""

_LOOP: Final = r"""
void tang_round_%(name)s(const double *restrict x, double *restrict y, int64_t n,
    double lowest, double highest, double magic, double unit, double largest, double beyond,
    double smallest, uint64_t start, uint64_t first) {
  for (int64_t lo = 0; lo < n; lo += 1024) {
    int64_t hi = lo + 1024 < n ? lo + 1024 : n;
    %(before)s
    for (int64_t i = lo; i < hi; i++) {
      uint64_t u = bits(x[i]), s = u & 0x8000000000000000ull;
      double a = of(u ^ s), w = of(u & 0x7FF0000000000000ull);
      w = w > lowest ? w : lowest;
      w = w < highest ? w : highest;
      double c = w * magic, q = w * unit, r = (a + c) - c;
      %(step)s
      r = r > largest ? beyond : r;
      r = r < smallest ? 0.0 : r;
      y[i] = of(bits(r) | s);
    }
  }
}
"""

_DRAW: Final = "for (int64_t i = lo; i < hi; i++) y[i] = uniform(start, first + (uint64_t)i);"
_STEPS: Final = {
    "rne": "",
    "rz": "r -= r > a ? q : 0.0;",
    "rna": "r += a - r == 0.5 * q ? q : 0.0;",
    "stochastic": "r -= r > a ? q : 0.0;\n    r += y[i] * q < a - r ? q : 0.0;",
}

TEXT: Final = _HEAD + "".join(
    _LOOP % {"name": name, "step": step, "before": _DRAW if name == "stochastic" else ""}
    for name, step in _STEPS.items()
)


def suits(how: Rounder) -> bool:
    """Whether C computes this rounding: p ≤ 51, no tiny quantum, a finite magic number."""
    if how.p > 51 or how.lowest * how.unit < 2.0**-960:  # random numbers times q are exact
        return False
    return how.highest <= 2.0 ** (968 + how.p)


def round_array_c(x: F64Array, how: Rounder, first: int, library: ctypes.CDLL) -> F64Array:
    """`round_array` of a flat contiguous array that `suits`."""
    out = np.empty_like(x)
    function = library[f"tang_round_{how.rounding}"]
    function.restype = None
    magic = 1.5 * 2.0 ** (53 - how.p)
    numbers = (how.lowest, how.highest, magic, how.unit, how.largest, how.beyond, how.smallest)
    function(
        ctypes.c_void_p(x.ctypes.data),
        ctypes.c_void_p(out.ctypes.data),
        ctypes.c_int64(x.size),
        *(ctypes.c_double(v) for v in numbers),
        ctypes.c_uint64(start_of(how.seed)),
        ctypes.c_uint64(first),
    )
    if not how.negative_zero:
        np.add(out, 0.0, out=out)
    return out
