"""The atom of a scheduled sum is what replay adds, bit for bit, in every format and shape."""

from itertools import product

import numpy as np
import pytest
from scheduled_sums import FORMATS, atom_value, data, replayed, same, sums_of

from tang.emulator import evaluate
from tang.errors import FormatError, ScheduleError
from tang.ir.expr import apply, arg
from tang.ir.extent import symbol
from tang.ir.graph import Comprehension, Dim
from tang.ir.monoids import MAX
from tang.ir.summation import Promote, Seq, Split, Tree, check_summation, from_data, to_data
from tang.kernel.schedule import NodeSchedule
from tang.schedule.sums import summation_of

LENGTHS = (0, 1, 5, 64, 65, 200)
TEAMS = ((1, 1), (2, 1), (7, 1), (1, 2), (1, 3), (1, 8), (3, 4), (4, 3))
"""Splits and lanes."""


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("length", LENGTHS)
def test_the_atom_of_a_sum_is_what_replay_adds(format_, length):
    rng = np.random.default_rng(length)
    x = data(rng, (6, length), format_)
    for split, lanes in TEAMS:
        schedule = NodeSchedule(
            split=split,
            lanes=lanes,
            workgroup=24,
            accumulate=FORMATS[format_],
            storage=FORMATS[format_],
        )
        node, got = replayed(sums_of(x.shape), x, schedule)
        assert same(got, atom_value(node, schedule, x, format_)), (split, lanes)


@pytest.mark.parametrize("format_", ["f32", "f16", "e4m3fn"])
@pytest.mark.parametrize("shape", [(4, 5, 7), (4, 1, 9), (4, 13, 3), (4, 16, 2)], ids=str)
def test_chunks_are_whole_rows_of_the_first_reduce_dim(format_, shape):
    x = data(np.random.default_rng(1), shape, format_)
    for split, lanes in product((1, 2, 3), (1, 2, 4)):
        schedule = NodeSchedule(
            split=split,
            lanes=lanes,
            workgroup=8,
            accumulate=FORMATS[format_],
            storage=FORMATS[format_],
        )
        node, got = replayed(sums_of(shape), x, schedule)
        assert same(got, atom_value(node, schedule, x.reshape(4, -1), format_)), (split, lanes)


@pytest.mark.parametrize("format_", ["f32", "bf16", "e4m3fn"])
def test_products_are_rounded_before_they_are_added(format_):
    x = data(np.random.default_rng(2), (8, 40), format_)
    square = apply("mul", arg(0), arg(0))
    schedule = NodeSchedule(split=2, lanes=4, accumulate=FORMATS[format_], storage=FORMATS[format_])
    node, got = replayed(sums_of(x.shape, square), x, schedule)
    assert same(got, atom_value(node, schedule, (x, x), format_))


@pytest.mark.parametrize("mode", ["rz", "rna"])
def test_the_rounding_of_the_schedule_is_that_of_the_sum(mode):
    x = data(np.random.default_rng(3), (8, 100), "f16")
    schedule = NodeSchedule(split=3, lanes=2, accumulate=FORMATS["f16"], rounding=mode)
    node, got = replayed(sums_of(x.shape), x, schedule)
    assert same(got, evaluate(summation_of(node, schedule, {}), x, "f16", mode))


def test_a_wrong_order_gives_other_bits():
    """What the tests above would see: each fault changes some sum."""
    x = data(np.random.default_rng(4), (200, 65), "f16")
    schedule = NodeSchedule(split=5, lanes=4, accumulate=FORMATS["f16"], storage=FORMATS["f16"])
    node, got = replayed(sums_of(x.shape), x, schedule)
    right = summation_of(node, schedule, {})
    assert right == Split(5, Split(4, Seq(), Tree(), size=4), Seq(), size=16)
    team = right.inner
    wrong = {
        "chain of lanes": Split(5, Split(4, Seq(), Seq(), size=4), size=16),
        "halves": Split(5, Split(4, Seq(), Tree("halves"), size=4), size=16),
        "cyclic": Split(5, Split(4, Seq(), Tree(), "cyclic"), size=16),
        "even parts": Split(5, Split(4, Seq(), Tree())),
        "tree of parts": Split(5, team, Tree(), size=16),
        "one chain": Seq(),
        "other chunks": Split(5, Split(4, Seq(), Tree(), size=5), size=20),
        "promoted": Promote(16, Seq()),
    }
    assert same(got, evaluate(right, x, "f16"))
    for name, order in wrong.items():
        assert not same(got, evaluate(order, x, "f16")), name


def test_sizes_bind_the_extents_of_symbols():
    node = Comprehension("y", (), (), (arg(0),), (Dim("r", symbol("n")), Dim("s", symbol("m"))),
                         monoid=sums_of((2, 2)).nodes[0].monoid)  # fmt: skip
    order = summation_of(node, NodeSchedule(split=4), {"n": 10, "m": 5})
    assert order == Split(4, Seq(), Seq(), size=15)
    assert summation_of(node, NodeSchedule(), {}) == Seq()


def test_what_is_no_sum_is_refused_by_name():
    sum_ = sums_of((2, 2)).nodes[0]
    largest = Comprehension("most", sum_.point, sum_.reads, sum_.body, sum_.reduce, monoid=MAX)
    with pytest.raises(ScheduleError, match="most is a fold with max: only sums"):
        summation_of(largest, NodeSchedule(), {})
    plain = Comprehension("copy", sum_.point, sum_.reads, sum_.body, outputs=("y",))
    with pytest.raises(ScheduleError, match="copy is a map: only sums"):
        summation_of(plain, NodeSchedule(), {})


@pytest.mark.parametrize(
    ("order", "words"),
    [
        (Split(2, Seq(), size=-1), "an int of at least 0"),
        (Split(2, Seq(), deal="cyclic", size=3), "split size is for blocks, not for cyclic"),
    ],
    ids=["negative", "cyclic"],
)
def test_sizes_of_parts_are_checked(order, words):
    with pytest.raises(FormatError, match=words):
        check_summation(order)


def test_parts_of_a_size_hold_every_term_and_survive_json():
    order = Split(3, Seq(), Tree(), size=4)
    assert from_data(to_data(order)) == order
    assert evaluate(order, np.arange(12.0), "f32") == 66
    assert evaluate(order, np.arange(5.0), "f32") == 10
    with pytest.raises(FormatError, match="13 terms do not fit in 3 parts of 4"):
        evaluate(order, np.arange(13.0), "f32")
