"""Programs run in formats and held against their certificates: every result of every node.

The reference is the interpreter in f64 with its forward error, on the inputs as they are stored.
"""

from __future__ import annotations

import numpy as np

from tang.device.storage import unpack
from tang.emulator import certify
from tang.emulator.replay import replay
from tang.ir.expr import REAL
from tang.ir.view import Ref
from tang.kernel.schedule import Schedule
from tang.verify.subject import Task, computed, prepare


def drawn(graph, sizes, ranges, seed, style="uniform"):
    """Inputs within ranges: uniform, or adversarial, where each element is at an end or at 0."""
    rng = np.random.default_rng(seed)
    found = {}
    for i in graph.inputs:
        shape = tuple(p.evaluate(sizes) for p in i.shape)
        lo, hi = ranges.get(i.name, (0, 1))
        if i.sort is not REAL:
            found[i.name] = rng.integers(0, 2, shape) > 0 if i.sort.value == "bool" else (
                rng.integers(int(lo), int(hi) + 1, shape)
            )  # fmt: skip
        elif style == "uniform":
            found[i.name] = rng.uniform(lo, hi, shape)
        elif style == "constant":
            found[i.name] = np.full(shape, hi if rng.random() < 0.5 else lo)
        else:
            found[i.name] = rng.choice([lo, hi, np.clip(0.0, lo, hi), hi * (1 - 2.0**-9)], shape)
    return found


def reals_of(certificate):
    return {(b.node, b.output): b for b in certificate.nodes if b.format}


def compare(graph, schedule, inputs, certificate):
    """(node.output, largest error over bound) of what exceeds its bound, and the tightest ratio."""
    subject = prepare(Task(graph=graph, inputs=inputs, schedule=schedule))
    got = replay(subject.expanded, subject.stored)
    bounds, wrong, ratios = reals_of(certificate), [], {}
    for buffer in computed(subject.plan):
        if buffer.ref is None or (buffer.ref.node, buffer.ref.output) not in bounds:
            continue
        bound = bounds[buffer.ref.node, buffer.ref.output]
        value = unpack(got.buffers[buffer.name], buffer.type).astype(np.float64).reshape(-1)
        exact = subject.reference[buffer.name]
        x, err = np.ravel(exact.value), np.ravel(exact.err)
        err = np.where(np.isnan(err), np.inf, err)
        ratios[str(buffer.ref)] = _judge(bound, value, x, err, wrong)
    return wrong, ratios


def _judge(bound, value, x, err, wrong):
    claim_lo, claim_hi = bound.lo, bound.hi
    finite = np.isfinite(x)
    with np.errstate(all="ignore"):
        error = np.abs(value - x)
        inside = (x >= claim_lo - err) & (x <= claim_hi + err)
        same = (value == x) | (np.isnan(value) & np.isnan(x))
    if not inside[finite].all():
        wrong.append((f"{bound.node}.{bound.output}", "range", claim_lo, claim_hi,
                      float(x[finite].min()), float(x[finite].max())))  # fmt: skip
    if np.isfinite(bound.error):
        ok = np.where(finite, error <= bound.error + err, same)
        if not ok.all():
            worst = float(np.max(np.where(finite & ~np.isnan(error), error, 0)))
            wrong.append((f"{bound.node}.{bound.output}", "error", worst, bound.error))
    if not finite.any() or not bound.error or not np.isfinite(bound.error):
        return 0.0
    return float(np.max(np.where(np.isnan(error), 0, error)[finite]) / bound.error)


def holds(graph, schedule, sizes, ranges, seeds=3):
    """Assert that bounds hold for several draws, and return the certificate and best ratios."""
    certificate = certify(graph, schedule or Schedule(), sizes, ranges)
    best = {}
    for seed in range(seeds):
        for style in ("uniform", "adversarial", "constant"):
            inputs = drawn(graph, sizes, ranges, seed, style)
            wrong, ratios = compare(graph, schedule or Schedule(), inputs, certificate)
            assert not wrong, (style, seed, wrong)
            best = {n: max(r, best.get(n, 0.0)) for n, r in ratios.items()}
    return certificate, best


def bound_of(certificate, graph, output):
    """The bound of an output of the program."""
    ref: Ref = next(o.ref for o in graph.outputs if o.name == output)
    return certificate.bound(ref.node, ref.output)
