"""Which node makes most of a bound: each launch again, with exact operands and with one inexact.

Defines `dominating`. Relies on replay of single launches with running bounds. What it says is a
share of a bound, not of an error, and of the element with the largest bound alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tang.emulator.replay import Replay, replay_launch
from tang.kernel.plan import Launch, Role
from tang.verify.subject import Subject, written

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class _Terms:
    """Of the largest bound of a buffer: the part of its own rounding, and of each operand."""

    own: float
    operands: Mapping[str, float]

    @property
    def share(self) -> float:
        whole = self.own + sum(self.operands.values())
        return self.own / whole if whole > 0 else 1.0


def dominating(subject: Subject, done: Replay) -> dict[str, tuple[str, float]]:
    """Per real buffer that kernels fill: what dominates its bound, and the share of its own step.

    Where an operand makes more of it than the buffer's own rounding does, the operand is followed.
    """
    found: dict[str, _Terms] = {}
    for launch in subject.expanded.launches:
        for name in written(launch):
            if name in done.planes:
                found[name] = _terms(subject, done, launch, name)
    return {name: (_named(subject, found, name), t.share) for name, t in found.items()}


def _terms(subject: Subject, done: Replay, launch: Launch, name: str) -> _Terms:
    bound = done.planes[name]["bound"]
    if not bound.size or not np.isfinite(bound).any():
        return _Terms(0.0, {})
    at = np.unravel_index(int(np.argmax(np.where(np.isfinite(bound), bound, -1.0))), bound.shape)
    own = _bound(subject, done, launch, name, ())[at]
    inexact = [n for n in dict.fromkeys(launch.buffers) if _carries(done, launch, name, n)]
    if len(inexact) == 1:
        return _Terms(float(own), {inexact[0]: max(float(bound[at] - own), 0.0)})
    parts = {n: _bound(subject, done, launch, name, (n,))[at] - own for n in inexact}
    return _Terms(float(own), {n: max(float(p), 0.0) for n, p in parts.items()})


def _carries(done: Replay, launch: Launch, name: str, operand: str) -> bool:
    if operand == name or operand in written(launch) or operand not in done.planes:
        return False
    return bool((done.planes[operand]["bound"] > 0).any())


def _bound(
    subject: Subject, done: Replay, launch: Launch, name: str, inexact: tuple[str, ...]
) -> Array:
    """The bounds of a buffer after a launch, all operands exact but for some."""
    planes = {
        n: {p: done.planes[n][p] for p in ("shadow", "bound")}
        for n in inexact
    }  # fmt: skip
    state = {n: done.buffers[n] for n in launch.buffers}
    again = replay_launch(
        launch, state, subject.sizes, domain="shadow", sanitize=False, planes=planes
    )
    return again.planes[name]["bound"]


def _named(subject: Subject, found: Mapping[str, _Terms], name: str) -> str:
    """Follow the largest term to where it comes from."""
    while True:
        terms = found.get(name)
        buffer = subject.expanded.buffer(name)
        if terms is None:
            is_input = buffer.role is Role.INPUT and buffer.ref is not None
            return f"input {buffer.ref.node if is_input and buffer.ref else name}"
        largest = max(terms.operands, key=terms.operands.__getitem__, default=None)
        if largest is None or terms.operands[largest] <= terms.own:
            return f"rounding in {_origin(subject, name)}"
        name = largest


def _origin(subject: Subject, name: str) -> str:
    launches = subject.expanded.launches
    return next(s.kernel.origin for s in launches if name in written(s))
