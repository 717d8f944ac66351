"""Fit the polynomials of the portable maths and print their table.

For each row of FITS: a weighted minimax polynomial (Lawson's iteration on Chebyshev nodes, targets
from mpmath), coefficients rounded to f32 one after another from the lowest, the rest fitted anew
after each. It does not measure functions: rounding errors are the business of the tests.

    python tools/fit_maths.py            print the table with the error of each fit
    python tools/fit_maths.py --write    write tang/kernel/expand/coefficients.py
    python tools/fit_maths.py --check    fit anew; fail if a committed row is worse by 5%
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import mpmath as mp
import numpy as np
from numpy.typing import NDArray

from tang.kernel.expand import coefficients

TABLE = Path(__file__).resolve().parent.parent / "tang/kernel/expand/coefficients.py"
NODES = 1200
ROUNDS = 400
Real = Callable[[mp.mpf], mp.mpf]
Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Fit:
    """target(u) ≈ Σ cᵢuⁱ on [lo, hi]; weight(u) makes its error relative to the result.

    `identity` says in the table what is approximated.
    """

    name: str
    identity: str
    target: Real
    weight: Real
    lo: float
    hi: float
    degree: int


def _root(z: mp.mpf) -> mp.mpf:
    return mp.sqrt(z)


def _sin(z: mp.mpf) -> mp.mpf:
    return (mp.sin(_root(z)) / _root(z) - 1) / z


def _cos(z: mp.mpf) -> mp.mpf:
    return (mp.cos(_root(z)) - 1 + z / 2) / z**2


def _atan(z: mp.mpf) -> mp.mpf:
    return (mp.atan(_root(z)) / _root(z) - 1) / z


def _tanh(z: mp.mpf) -> mp.mpf:
    return (mp.tanh(_root(z)) / _root(z) - 1) / z


def _erf(z: mp.mpf) -> mp.mpf:
    return mp.erf(_root(z)) / _root(z) - 1


def _log(z: mp.mpf) -> mp.mpf:
    """(log((1+s)/(1−s)) − 2s) / s for z = s²: the R of `log(1+f) = 2s + s·R(s²)`."""
    return 2 * mp.atanh(_root(z)) / _root(z) - 2


QUARTER = float(mp.pi / 4) * 1.0001
HALF_LN2 = float(mp.log(2) / 2) * 1.001
LOG_S = (2**0.5 - 1) / (2**0.5 + 1) * 1.001

FITS = (
    Fit("EXP2", "2^r = 1 + r·p(r)", lambda r: (2**r - 1) / r, lambda r: r / 2**r, -0.5, 0.5, 5),
    Fit(
        "EXP", "e^r = 1 + r + r²·p(r)",
        lambda r: (mp.exp(r) - 1 - r) / r**2, lambda r: r**2 / mp.exp(r), -HALF_LN2, HALF_LN2, 4,
    ),
    Fit(
        "LOG", "log((1+s)/(1−s)) = 2s + s·z·p(z), z = s²",
        lambda z: _log(z) / z, lambda z: z / 2, 0.0, LOG_S**2, 3,
    ),
    Fit(
        "SIN", "sin r = r + r·z·p(z), z = r²",
        _sin, lambda z: z / (1 + z * _sin(z)), 0.0, QUARTER**2, 3,
    ),
    Fit(
        "COS", "cos r = 1 − z/2 + z²·p(z), z = r²",
        _cos, lambda z: z**2 / mp.cos(_root(z)), 0.0, QUARTER**2, 2,
    ),
    Fit(
        "ATAN", "atan t = t + t·z·p(z), z = t²",
        _atan, lambda z: z / (1 + z * _atan(z)), 0.0, 1.0, 8,
    ),
    Fit(
        "TANH", "tanh x = x + x·z·p(z), z = x²",
        _tanh, lambda z: z / (1 + z * _tanh(z)), 0.0, 0.4, 4,
    ),
    Fit("ERF", "erf x = x + x·p(z), z = x²", _erf, lambda z: 1 / (1 + _erf(z)), 0.0, 0.875, 6),
    Fit(
        "ERFC", "log erfc x = x·p(x)",
        lambda x: mp.log(mp.erfc(x)) / x, lambda x: x * mp.erfc(x), 0.93, 3.95, 7,
    ),
)  # fmt: skip


def nodes(fit: Fit, count: int) -> Array:
    """Chebyshev nodes of the interval, without its end points (where targets may be 0/0)."""
    k = np.arange(count, dtype=np.float64)
    unit = np.cos((2 * k + 1) * np.pi / (2 * count))
    return 0.5 * (fit.lo + fit.hi) + 0.5 * (fit.hi - fit.lo) * unit


def sample(f: Real, points: Array) -> Array:
    """f at each point, evaluated with 40 digits and rounded once."""
    with mp.workdps(40):
        return np.array([float(f(mp.mpf(float(p)))) for p in points])


def lawson(basis: Array, target: Array, weight: Array) -> Array:
    """Coefficients that minimise max |weight·(basis·c − target)|, by Lawson's iteration."""
    emphasis = np.ones_like(target)
    best = np.zeros(basis.shape[1])
    least = np.inf
    for _ in range(ROUNDS):
        root = np.sqrt(emphasis) * weight
        solution = np.linalg.lstsq(basis * root[:, None], target * root, rcond=None)[0]
        c = np.asarray(solution, dtype=np.float64)
        error = np.abs(weight * (basis @ c - target))
        if error.max() < least:
            least, best = float(error.max()), c
        emphasis *= error + 1e-3 * error.max()
        emphasis /= emphasis.max()
        emphasis = np.maximum(emphasis, 1e-12)
    return best


def fit_rounded(fit: Fit) -> tuple[float, ...]:
    """The coefficients, lowest first, each an f32."""
    points = nodes(fit, NODES)
    target, weight = sample(fit.target, points), sample(fit.weight, points)
    powers = np.stack([points**i for i in range(fit.degree + 1)], axis=1)
    done: list[float] = []
    for i in range(fit.degree + 1):
        rest = lawson(powers[:, i:], target, weight)
        done.append(float(np.float32(rest[0])))
        target = target - powers[:, i] * done[-1]
    return tuple(done)


def worst_error(fit: Fit, coefficients: tuple[float, ...]) -> float:
    """The largest relative error of the result that the polynomial alone causes."""
    points = nodes(fit, 4 * NODES + 1)
    value = np.polynomial.polynomial.polyval(points, np.array(coefficients))
    error = sample(fit.weight, points) * (value - sample(fit.target, points))
    return float(np.abs(error).max())


def row(fit: Fit) -> str:
    """The lines of the table for one polynomial."""
    coefficients = fit_rounded(fit)
    bits = float(np.log2(worst_error(fit, coefficients)))
    cells = "".join(f'    "{c.hex()}",\n' for c in coefficients)
    text = f"# {fit.identity} on [{fit.lo:.6g}, {fit.hi:.6g}], relative error 2^{bits:.2f}\n"
    return text + f"{fit.name}: Final = _row(\n{cells})\n"


HEADER = '''"""Coefficients of the portable maths, lowest first, as exact hexadecimal f32 numbers.

Written by `tools/fit_maths.py`; do not edit. The errors named are those of the polynomials alone.
It does not say how they are evaluated: that is in the modules that use them.
"""

from __future__ import annotations

from typing import Final


def _row(*cells: str) -> tuple[float, ...]:
    return tuple(float.fromhex(c) for c in cells)


'''


def check() -> int:
    """Compare every committed row with a fresh fit; 1 if one is missing or clearly worse."""
    failed = 0
    for fit in FITS:
        fresh = worst_error(fit, fit_rounded(fit))
        committed = worst_error(fit, getattr(coefficients, fit.name))
        good = committed <= 1.05 * fresh
        failed |= not good
        verdict = "ok" if good else "WORSE"
        sys.stdout.write(f"{fit.name}: {committed:.3g} committed, {fresh:.3g} fresh: {verdict}\n")
    return int(failed)


def main(arguments: list[str]) -> int:
    """Print the table, write it or check it."""
    if "--check" in arguments:
        return check()
    text = HEADER + "\n".join(row(f) for f in FITS)
    if "--write" in arguments:
        TABLE.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
