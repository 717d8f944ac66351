"""Fused dot-product-adds in C: the numbers of `emulator/fda.py`, about five times faster.

Defines `TEXT`, `suits` and `run`. Relies on `emulator/rounder_build.py` for the compiler. It
decides nothing: whatever it returns, NumPy would return too.

A conversion to a 32-bit integer truncates towards zero; |a·b·2^(F−E)| < 2^(F+2) fits for F ≤ 28.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from tang.ir.format import any_format
from tang.ir.tensorcore import FusedDot

if TYPE_CHECKING:
    from tang.emulator.fda import Work

F64Array = npt.NDArray[np.float64]

_MOST_BITS: Final = 28

TEXT: Final = r"""
#include <stdint.h>
#include <string.h>
#include <float.h>
#include <math.h>
#if FLT_EVAL_METHOD != 0
#error "doubles are evaluated in another precision"
#endif
typedef struct {
  double largest;
  int32_t fraction, floor, p, emin, least, nearest, joined, half, terms, groups;
} model;
static double of(uint64_t u) { double d; memcpy(&d, &u, 8); return d; }
static uint64_t bits(double d) { uint64_t u; memcpy(&u, &d, 8); return u; }
static double power(int n) { return of((uint64_t)(n + 1023) << 52); }
static int exponent(double v) { return (int)((bits(v) >> 52) & 0x7FF) - 1023; }
static double nearest(double v, int p, int emin) {
  uint64_t s = bits(v) & 0x8000000000000000ull;
  double a = of(bits(v) ^ s);
  int e = exponent(v);
  double c = 1.5 * power((e < emin ? emin : e) + 53 - p);
  return of(bits((a + c) - c) | s);
}
static double towards_zero(double v, int p, int emin) {
  int e = exponent(v), drop = 53 - p + (e < emin ? emin - e : 0);
  return drop > 52 ? 0.0 : of(bits(v) & ~(((uint64_t)1 << drop) - 1u));
}
static double rounded(double v, const model *m) {
  double r = m->nearest ? nearest(v, m->p, m->emin) : towards_zero(v, m->p, m->emin);
  if (fabs(r) > m->largest) r = r > 0 ? INFINITY : -INFINITY;
  return r + 0.0;
}
static inline double group(const double *a, const int16_t *ea, const double *b,
    const int16_t *eb, double c, int terms, const model *m) {
  int16_t top = (int16_t)m->floor;
  for (int t = 0; t < terms; t++) {
    int16_t e = (int16_t)(ea[t] + eb[t]);
    top = e > top ? e : top;
  }
  int e = exponent(c);
  e = e < m->least ? m->least : e;
  if (c != 0.0 && e > top) top = (int16_t)e;
  double scale = power(m->fraction - top);
  double s0 = (double)(int32_t)(c * scale), s1 = 0.0, s2 = 0.0, s3 = 0.0;
  for (int t = 0; t < terms; t += 4) {
    s0 += (double)(int32_t)(a[t] * b[t] * scale);
    s1 += (double)(int32_t)(a[t + 1] * b[t + 1] * scale);
    s2 += (double)(int32_t)(a[t + 2] * b[t + 2] * scale);
    s3 += (double)(int32_t)(a[t + 3] * b[t + 3] * scale);
  }
  double total = (s0 + s1) + (s2 + s3);
  return rounded(total * power(top - m->fraction), m);
}
static double special(const double *a, const double *b, double c, int terms) {
  int plus = c == INFINITY, minus = c == -INFINITY, none = c != c;
  for (int t = 0; t < terms; t++) {
    double p = a[t] * b[t];
    plus |= p == INFINITY;
    minus |= p == -INFINITY;
    none |= p != p;
  }
  if (none || (plus && minus)) return NAN;
  return plus ? INFINITY : minus ? -INFINITY : 0.0;
}
static double added(double t, double c, const model *m) {
  double r = m->half ? t + c : (double)((float)t + (float)c);
  if (!m->half || !(fabs(r) < INFINITY)) return r;
  double v = nearest(r, 11, -14);
  return fabs(v) > 65504.0 ? (v > 0 ? INFINITY : -INFINITY) : v;
}
static inline void chains(const double *a, const int16_t *ea, const uint8_t *sa,
    const int64_t *ra, const double *b, const int16_t *eb, const uint8_t *sb, const int64_t *rb,
    const double *c, double *out, int64_t n, int64_t length, int terms, const model *m) {
  int64_t whole = (int64_t)terms * m->groups;
  for (int64_t i = 0; i < n; i++) {
    int64_t x = ra[i] * length, y = rb[i] * length;
    int odd = sa[ra[i]] | sb[rb[i]];
    double sum = c[i];
    for (int64_t k = 0; k < length; k += whole) {
      double t = m->joined ? sum : 0.0;
      for (int64_t j = k; j < k + whole; j += terms) {
        double s = 0.0;
        if (odd || !(fabs(t) < INFINITY)) s = special(a + x + j, b + y + j, t, terms);
        t = s == 0.0 ? group(a + x + j, ea + x + j, b + y + j, eb + y + j, t, terms, m) : s;
      }
      sum = m->joined ? t : added(t, sum, m);
    }
    out[i] = sum;
  }
}
#define ARGUMENTS a, ea, sa, ra, b, eb, sb, rb, c, out, n, length
void tang_fda(const double *a, const int16_t *ea, const uint8_t *sa, const int64_t *ra,
    const double *b, const int16_t *eb, const uint8_t *sb, const int64_t *rb,
    const double *c, double *out, int64_t n, int64_t length, const model *m) {
  if (m->terms == 4) chains(ARGUMENTS, 4, m);
  else if (m->terms == 8) chains(ARGUMENTS, 8, m);
  else if (m->terms == 16) chains(ARGUMENTS, 16, m);
  else if (m->terms == 32) chains(ARGUMENTS, 32, m);
  else chains(ARGUMENTS, m->terms, m);
}
"""


class _Model(ctypes.Structure):
    _fields_ = (
        ("largest", ctypes.c_double),
        *(
            (name, ctypes.c_int32)
            for name in ("fraction", "floor", "p", "emin", "least", "nearest", "joined", "half",
                         "terms", "groups")
        ),
    )  # fmt: skip


def suits(atom: FusedDot) -> bool:
    """Whether C computes this atom: truncated sums in groups of one multiple of four terms."""
    sizes = {len(group) for group in atom.groups}
    narrow = atom.fraction is not None and atom.fraction <= _MOST_BITS
    known = atom.rounding in ("rne", "rz") and any_format(atom.output).p <= 24
    return narrow and known and len(sizes) == 1 and min(sizes) % 4 == 0


def _model(atom: FusedDot) -> _Model:
    target = any_format(atom.output)
    return _Model(
        float(target.largest),
        atom.fraction,
        atom.floor,
        target.p,
        target.emin,
        any_format(atom.result).emin,
        atom.rounding == "rne",
        atom.joined,
        atom.result == "f16",
        len(atom.groups[0]),
        len(atom.groups),
    )


def _pointer(array: npt.NDArray[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def run(work: Work, atom: FusedDot, library: ctypes.CDLL) -> F64Array:
    """The flat results, of an atom that `suits`."""
    out = np.empty_like(work.c)
    special = [operand.special.astype(np.uint8) for operand in (work.a, work.b)]
    function = library["tang_fda"]
    function.restype = None
    function(
        *(_pointer(v) for v in (work.a.values, work.a.exponents, special[0], work.rows[0])),
        *(_pointer(v) for v in (work.b.values, work.b.exponents, special[1], work.rows[1])),
        _pointer(work.c),
        _pointer(out),
        ctypes.c_int64(out.size),
        ctypes.c_int64(work.a.values.shape[1]),
        ctypes.byref(_model(atom)),
    )
    return out
