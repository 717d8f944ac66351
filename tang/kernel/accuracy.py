"""Accuracy of builtin functions: what languages promise, and what was measured, as data.

Defines `Claim`, `DOCUMENTED`, `LIBRARY`, `DIVISION`, `PORTABLE`, `UNPORTED` and `Accuracy`. Relies
on the types of the kernel IR. It measures nothing (`tang/device/functions.py` does) and judges
nothing (the rung `expand` does).

Errors are in ulps of the result's format at the true value. Documents mostly count from the
correctly rounded result, so half an ulp is added to every claim by whoever applies it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tang.kernel.ir import Type

FUNCTIONS: Final = ("exp2", "log2", "sin", "cos", "atan2", "erf", "exp", "log", "tanh")
"""Functions of MATH that some language has as a builtin; sigmoid is one nowhere."""

FROM_RN: Final = 0.5
"""In ulps: documents count from the correctly rounded result, claims from the true value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A promise for arguments with low ≤ |x| ≤ high: ulp + per·|x| ulps, or an absolute error.

    Of |x| no more than `most` counts. Of a function of two arguments both must lie there. A signed
    domain has `signed`: low ≤ x ≤ high.
    """

    ulp: float = 0.0
    per: float = 0.0
    most: float = math.inf
    absolute: float = 0.0
    low: float = 0.0
    high: float = math.inf
    signed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Documented:
    """What a language says of its builtins.

    rows      function → its claims, of which the first one whose domain holds counts; where none
              does, nothing is promised
    ieee      whether subnormals, infinities and NaN are treated as in C's Annex F; else nothing is
              promised of subnormal and non-finite arguments, and results below the smallest normal
              number may be anything between 0 and that
    doubles   claims for f64 where they differ
    narrow    claims of functions that are computed in f16 or in bf16; else those are computed in
              f32, and rounded
    together  whether every claim whose domain is met counts, and each alone may be what holds: as
              of several ways to compute a function
    """

    source: str
    rows: Mapping[str, tuple[Claim, ...]]
    ieee: bool = True
    doubles: Mapping[str, tuple[Claim, ...]] = field(default_factory=dict)
    narrow: Mapping[Type, Mapping[str, tuple[Claim, ...]]] = field(default_factory=dict)
    together: bool = False

    def claims(self, op: str, type_: Type) -> tuple[Claim, ...]:
        """The claims of a function as it is computed for numbers of a format."""
        if type_ is Type.F64 and op in self.doubles:
            return self.doubles[op]
        return self.narrow.get(type_, self.rows).get(op, ())


def _ulps(**rows: float) -> dict[str, tuple[Claim, ...]]:
    return {op: (Claim(ulp=ulp),) for op, ulp in rows.items()}


_NEAR_ONE: Final = Claim(absolute=2.0**-21, low=0.5, high=2.0, signed=True)
_SHADER: Final[dict[str, tuple[Claim, ...]]] = {
    "exp": (Claim(ulp=3, per=2),),
    "exp2": (Claim(ulp=3, per=2),),
    "log": (_NEAR_ONE, Claim(ulp=3)),
    "log2": (_NEAR_ONE, Claim(ulp=3)),
    "sin": (Claim(absolute=2.0**-11, high=math.pi),),
    "cos": (Claim(absolute=2.0**-11, high=math.pi),),
    "tanh": (Claim(absolute=1e-5),),
    "atan2": (Claim(ulp=4096, low=2.0**-126, high=2.0**126),),
}

DOCUMENTED: Final[Mapping[str, Documented]] = {
    "c": Documented(
        source="glibc manual, Errors in Math Functions: none of these above 2 ulp",
        rows=_ulps(exp=2, exp2=2, log=2, log2=2, sin=2, cos=2, tanh=2, erf=2, atan2=2),
    ),
    "opencl": Documented(
        source="OpenCL C 3.0, 7.4, full profile",
        rows=_ulps(exp=3, exp2=3, log=3, log2=3, sin=4, cos=4, tanh=5, erf=16, atan2=6),
    ),
    "cuda": Documented(
        source="CUDA C++ Programming Guide, Mathematical Functions",
        rows=_ulps(exp=2, exp2=2, log=1, log2=1, sin=2, cos=2, tanh=2, erf=2, atan2=3),
        doubles=_ulps(exp=1, exp2=1, log=1, log2=1, sin=2, cos=2, tanh=2, erf=2, atan2=2),
    ),
    "msl": Documented(
        source="Metal Shading Language Specification, 8.1, fast maths disabled",
        rows=_ulps(exp=4, exp2=4, log=4, log2=4, sin=4, cos=4, tanh=5, atan2=6),
    ),
    "wgsl": Documented(source="WGSL, 15.7.4.1 Accuracy", rows=_SHADER, ieee=False),
    "glsl": Documented(
        source="GLSL 4.50, 4.7.1 for exp and log; Vulkan, Precision of SPIR-V, for the others, "
        "of which GLSL says nothing",
        rows=_SHADER,
        ieee=False,
    ),
}
"""By language."""

_STEPS_OF_TANH: Final = 16.0
"""In u: what 1 − 2/(exp(2x) + 1) is off by, at most, where it cancels and everywhere else."""


def _written(u: float, most: float, limit: float, least: float) -> dict[str, tuple[Claim, ...]]:
    """The claims of `LIBRARY` in a format of unit roundoff u.

    Beyond |x| = most powers are less than half the smallest number, or overflow. From −limit on
    exp(−x) may overflow, and 1/(1 + exp(−x)) is 0 instead of exp(x), which is below `least`.
    """
    beyond = Claim(absolute=least, low=-math.inf, high=-limit, signed=True)
    return {
        **_ulps(log=11, log2=11, sin=4, cos=4, erf=16, atan2=6),
        "exp": (Claim(ulp=9, per=2, most=most),),
        "exp2": (Claim(ulp=9, per=2, most=most),),
        "tanh": (Claim(ulp=5), Claim(absolute=_STEPS_OF_TANH * u)),
        "sigmoid": (Claim(ulp=15, per=2, most=most), beyond),
    }


LIBRARY: Final = Documented(
    source="the widest of the documents, and of ways to write it in rounded steps",
    rows=_written(2.0**-24, 150, 88.0, 2.0**-127),
    doubles=_written(2.0**-53, 1075, 709.0, 2.0**-1023),
    narrow={
        Type.F16: _written(2.0**-11, 26, 11.0, 2.0**-15),
        Type.BF16: _written(2.0**-8, 150, 87.0, 2.0**-125),
    },
    together=True,
)
"""What any decent library keeps, however a kernel writes a function, in the format in which the
kernel computes: f64, f32, f16 or bf16.

Called is the widest that is documented: exp, exp2, log, log2 4 ulp and tanh 5 (Metal), sin, cos 4,
atan2 6, erf 16, a quotient 2.5 and a root 3 (OpenCL, full profile; rows of the latter two are in
`DIVISION`). NumPy is within: its loops for f32 say exp 2.52 and log 3.83 ulp (numpy/numpy#13134),
sin and cos 1.49 (#13368), those of SVML 4 ulp, in f64 too (#19478); glibc's are within 2. Written
in rounded steps, with u half an ulp of 1, an ulp at least u and at most 2u of its number, a
relative error r thus at most r/u ulps, and 4.5 ulp at most 9u:

exp      2^(x·log2 e): the constant and the product are off by u each, so the power by the factor
         exp(2·|x|·u), and exp2 of it by 9u: 9 + 2·|x| ulps. exp2 as exp(x·ln 2) likewise. Beyond
         150 (f64: 1075, f16: 26) either is less than half the smallest number, or overflows
log      log2(x)·ln 2: 9u of log2, u of the constant, u of the product: 11 ulps. log2 likewise
sigmoid  s = 1/(1 + E), E = exp(−x) written as above, or called: off by (9 + 2·|x|)u, of which s
         has the part 1 − s ≤ 1; the sum adds u, the quotient 5u: (15 + 2·|x|)u, at most 15 + 2·|x|
         ulps. (By the form of E; its claim in ulps would be twice as much.) Where E overflows s is
         0
tanh     t = 1 − q, q = 2/(E + 1), E = exp(2x) off by (9 + 4·|x|)u, of which q has the part
         (1 + t)/2; the sum adds u, the quotient 5u, and the difference |t|·u, so t is off by
         (1 − t²)/2·(9 + 4·|x|)·u + 6·(1 − t)·u + |t|·u, at most 14.1u (at x = −0.9), and 10.5u at
         0, where there is no relative bound. 2·sigmoid(2x) − 1 is no worse, nor is
         (E − 1)/(E + 1) where E does not overflow: from 44.4 on (f64: 354.9) that is NaN

In f16 and in bf16 u is so large that products of errors count: what certificates allow, 2u for an
ulp, is more than they come to.

Not covered: x·(1/y) where 1/y is no normal number, as in f32 above 2^126 (inexact, or 0 on a device
that flushes) and below 2^-128 (infinite); x·rsqrt(x) at 0 and at infinity, where it is NaN;
(E − 1)/(E + 1), E = exp(2x), where E overflows; E/(1 + E), E = exp(x), likewise: NaN from 88.8 on
(f64: 709.8, f16: 11.1), up to there it is a sigmoid as above; cos(x) as sin(x + π/2), whose sum is
rounded by |x|·u; sigmoid(x) as (1 + tanh(x/2))/2, which cancels where x is far below 0; and
exp(x − m) as exp2(x·log2 e − m·log2 e), whose operands are rounded before they cancel."""

DIVISION: Final[Mapping[str, tuple[float, float, str]]] = {
    "wgsl": (2.5, 5.0, "WGSL, 15.7.4.1: x/y 2.5 ulp; sqrt inherits from 1/inverseSqrt"),
    "glsl": (2.5, 5.0, "Vulkan, Precision of SPIR-V: x/y 2.5 ulp; sqrt inherits"),
    "opencl": (2.5, 3.0, "OpenCL C 3.0, 7.4, full profile: x/y 2.5 ulp, sqrt 3 ulp"),
    "any": (6.0, 5.0, "OpenCL C 3.0, 7.4, full profile: x·(1/y), 1/y 2.5 ulp; x·rsqrt(x), 2 ulp"),
}
"""Language → ulps of a quotient and of a root in f32, where they are not correctly rounded.

Of "any" in every format: an ulp is at most 2u of its number, so a reciprocal within 2.5 ulp is off
by 5u and the product by u more, 6 ulps at most; a root is 3 ulp, or x·rsqrt(x), off by 4u + u."""


MATHS: Final = ("portable", "any", *DOCUMENTED)
"""Whose functions bounds speak of: tang's own, those of any decent library, or a language's."""

PORTABLE: Final[dict[str, float]] = {
    "exp2": 1.08,
    "log2": 0.87,
    "sin": 0.9,
    "cos": 0.91,
    "atan2": 1.6,
    "erf": 1.18,
    "exp": 0.9,
    "log": 0.85,
    "tanh": 1.33,
    "sigmoid": 2.41,
}
"""What each portable function claims, in ulps of the f32 result: measured maxima, rounded up, over
all 2³² arguments (atan2: over samples). docs/maths.md says what an ulp is and gives the arguments;
`tests/slow` measures again. Nothing is said of a device that flushes subnormals or contracts."""

UNPORTED: Final[Mapping[str, float]] = {
    op: 8.0 if op == "sigmoid" else 2.0 + FROM_RN for op in PORTABLE
}
"""The same in f64, where no function is portable: the C library's are taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """A builtin as measured, over normal arguments and results.

    row       as in `Profile`: "f32 exp2"
    ulp       the largest error, at the arguments `at`; of sin and cos within `reach`
    absolute  the largest absolute error where the true value is at most 1
    count     how many arguments, specials included
    reach     of sin and cos: the largest power of two up to which the absolute error is at most
              2⁻¹¹; else infinity
    notes     what happens to subnormals and specials, where it is not what IEEE arithmetic would do
    """

    row: str
    ulp: float
    at: tuple[float, ...]
    absolute: float
    count: int
    reach: float = math.inf
    notes: tuple[str, ...] = ()

    def to_data(self) -> dict[str, Any]:
        """The row as plain data; an infinite reach is null."""
        reach = None if math.isinf(self.reach) else self.reach
        return {
            "row": self.row, "ulp": self.ulp, "at": list(self.at), "absolute": self.absolute,
            "count": self.count, "reach": reach, "notes": list(self.notes),
        }  # fmt: skip


def accuracy_from_data(data: Mapping[str, Any]) -> Accuracy:
    """What `to_data` wrote; raises TypeError or KeyError for anything else."""
    reach = math.inf if data["reach"] is None else float(data["reach"])
    given = {**data, "at": tuple(data["at"]), "notes": tuple(data["notes"]), "reach": reach}
    return Accuracy(**given)
