"""Certificates for given data: how far every tensor of a program is from exact arithmetic.

Defines `certify_data`. Relies on replay with running error bounds: each bound is made of the values
that were computed, so it holds for these inputs and no others. It proves nothing of other data, and
elements that hang on a decision that rounding flipped have no bound.

The bound of one operation on computed operands x̂ with |x̂ − x| ≤ e is
rounding(ŷ) + sup{|op(x̂ + δ) − op(x̂)| : |δ| ≤ e}, with the terms of `tang.emulator.bounds`; sums run
it along their own tree, so the tightness of a tree is in it. Inputs count as given: rounding them
to the format they are stored in is the first error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.budget.data_certificate import DataCertificate, DataRow, constants_of, digest
from tang.budget.data_terms import dominating
from tang.budget.prepared import subject_of
from tang.budget.report_inputs import checked_seed
from tang.emulator.replay import replay
from tang.emulator.strict import STRICT
from tang.errors import TangBugError
from tang.ir.expr import REAL
from tang.ir.format import Format
from tang.ir.graph import Graph
from tang.ir.serial import to_json
from tang.kernel.plan import Buffer, Role
from tang.kernel.text import plan_text
from tang.schedule.serial import schedule_to_json
from tang.verify.rounded import format_of
from tang.verify.rung_round import Planes, bound_fails, planes_of
from tang.verify.subject import Subject, computed

_CURE: Final = "certify for ranges, without inputs"
"""Of functions in f64, which replay cannot follow."""

F64Array = npt.NDArray[np.float64]


def certify_data(
    graph: Graph,
    precision: object,
    inputs: Mapping[str, Any],
    *,
    rules: Iterable[str] | None = None,
    seed: int | None = None,
) -> DataCertificate:
    """What is known of every stored tensor for these inputs, and of every output.

    Arguments are those of `tang.budget.emulate`; `seed` is only written down: what the inputs were
    drawn from. Raises TangBugError when an error exceeds its bound, which none may.
    """
    subject = subject_of(graph, inputs, precision, rules=rules, cure=_CURE)
    done = replay(
        subject.expanded,
        subject.stored,
        domain=STRICT,
        sizes=subject.sizes,
        sanitize=False,
        planes=given_planes(subject),
    )
    stored = [b for b in computed(subject.expanded) if b.ref is not None and b.sort is REAL]
    named = dominating(subject, done)
    rows = tuple(_row(b, planes_of(done, b), named[b.name]) for b in stored)
    refs = {o.name: str(o.ref) for o in subject.bound.outputs}
    return DataCertificate(
        rows=rows,
        outputs={n: r for n, r in refs.items() if any(row.name == r for row in rows)},
        graph=digest(to_json(graph)),
        program=to_json(subject.task.graph),
        schedule=schedule_to_json(subject.schedule),
        plan=digest(plan_text(subject.packed)),
        inputs={n: digest(np.asarray(a)) for n, a in inputs.items()},
        seed=None if seed is None else checked_seed(seed),
        sizes=dict(subject.sizes),
        flips=sum(d.count for d in done.decisions),
        constants=constants_of(subject.expanded),
    )


def given_planes(subject: Subject) -> dict[str, dict[str, F64Array]]:
    """Per real input what it was before it was rounded to its storage, and how far that is."""
    found = {}
    for b in subject.expanded.buffers:
        if b.role is Role.INPUT and b.sort is REAL and b.ref is not None:
            with np.errstate(all="ignore"):
                exact = np.asarray(subject.task.inputs[b.ref.node], np.float64)
                kept = np.asarray(subject.inputs[b.ref.node], np.float64)
                same = (kept == exact) | (np.isnan(kept) & np.isnan(exact))
                distance = np.where(same, 0.0, np.abs(kept - exact) * (1 + 2.0**-52))
            distance = np.where(np.isnan(distance), np.inf, distance)
            found[b.name] = {"shadow": exact, "bound": distance}
    return found


def _row(buffer: Buffer, planes: Planes, term: tuple[str, float]) -> DataRow:
    wrong = bound_fails(planes)
    name = str(buffer.ref)
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise TangBugError(
            f"{name}{list(at)}: the error exceeds its derived bound: {planes.value[at]!r} against "
            f"{planes.shadow[at]!r}, bound {planes.bound[at]!r}; please report this program"
        )
    return DataRow(
        name=name,
        format=buffer.format,
        values=planes.value,
        exact=planes.shadow,
        bounds=np.where(planes.taint, np.inf, planes.bound),
        doubtful=int(planes.taint.sum()),
        overflows=int(_overflows(planes, format_of(buffer)).sum()),
        underflows=int(_underflows(planes, format_of(buffer)).sum()),
        dominating=term[0],
        share=term[1],
    )


def _overflows(p: Planes, format_: Format) -> npt.NDArray[np.bool_]:
    """Where f64 is finite and the format is not, or was saturated."""
    largest = float(format_.largest)
    lost = ~np.isfinite(p.value) | ((np.abs(p.value) == largest) & (np.abs(p.shadow) > largest))
    return np.asarray(np.isfinite(p.shadow) & lost & ~p.taint)


def _underflows(p: Planes, format_: Format) -> npt.NDArray[np.bool_]:
    """Where less than the smallest normal number was left, and not exactly what it should be."""
    tiny = np.abs(p.value) < 2.0**format_.emin
    return np.asarray(tiny & (p.value != p.shadow) & (p.shadow != 0) & ~p.taint)
