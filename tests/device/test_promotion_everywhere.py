"""Runs on every language: what devices write is what the atom of summation says, to the bit."""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.emulator import evaluate, round_to
from tang.ir.summation import Promote, Seq
from tang.kernel.ir import BF16, F16, F32
from tang.kernel.narrow import E4M3FN, E5M2
from tang.kernel.schedule import NodeSchedule, Schedule, format_of
from tang.verify import Task, verify_batch
from tang.verify.backends import BACKENDS, available

RNG = np.random.default_rng(4)
PAIRS = [(F32, F16), (F32, E4M3FN), (F16, E4M3FN), (BF16, E5M2), (E4M3FN, None), (BF16, None)]
LENGTHS = (1, 4, 9)


@pytest.fixture(scope="module", params=sorted(BACKENDS))
def backend(request: pytest.FixtureRequest) -> str:
    """A backend that runs here."""
    reason = available()[request.param]
    if reason:
        pytest.skip(f"backend {request.param} does not run here: {reason}")
    return str(request.param)


def dots(length: int) -> tg.Graph:
    """Dots of rows."""
    i, r = tg.dims("i r")
    a, b = tg.input("a", (4, length)), tg.input("b", (4, length))
    return tg.Graph(tg.compute("dot", (i,), tg.sum(a[i, r] * b[i, r], over=r)))


def tasks() -> list[Task]:
    """Sums of as many terms as some runs have, and of more; in chunks and lanes too."""
    return [
        *(task(pair, length, {"promote": 4}) for pair in PAIRS for length in (8, 11)),
        *(task(pair, 20, {"promote": 3, "split": 2, "lanes": 2}) for pair in PAIRS[:3]),
    ]


def task(pair: tuple, length: int, fields: dict[str, int]) -> Task:
    """One sum of products in a pair of formats."""
    accumulate, partial = pair
    s = NodeSchedule(accumulate=accumulate, partial=partial, **fields)
    schedule = Schedule(nodes=(("dot", s),))
    return Task(graph=dots(length), inputs=factors(pair, length), schedule=schedule)


def factors(pair: tuple, length: int) -> dict[str, np.ndarray]:
    """Numbers of the format within runs."""
    name = format_of(pair[1] or pair[0])
    terms = RNG.standard_normal((2, 4, length))
    return dict(zip("ab", round_to(terms, name, overflow="saturate"), strict=True))


def test_every_language_runs_promoted_sums_to_the_bit(backend):
    given = tasks()
    for one, found in zip(given, verify_batch(given, (backend,)), strict=True):
        assert found.ok, f"{one.schedule}\n{found.to_text()}"
        assert not any(r.unsupported for r in found.results)


def test_c_gives_what_the_atom_gives():
    for accumulate, partial in PAIRS:
        within = format_of(partial or accumulate)
        how = "inf" if within.has_infinity else "saturate"
        for length in LENGTHS:
            data = factors((accumulate, partial), length)
            s = NodeSchedule(accumulate=accumulate, partial=partial, promote=4)
            program = tg.compile(dots(length), schedule=Schedule(nodes=(("dot", s),)), rules=())
            name = "" if partial is None else within.name
            wanted = evaluate(
                Promote(4, Seq(), name), tuple(data.values()), format_of(accumulate), overflow=how
            )
            np.testing.assert_array_equal(program(data)["dot"], wanted)
