"""Whether a certificate is of a program: everything in it derived once more and compared.

Defines `differs`. Relies on `certify`, which is cheap: it needs no data and no kernels. That the
steps hold is not its question but that of balls, in `certificate_check`.
"""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from typing import Any, Final

from tang.emulator.certificate import Certificate
from tang.emulator.certify import certify
from tang.errors import BudgetError, TangError
from tang.ir.graph import Graph
from tang.kernel.schedule import Schedule

_NEAR: Final = 2.0**-40
"""Relative: what functions of two machines may differ by."""


def differs(certificate: Certificate, graph: Graph, schedule: Schedule) -> str:
    """The first place in which a certificate is not that of a program; "" where there is none."""
    ranges = {name: (lo, hi) for name, lo, hi in certificate.ranges}
    if certificate.strength == "shape" and ranges:
        return "ranges: a certificate by shape has none"
    try:
        again = certify(
            graph, schedule, dict(certificate.sizes),
            None if certificate.strength == "shape" else ranges,
            freedom=certificate.freedom, math=certificate.math, quantised=certificate.quantised,
        )  # fmt: skip
    except BudgetError as e:
        return f"it cannot be of this program: {e}"
    except TangError as e:
        return f"this program and schedule: {e}"
    return _place(certificate, again, "")


def _place(said: Any, own: Any, where: str) -> str:  # noqa: ANN401 - any part of a certificate
    """Where two parts of certificates differ, and how."""
    if type(said) is not type(own):
        return f"{where}: it is {said!r}, not {own!r}"
    if is_dataclass(said):
        names = [f.name for f in fields(said)]
        pairs = [(getattr(said, n), getattr(own, n), f"{where}.{n}".lstrip(".")) for n in names]
        return next((p for a, b, w in pairs if (p := _place(a, b, w))), "")
    if isinstance(said, tuple):
        if len(said) != len(own):
            return f"{where}: there are {len(own)}, not {len(said)}"
        pairs = [(a, b, f"{where}[{n}]") for n, (a, b) in enumerate(zip(said, own, strict=True))]
        return next((p for a, b, w in pairs if (p := _place(a, b, w))), "")
    same = said == own
    if isinstance(said, float) and not same:
        same = math.isclose(said, own, rel_tol=_NEAR)
    return "" if same else f"{where}: it is {said!r}, of this program {own!r}"
