"""Shrinking: the smallest case that still shows a fault.

Defines `shrink`. Relies on hypothesis, which replays the decisions of one draw and makes them
smaller; afterwards nodes that the fault does not need are left out or given, and data is simplified
directly: 0, 1, small integers, short mantissas. It decides nothing itself: the caller says whether
a case still fails, and is asked once per distinct case.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import strategies as st
from hypothesis.database import ExampleDatabase, choices_to_bytes
from hypothesis.errors import HypothesisWarning
from numpy.typing import NDArray

from tang.fuzz.case import Case, build_case
from tang.fuzz.fewer import smaller_programs
from tang.fuzz.formats import ALL, Formats
from tang.fuzz.reduce import reduce_choices
from tang.fuzz.source import HypothesisSource, ReplaySource, Source

Array = NDArray[Any]
Fails = Callable[[Case], bool]

_ELEMENTWISE: Final = 48
"""Arrays up to this size are simplified value by value."""


class _EnoughError(KeyboardInterrupt):
    """Ends hypothesis at once: the only kind of exception that it lets through."""


class _FaultError(Exception):
    """Tells hypothesis that the case still fails."""


class _OneExample(ExampleDatabase):
    """A database that holds the decisions of one draw and forgets everything else."""

    def __init__(self, choices: tuple[int, ...]) -> None:
        super().__init__()
        self._choices = choices_to_bytes(choices)

    def fetch(self, key: bytes) -> Iterable[bytes]:
        """The draw, under the key of examples that were not shrunk yet."""
        return [self._choices] if key.endswith(b".secondary") else []

    def save(self, key: bytes, value: bytes) -> None:
        """Nothing: the campaign keeps programs, never choices."""

    def delete(self, key: bytes, value: bytes) -> None:
        """Nothing."""


@dataclass(slots=True)
class _Asker:
    """Asks the caller, at most so often and so long, and never twice about one case.

    `calls` counts what is left of the present stage.
    """

    fails: Fails
    calls: int
    deadline: float
    known: dict[str, bool] = field(default_factory=dict)

    @property
    def is_spent(self) -> bool:
        return self.calls <= 0 or time.monotonic() > self.deadline

    def __call__(self, case: Case) -> bool:
        digest = case.digest()
        if digest not in self.known:
            if self.is_spent:
                return False
            self.calls -= 1
            self.known[digest] = self.fails(case)
        return self.known[digest]


def shrink(case: Case, fails: Fails, calls: int = 300, seconds: float = 60.0) -> Case:
    """A case as small as found that still fails; the case itself when it does not fail again."""
    asker = _Asker(fails, 1, time.monotonic() + seconds)
    if not asker(case):
        return case
    if case.choices:
        asker.calls = calls // 2
        case = _coarse(case, asker)
        asker.calls = calls // 8
        case = _smaller_program(case, asker)
    asker.calls = calls // 8
    case = _simpler_program(case, asker)
    asker.calls = calls // 4
    return _simpler_data(case, asker)


def _coarse(case: Case, asker: _Asker) -> Case:
    """The case with whole parts of the draw removed."""

    def fails(source: Source) -> bool:
        return asker(build_case(source, case.formats))

    choices = reduce_choices(case.choices, fails)
    return replace(build_case(ReplaySource(choices), case.formats), choices=choices)


def cases(formats: Formats = ALL) -> st.SearchStrategy[Case]:
    """Cases as a hypothesis strategy; shrinks to a map that copies an input of ones."""
    return _cases(formats)


@st.composite
def _cases(draw: st.DrawFn, formats: Formats) -> Case:
    return build_case(HypothesisSource(draw), formats)


def _smaller_program(case: Case, asker: _Asker) -> Case:
    """Hypothesis's smallest failing case, from the decisions of this one."""
    best = [case]

    @settings(
        phases=[Phase.reuse, Phase.shrink],
        database=_OneExample(case.choices),
        max_examples=100_000,
        deadline=None,
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
    )
    @given(_cases(case.formats))
    def replay(candidate: Case) -> None:
        if asker(candidate):
            best[0] = candidate
            raise _FaultError
        if asker.is_spent:
            raise _EnoughError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HypothesisWarning)  # it prints what nobody reads
            replay()
    except (_FaultError, _EnoughError):
        # Hypothesis only ever moves to smaller examples: the last that failed is the smallest.
        return best[0]
    return case


def _simpler_program(case: Case, asker: _Asker) -> Case:
    """The case with the fewest nodes: results left out, or given instead of computed."""
    while (smaller := next(filter(asker, smaller_programs(case)), None)) is not None:
        case = smaller
    return case


# --- data ----------------------------------------------------------------------------------------


def _simpler_data(case: Case, asker: _Asker) -> Case:
    """The case with the simplest values that still fail, input by input."""
    for name in sorted(case.inputs):
        case = _first_failing(case, name, _whole_arrays(case.inputs[name]), asker)
    for name in sorted(case.inputs):
        if case.inputs[name].size <= _ELEMENTWISE:
            for at in range(case.inputs[name].size):
                values = list(_one_simpler(case.inputs[name], at))
                case = _first_failing(case, name, values, asker)
    return case


def _first_failing(case: Case, name: str, arrays: Iterable[Array], asker: _Asker) -> Case:
    for array in arrays:
        simpler = replace(case, inputs={**case.inputs, name: array}, index=-1, choices=())
        if asker(simpler):
            return simpler
    return case


def _whole_arrays(array: Array) -> Iterator[Array]:
    """The array made simple all over, the simplest first; nothing that it already is."""
    simple = [np.zeros_like(array), np.ones_like(array)]
    if array.dtype.kind == "f":
        finite = np.where(np.isfinite(array), array, 1.0)
        simple += [np.trunc(finite), np.round(finite * 4) / 4, finite]
    yield from (s for s in simple if not np.array_equal(s, array, equal_nan=s.dtype.kind == "f"))


def _one_simpler(array: Array, at: int) -> Iterator[Array]:
    """The array with one value made simpler."""
    value = array.reshape(-1)[at]
    for candidate in _simpler_values(value, array.dtype.kind):
        changed = array.copy()
        changed.reshape(-1)[at] = candidate
        yield changed


def _simpler_values(value: Any, kind: str) -> list[float]:  # noqa: ANN401 - a NumPy scalar
    """0, 1, small integers, short mantissas: whatever is simpler than the value."""
    if value == 0 or (value == 1 and kind != "b"):
        return []
    if kind == "b":
        return [0]
    if kind == "i":
        return [0, 1]
    simple = [0.0, 1.0]
    if np.isfinite(value) and abs(value) < 1e6:
        simple += [float(np.trunc(value)), float(np.round(value * 4) / 4)]
    return [s for s in simple if s != value]
