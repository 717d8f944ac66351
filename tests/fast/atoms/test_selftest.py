"""The self-test certifies a device that answers as the models do, and refuses wrong ones."""

from dataclasses import replace

import numpy as np
import pytest
from fake_gpu import FakeGpu

from tang.budget.selftest import chosen, selftest
from tang.errors import FormatError
from tang.ir.tensorcore import ATOMS
from tang.kernel.accuracy import Accuracy
from tang.kernel.profile import IEEE

WIDE = ATOMS["sm_90", "wgmma", "bf16"]
HALF = ATOMS["sm_90", "wgmma", "f16", "f16"]
FP8 = ATOMS["sm_90", "mma", "e5m2"]
TF32 = ATOMS["sm_90", "mma", "tf32"]


def report_of(gpu, atom, count=300):
    return selftest(gpu, {"device": "fake"}, [atom], (), count=count)


@pytest.mark.parametrize("architecture", ["sm_75", "sm_80", "sm_89", "sm_90", "sm_100"])
def test_a_device_that_answers_as_the_models_do_is_certified(architecture):
    atoms, parts = chosen(architecture)
    report = selftest(FakeGpu(), {"device": "fake"}, atoms, parts, count=25)
    assert report.certified, report.to_text()
    assert len(report.atoms) == len(atoms)
    assert report.to_text().startswith("fake: certified;")
    assert report.to_data()["faults"] == []


def nan_with_payload(bits, atom):
    return np.where(bits == atom.nan, bits.dtype.type(atom.nan ^ 1), bits)


def one_copy_wrong(bits, atom):
    bits = bits.copy()
    bits[7, 1] ^= 1
    return bits


MODELS = {
    "one-bit-less": (WIDE, lambda a: replace(a, fraction=a.fraction - 1), "vectors"),
    "one-bit-more": (WIDE, lambda a: replace(a, fraction=a.fraction + 1), "vectors"),
    "the-floor-dropped": (WIDE, lambda a: replace(a, floor=-1000), "floor"),
    "the-floor-dropped-in-f16": (HALF, lambda a: replace(a, floor=-1000), "floor"),
    "the-floor-of-another-model": (WIDE, lambda a: replace(a, floor=-126), "floor"),
    "to-nearest": (WIDE, lambda a: replace(a, rounding="rne"), "vectors"),
    "towards-zero-for-nearest": (HALF, lambda a: replace(a, rounding="rz"), "vectors"),
    "exact-instead-of-truncated": (WIDE, lambda a: replace(a, fraction=None), "vectors"),
    "two-blocks": (WIDE, lambda a: replace(a, groups=(a.groups[0][:8], a.groups[0][8:])), "near"),
    "swapped-groups": (FP8, lambda a: replace(a, groups=a.groups[::-1]), "wide"),
    "c-joins-the-first-group": (FP8, lambda a: replace(a, joined=True), "vectors"),
    "operands-not-truncated": (TF32, lambda a: replace(a, truncated=False, operands="f32"), "near"),
}  # fmt: skip


@pytest.mark.parametrize("fault", MODELS)
def test_a_device_with_another_model_is_refused_with_the_regime_named(fault):
    atom, change, regime = MODELS[fault]
    report = report_of(FakeGpu(change), atom)
    assert not report.certified
    assert dict(report.atoms[0].wrong)[regime]
    assert f"{regime} " in report.faults[0]
    assert "the model says" in report.faults[0]


ANSWERS = {
    "a-nan-with-a-payload": (nan_with_payload, "special"),
    "a-signed-zero": (lambda b, _: np.where(b == 0, b.dtype.type(1 << 31), b), "vectors"),
    "swapped-columns": (lambda b, _: np.roll(b, 1, axis=0), "near"),
    "one-row-of-one-tile-wrong": (one_copy_wrong, "near"),
    "subnormals-flushed": (lambda b, _: np.where(b << 1 < 0x01000000, b * 0, b), "floor"),
}


@pytest.mark.parametrize("fault", ANSWERS)
def test_a_device_whose_answers_are_changed_is_refused(fault):
    edit, regime = ANSWERS[fault]
    report = report_of(FakeGpu(edit=edit), WIDE)
    assert not report.certified
    assert dict(report.atoms[0].wrong)[regime]


def test_a_vector_that_fails_is_named_and_so_is_its_copy():
    def edit(bits, atom):
        bits = bits.copy()
        bits[0, 1] += 1
        return bits

    (verdict,) = report_of(FakeGpu(edit=edit), WIDE, 1).atoms
    assert verdict.example.startswith("vectors 1 − 1 + 2^-8: 0x3b800001, copy 1 of 2, the model")


FUNCTIONS = {
    "a-coarse-function": ({"exp2": {"ulp": 2.6}}, "f32 exp2: 2.6 ulp at (1.0,), where 2.5 are"),
    "coarse-subnormals": ({"exp": {"small": 3.0}}, "f32 exp: 3 ulp at (1e-39,), where something"),
    "a-lost-nan": ({"sin": {"wrong": 3, "at_wrong": (2.0,)}}, "f32 sin: 3 results of another kind"),
    "a-coarse-root": ({"rsqrt": {"ulp": 3.0}}, "f32 rsqrt: 3 ulp"),
}


@pytest.mark.parametrize("fault", FUNCTIONS)
def test_a_function_that_is_worse_than_documented_refuses_the_device(fault):
    scans, words = FUNCTIONS[fault]
    report = selftest(FakeGpu(scans=scans), {"device": "fake"}, (), ("functions",))
    assert len(report.faults) == 1
    assert report.faults[0].startswith(words)
    assert not report.certified


def measured(ulp):
    accuracy = Accuracy(row="f32 exp2", ulp=ulp, at=(1.0,), absolute=0.0, count=9)
    return replace(IEEE, functions=(accuracy,))


def test_a_profile_that_measured_more_than_there_is_refuses_the_device():
    fine = selftest(FakeGpu(), {"device": "f"}, (), ("functions",), measured(1.73))
    assert fine.certified
    wrong = selftest(FakeGpu(), {"device": "f"}, (), ("functions",), measured(2.2))
    assert wrong.faults == ("f32 exp2: the profile measured 2.2 ulp, all arguments 2",)


PROFILES = {
    "a-wrong-quotient": ({"div": 5}, IEEE, ["f32 div"]),
    "a-contraction": ({"mul, add": 5}, IEEE, ["f32 mul, add"]),
    "a-stale-profile": ({}, replace(IEEE, flushes=("f32 mul",)), ["f32 mul", "f32 mul, add"]),
    "a-profile-that-agrees": ({"div": 5}, replace(IEEE, native=("f32 div",)), []),
    "an-unfused-fma": ({"fma": 5}, replace(IEEE, fused=False), []),
}


@pytest.mark.parametrize("case", PROFILES)
def test_operations_are_ieee_exactly_where_the_profile_says_so(case):
    wrong, profile, faults = PROFILES[case]
    report = selftest(FakeGpu(wrong=wrong), {"device": "f"}, (), ("operations",), profile)
    assert [f.split(":")[0] for f in report.faults] == faults
    assert report.certified == (not faults)


def test_what_cannot_be_asked_is_not_certified():
    atoms, _ = chosen("sm_70", "f16")
    report = selftest(FakeGpu(), {"device": "fake"}, atoms, ())
    assert not report.certified
    assert report.unasked == ("sm_70 mma f16", "sm_70 mma f16 f16")


def test_nothing_asked_is_not_certified():
    assert not selftest(FakeGpu(), {"device": "fake"}, (), ()).certified


def test_further_rounds_ask_other_questions_while_there_is_time():
    report = selftest(FakeGpu(), {"device": "fake"}, [TF32], (), count=10, seconds=0.5)
    assert report.rounds > 1
    assert report.atoms[0].asked > selftest(FakeGpu(), {}, [TF32], (), count=10).atoms[0].asked


def test_parts_are_chosen_by_words():
    atoms, parts = chosen("sm_90", "wgmma bf16")
    assert [a.key for a in atoms] == [("sm_90", "wgmma", "bf16")]
    assert parts == ()
    assert chosen("sm_90", "operations") == ((), ("operations",))
    assert chosen("sm_90", "sm_90-wgmma-bf16") == (atoms, ())


@pytest.mark.parametrize(
    ("architecture", "only", "words"),
    [
        ("sm_86", "", "no models of sm_86's tensor cores, only of sm_100, sm_70"),
        ("sm_90", "int8", "names nothing: there are functions; operations; sm_90 mma f16"),
    ],
)
def test_what_there_is_not_is_refused_with_what_there_is(architecture, only, words):
    with pytest.raises(FormatError, match=words):
        chosen(architecture, only)
