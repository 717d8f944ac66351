"""erf in single IEEE f32 operations, without fma.

Defines one constructor of a kernel-IR function. Relies on the table of coefficients and on the
exponential. It does not choose where a function is called.
"""

from __future__ import annotations

from tang.kernel.expand.build import MAGNITUDE, SIGN, Builder, horner, keep_nan
from tang.kernel.expand.coefficients import ERF, ERFC
from tang.kernel.expand.exponential import at_most, exp_of
from tang.kernel.ir import Function

SERIES = 0.9375
FLAT = 3.9375
"""From here on erfc x < 2⁻²⁵, so erf x rounds to 1."""


def erf() -> Function:
    """erf x: an odd polynomial near 0, else 1 − e^(x·p(x))."""
    b = Builder()
    x = b.param("x")
    sign = x.bits() & SIGN
    positive = (x.bits() & MAGNITUDE).as_f32()
    z = positive * positive
    near = positive + positive * horner(z, ERF)
    inside = at_most(positive, FLAT)
    far = 1 - exp_of(inside * horner(inside, ERFC))
    result = (positive < SERIES).choose(near, far)
    return b.function("erf", keep_nan(x, (result.bits() | sign).as_f32()))
