"""Coefficients of the portable maths, lowest first, as exact hexadecimal f32 numbers.

Written by `tools/fit_maths.py`; do not edit. The errors named are those of the polynomials alone.
It does not say how they are evaluated: that is in the modules that use them.
"""

from __future__ import annotations

from typing import Final


def _row(*cells: str) -> tuple[float, ...]:
    return tuple(float.fromhex(c) for c in cells)


# 2^r = 1 + r·p(r) on [-0.5, 0.5], relative error 2^-28.32
EXP2: Final = _row(
    "0x1.62e4300000000p-1",
    "0x1.ebfbdc0000000p-3",
    "0x1.c6af7c0000000p-5",
    "0x1.3b2de00000000p-7",
    "0x1.5f082e0000000p-10",
    "0x1.416b520000000p-13",
)

# e^r = 1 + r + r²·p(r) on [-0.34692, 0.34692], relative error 2^-28.25
EXP: Final = _row(
    "0x1.fffffc0000000p-2",
    "0x1.5554920000000p-3",
    "0x1.5558b40000000p-5",
    "0x1.12399c0000000p-7",
    "0x1.6a48fc0000000p-10",
)

# log((1+s)/(1−s)) = 2s + s·z·p(z), z = s² on [0, 0.0294962], relative error 2^-35.23
LOG: Final = _row(
    "0x1.5555540000000p-1",
    "0x1.999c260000000p-2",
    "0x1.23d3e00000000p-2",
    "0x1.f13b000000000p-3",
)

# sin r = r + r·z·p(z), z = r² on [0, 0.616974], relative error 2^-32.52
SIN: Final = _row(
    "-0x1.5555560000000p-3",
    "0x1.1111740000000p-7",
    "-0x1.a059560000000p-13",
    "0x1.7c2da40000000p-19",
)

# cos r = 1 − z/2 + z²·p(z), z = r² on [0, 0.616974], relative error 2^-32.99
COS: Final = _row(
    "0x1.55554a0000000p-5",
    "-0x1.6c0c280000000p-10",
    "0x1.99e80c0000000p-16",
)

# atan t = t + t·z·p(z), z = t² on [0, 1], relative error 2^-28.51
ATAN: Final = _row(
    "-0x1.55553e0000000p-2",
    "0x1.9991e40000000p-3",
    "-0x1.2420860000000p-3",
    "0x1.c08c4e0000000p-4",
    "-0x1.58091c0000000p-4",
    "0x1.da2a140000000p-5",
    "-0x1.fd7e480000000p-6",
    "0x1.6425580000000p-7",
    "-0x1.d35bd40000000p-10",
)

# tanh x = x + x·z·p(z), z = x² on [0, 0.4], relative error 2^-27.53
TANH: Final = _row(
    "-0x1.55552e0000000p-2",
    "0x1.1106140000000p-3",
    "-0x1.b8173a0000000p-5",
    "0x1.512d420000000p-6",
    "-0x1.716c240000000p-8",
)

# erf x = x + x·p(z), z = x² on [0, 0.875], relative error 2^-30.05
ERF: Final = _row(
    "0x1.06eba80000000p-3",
    "-0x1.8127400000000p-2",
    "0x1.ce2d640000000p-4",
    "-0x1.b8011e0000000p-6",
    "0x1.544a7c0000000p-8",
    "-0x1.a610040000000p-11",
    "0x1.4f83740000000p-14",
)

# log erfc x = x·p(x) on [0.93, 3.95], relative error 2^-32.30
ERFC: Final = _row(
    "-0x1.20e9560000000p+0",
    "-0x1.456b660000000p-1",
    "-0x1.af7a120000000p-4",
    "0x1.74d9400000000p-6",
    "-0x1.86c66a0000000p-9",
    "0x1.1de2d60000000p-14",
    "0x1.5fba860000000p-15",
    "-0x1.373fa40000000p-18",
)
