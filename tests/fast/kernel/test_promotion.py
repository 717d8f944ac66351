"""Promotion: runs of a fold in a narrow format, combined in a wider one, as `Promote` says."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import tang as tg
from tang.emulator import evaluate, round_to
from tang.emulator.certify import certify, tree_hash
from tang.emulator.replay import replay
from tang.errors import BudgetError, ScheduleError
from tang.fuzz import schedule_json
from tang.interpreter import interpret
from tang.ir.format import custom_format
from tang.ir.summation import Promote, Seq, Split
from tang.kernel.expand import expand_math, pack_codes
from tang.kernel.ir import BF16, F16, F32, F64
from tang.kernel.lower import lower
from tang.kernel.narrow import E2M1, E4M3FN, E5M2, TF32
from tang.kernel.schedule import NodeSchedule, Schedule, check_schedule, format_of, includes
from tang.kernel.text import plan_text
from tang.schedule import schedule_from_json, schedule_to_json
from tang.schedule.fit import fit_schedule

RNG = np.random.default_rng(5)
PAIRS = [(F32, F16), (F32, BF16), (F32, E4M3FN), (F16, E4M3FN), (BF16, E5M2), (BF16, None),
         (TF32, E4M3FN), (E4M3FN, E4M3FN), (F64, F32), (F16, None)]  # fmt: skip
LENGTHS = [*product((1, 3, 4), (0, 1, 2, 3, 4, 5, 8, 9)), (128, 255), (7, 64)]


def dot(rows, length):
    """Dots of rows."""
    i, r = tg.dims("i r")
    a, b = tg.input("a", (rows, length)), tg.input("b", (rows, length))
    return tg.Graph(tg.compute("dot", (i,), tg.sum(a[i, r] * b[i, r], over=r)))


def one(name="dot", **fields):
    """A schedule for one node."""
    return Schedule(nodes=((name, NodeSchedule(**fields)),))


def replayed(graph, schedule, **arrays):
    """What kernels compute, as they run on devices: codes excepted."""
    return replay(expand_math(lower(graph, schedule)), arrays).outputs


def factors(partial, length, rows=5):
    """Numbers of a format, of moderate size."""
    name = format_of(partial)
    found = (RNG.standard_normal((rows, length)) for _ in range(2))
    return [round_to(x, name, overflow="saturate") for x in found]


def name_of_pair(value):
    return "-".join("none" if f is None else format_of(f).name for f in value)


@pytest.mark.parametrize("pair", PAIRS, ids=name_of_pair)
def test_runs_are_summed_to_the_bit_as_the_atom_says(pair):
    accumulate, partial = pair
    within = accumulate if partial is None else partial
    name = "" if partial is None else format_of(partial).name
    how = "inf" if format_of(within).has_infinity else "saturate"
    for every, length in LENGTHS:
        a, b = factors(within, length)
        atom = Promote(every, Seq(), name)
        wanted = evaluate(atom, (a, b), format_of(accumulate), overflow=how)
        s = one(storage=F64, accumulate=accumulate, promote=every, partial=partial)
        got = replayed(dot(5, length), s, a=a, b=b)["dot"]
        np.testing.assert_array_equal(got, wanted, err_msg=f"{every} of {length}")


@pytest.mark.parametrize("rounding", ["rz", "rna"])
def test_runs_round_as_the_schedule_says(rounding):
    for accumulate, partial in ((F32, E4M3FN), (F32, F16), (BF16, E5M2)):
        a, _ = factors(partial, 21)
        how = "saturate"
        atom = Promote(4, Seq(), format_of(partial).name)
        one_s = one(storage=F64, accumulate=accumulate, promote=4, partial=partial,
                    rounding=rounding, overflow=how)  # fmt: skip
        got = replayed(dot(5, 21), one_s, a=a, b=np.ones_like(a))["dot"]
        mixed = "rne" if accumulate is F32 else rounding  # f32 has one rounding
        runs = evaluate_runs(a, 4, partial, rounding, how)
        wanted = evaluate(Seq(), runs, format_of(accumulate), mixed, "saturate")
        np.testing.assert_array_equal(got, wanted)
        if accumulate is not F32:
            whole = evaluate(atom, a, format_of(accumulate), rounding, how)
            np.testing.assert_array_equal(got, whole)


def evaluate_runs(x, every, format_, rounding, overflow):
    """The sums of runs, as terms."""
    starts = range(0, x.shape[-1], every)
    pieces = [evaluate(Seq(), x[:, s : s + every], format_of(format_), rounding, overflow)
              for s in starts]  # fmt: skip
    return np.stack(pieces, axis=-1)


def test_every_chunk_of_a_split_and_of_a_lane_has_runs_of_its_own():
    a, b = factors(E4M3FN, 37)
    for chunks, fields in ((3, {"split": 3}), (2, {"lanes": 2}), (4, {"split": 2, "lanes": 2})):
        s = one(storage=F64, promote=4, partial=E4M3FN, **fields)
        got = replayed(dot(5, 37), s, a=a, b=b)["dot"]
        runs = Promote(4, Seq(), "e4m3fn")
        if fields.get("lanes", 1) == 1:
            atom = Split(chunks, runs)
            np.testing.assert_array_equal(got, split_sum(atom, a, b))
        near = (a * b).sum(axis=1)
        assert np.abs(got - near).max() < 1.5


def split_sum(atom, a, b):
    """A split whose parts are runs: the parts are f32."""
    size = -(-a.shape[1] // atom.parts)
    parts = [
        evaluate(atom.inner, (a[:, s : s + size], b[:, s : s + size]), "f32", overflow="saturate")
        for s in range(0, atom.parts * size, size)
    ]
    return evaluate(Seq(), np.stack(parts, axis=-1), "f32")


def test_an_inlined_fold_has_the_same_runs():
    i, r = tg.dims("i r")
    a = tg.input("a", (5, 11))
    total = tg.compute("total", (i,), tg.sum(a[i, r], over=r))
    graph = tg.Graph(tg.compute("half", (i,), total[i] * 0.5))
    x, _ = factors(E5M2, 11)
    fields = {"promote": 4, "partial": E5M2}
    stored = replayed(graph, one("total", **fields), a=x)["half"]
    placed = replayed(graph, one("total", place="inline", **fields), a=x)["half"]
    np.testing.assert_array_equal(placed, stored)
    terms = evaluate(Promote(4, Seq(), "e5m2"), x, "f32")
    np.testing.assert_array_equal(stored, terms * 0.5)


def test_excluded_points_are_no_terms_of_a_run():
    i, r = tg.dims("i r")
    a = tg.input("a", (6, 6))
    graph = tg.Graph(tg.compute("dot", (i,), tg.sum(a[i, r], over=r, where=r <= i)))
    x = round_to(RNG.standard_normal((6, 6)), "e5m2")
    got = replayed(graph, one(promote=2, partial=E5M2), a=x)["dot"]
    rows = [evaluate(Promote(2, Seq(), "e5m2"), x[n, : n + 1], "f32").item() for n in range(6)]
    np.testing.assert_array_equal(got, rows)


def test_runs_go_on_from_one_row_of_several_dims_to_the_next():
    i, r, q = tg.dims("i r q")
    a = tg.input("a", (2, 3, 5))
    graph = tg.Graph(tg.compute("dot", (i,), tg.sum(a[i, r, q], over=(r, q))))
    x = round_to(RNG.standard_normal((2, 3, 5)), "f16")
    got = replayed(graph, one(promote=4, partial=F16), a=x)["dot"]
    atom = Promote(4, Seq(), "f16")
    np.testing.assert_array_equal(got, evaluate(atom, x.reshape(2, 15), "f32"))


@pytest.mark.parametrize("kind", ["max", "prod", "logsumexp", "welford"])
def test_every_monoid_with_an_identity_has_runs(kind):
    i, r = tg.dims("i r")
    x = tg.input("x", (3, 10))
    graph = tg.Graph(tg.compute("dot", (i,), getattr(tg, kind)(x[i, r], over=r)))
    data = {"x": RNG.standard_normal((3, 10))}
    s = one(accumulate=F64 if kind in ("max", "prod") else F32, promote=3)
    (want,), (got,) = interpret(graph, data).values(), replayed(graph, s, **data).values()
    np.testing.assert_allclose(got, want, rtol=1e-5)


def test_the_plan_shows_runs_and_their_length():
    text = plan_text(lower(dot(2, 9), one(promote=4, partial=F16)))
    assert "var run_acc: f16 = 0.0" in text
    assert "if terms == 4" in text
    assert "acc = acc + f32(run_acc)" in text
    assert "run_acc" not in plan_text(lower(dot(2, 9), one()))


def test_formats_include_one_another_as_their_numbers_do():
    f = {n: format_of(t) for n, t in (("f32", F32), ("f16", F16), ("bf16", BF16))}
    assert includes(f["f32"], f["f16"])
    assert includes(f["f32"], f["bf16"])
    assert not includes(f["f16"], f["bf16"])
    assert not includes(f["bf16"], f["f16"])
    assert includes(f["bf16"], E5M2)
    assert not includes(E2M1, E4M3FN)
    assert includes(E4M3FN, E2M1)
    assert not includes(E4M3FN, E5M2)
    assert not includes(custom_format("n", p=4, emin=-9, largest=480, specials="none"), E4M3FN)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"promote": -1}, "dot: promote is the number of terms of a run, 0 for none, not -1"),
        ({"promote": True}, "dot: promote is the number of terms"),
        ({"promote": 2.0}, "dot: promote is the number of terms"),
        ({"partial": F16}, "dot: partial f16 is the format within runs: say how many terms"),
        ({"promote": 2, "partial": "f16"}, "dot: partial is a float format, not 'f16'"),
        (
            {"promote": 2, "partial": F64},
            "accumulate f32 does not hold every number of partial f64",
        ),
        ({"promote": 2, "partial": BF16, "accumulate": F16}, "f16 does not hold every number of"),
        ({"promote": 2, "partial": E4M3FN, "overflow": "inf"}, "e4m3fn has no overflow 'inf'"),
        ({"promote": 2, "rounding": "rz"}, "accumulate or partial format narrower than f32"),
    ],
    ids=lambda v: "-".join(v) if isinstance(v, dict) else "",
)
def test_runs_that_cannot_be_are_refused_by_name(fields, message):
    with pytest.raises(ScheduleError) as e:
        check_schedule(one(**fields), dot(2, 3))
    assert message in str(e.value)


def test_maps_and_folds_without_identity_have_no_runs():
    i, r = tg.dims("i r")
    x = tg.input("x", (3, 4))
    best = tg.compute("best", (i,), tg.argmax(x[i, r], over=r))
    graph = tg.Graph(best=best, twice=tg.compute("twice", (i, r), x[i, r] * 2))
    with pytest.raises(ScheduleError, match=r"^twice: promote 2 needs a reduction"):
        check_schedule(one("twice", promote=2), graph)
    with pytest.raises(ScheduleError, match=r"^best: promote 2 folds every run from the identity"):
        check_schedule(one("best", promote=2), graph)
    everywhere = Schedule(default=NodeSchedule(promote=2))
    assert "terms" not in plan_text(lower(graph, everywhere))
    fitted = fit_schedule(one("best", promote=2, partial=F16, storage=F16), graph)
    assert fitted.of("best") == NodeSchedule(storage=F16)


OWN = custom_format("own", p=3, emin=-3, largest=20)


@pytest.mark.parametrize("partial", [None, F16, E4M3FN, OWN], ids=["none", "f16", "e4m3fn", "own"])
def test_json_gives_back_runs(partial):
    schedule = one(promote=128, partial=partial)
    assert schedule_from_json(schedule_to_json(schedule)) == schedule
    text = schedule_json.schedule_to_json(schedule)
    assert schedule_json.schedule_from_json(text) == schedule


def test_json_of_runs_that_is_wrong_names_the_place():
    assert "promote" not in schedule_to_json(Schedule())
    for node, message in (
        ('{"promote": -1}', r"nodes\['t'\].promote: expected an integer from 0 to"),
        ('{"promote": 2, "partial": "f7"}', r"nodes\['t'\].partial: expected one of"),
    ):
        with pytest.raises(ScheduleError, match=message):
            schedule_from_json(f'{{"version": 1, "nodes": {{"t": {node}}}}}')


def test_bounds_for_ranges_refuse_runs_by_name():
    with pytest.raises(BudgetError, match=r"^dot: it folds in runs of 4 terms"):
        certify(dot(2, 9), one(promote=4), {}, {"a": (0, 1), "b": (0, 1)})
    assert certify(dot(2, 9), one(), {}, {"a": (0, 1), "b": (0, 1)}).nodes
    assert tree_hash(one(promote=4), dot(2, 9)) != tree_hash(one(promote=5), dot(2, 9))


def test_a_narrow_run_is_packed_and_expanded_as_every_other_rounding():
    plan = pack_codes(expand_math(lower(dot(2, 9), one(storage=E4M3FN, promote=4, partial=E4M3FN))))
    functions = {f.name for f in plan.launches[0].kernel.functions}
    assert functions == {"encode_e4m3fn", "round_e4m3fn_rne_saturate_f32"}
