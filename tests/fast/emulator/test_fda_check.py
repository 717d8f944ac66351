"""Recorded answers of an H200; the probe's verdict on the model itself and on wrong devices."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tang.emulator.fda import fda_bits
from tang.emulator.fda_check import REGIMES, answers, judge, questions, values_of
from tang.emulator.fda_vectors import vectors
from tang.errors import DeviceError
from tang.ir.tensorcore import ATOMS

RECORDED = json.loads(Path(__file__).with_name("h200_answers.json").read_text())


def key_of(name, instruction):
    operands, *output = name.split()
    return ("sm_90", instruction, operands, *output)


def asked(codes, atom):
    """One row of k factors of the bits of its first ones."""
    width = {"f16": np.uint16, "bf16": np.uint16, "tf32": np.uint32}.get(atom.operands, np.uint8)
    bits = np.zeros(atom.k, width)
    bits[: len(codes)] = codes
    return values_of(bits, atom.operands)


def wrong(name, change=None):
    """Which recorded answers the model, or a changed one, does not give."""
    found = []
    for row in RECORDED[name]:
        for instruction in {"mma", "wgmma"} & set(row):
            atom = ATOMS[key_of(name, instruction)]
            atom = change(atom) if change else atom
            c = np.array([row["c"]], np.uint16 if atom.result == "f16" else np.uint32)
            bits = fda_bits(asked(row["a"], atom), asked(row["b"], atom),
                            values_of(c, atom.result)[0], atom)  # fmt: skip
            if bits != row[instruction]:
                found.append((instruction, row["question"]))
    return found


@pytest.mark.parametrize("name", RECORDED, ids=lambda n: n.replace(" ", "-"))
def test_the_models_give_every_answer_that_an_h200_gave(name):
    assert wrong(name) == []


def test_734_answers_are_recorded():
    count = sum(len({"mma", "wgmma"} & set(r)) for rows in RECORDED.values() for r in rows)
    assert count == 734


@pytest.mark.parametrize("name", ["bf16", "tf32", "f16 f16", "e5m2"])  # f16 has only two terms
def test_the_recorded_answers_refuse_wrong_models(name):
    changes = {
        "fraction": lambda a: replace(a, fraction=a.fraction + 1),
        "rounding": lambda a: replace(a, rounding="rz" if a.rounding == "rne" else "rne"),
        "blocks": lambda a: replace(a, groups=tuple((i,) for g in a.groups for i in g)),
    }
    assert [c for c, change in changes.items() if wrong(name, change)]


@pytest.mark.parametrize("key", ATOMS, ids="-".join)
def test_the_model_certifies_itself(key):
    atom = ATOMS[key]
    verdict = judge(atom, lambda q: answers(q, atom), count=20)
    assert verdict.certified
    assert verdict.asked == 20 * len(REGIMES) + len(vectors(atom))
    assert f"certified, 0 of {verdict.asked} differ" in str(verdict)


def test_the_regimes_reach_specials_subnormals_and_overflow():
    atom = ATOMS["sm_90", "wgmma", "bf16"]
    seen = {q.regime: values_of(answers(q, atom), "f32") for q in questions(atom, 400, 1)}
    assert np.isnan(seen["special"]).any()
    assert np.isinf(seen["bits"]).any()
    assert not np.isnan(seen["near"]).any()
    tiny = np.abs(seen["floor"])
    assert ((tiny > 0) & (tiny < 2.0**-126)).any()


def wrong_devices(atom):
    return {
        "one bit more": lambda q: answers(q, replace(atom, fraction=atom.fraction + 1)),
        "no floor": lambda q: answers(q, replace(atom, floor=-1000)),
        "to nearest": lambda q: answers(q, replace(atom, rounding="rne")),
        "two blocks": lambda q: answers(q, replace(atom, groups=(tuple(range(8)),
                                                                 tuple(range(8, 16))))),
        "a quiet NaN": lambda q: np.where(answers(q, atom) == 0x7FFFFFFF, np.uint32(0x7FC00000),
                                          answers(q, atom)),
        "a signed zero": lambda q: np.where(answers(q, atom) == 0, np.uint32(1 << 31),
                                            answers(q, atom)),
        "flushed": lambda q: np.where(answers(q, atom) << 1 < 0x01000000, np.uint32(0),
                                      answers(q, atom)),
    }  # fmt: skip


@pytest.mark.parametrize(
    "fault", wrong_devices(ATOMS["sm_90", "wgmma", "bf16"]), ids=lambda f: f.replace(" ", "-")
)
def test_a_wrong_device_is_refused_with_an_example(fault):
    atom = ATOMS["sm_90", "wgmma", "bf16"]
    verdict = judge(atom, wrong_devices(atom)[fault], count=600)
    assert not verdict.certified
    assert "refused" in str(verdict)
    assert "the model says 0x" in verdict.example


def test_answers_of_a_wrong_shape_are_no_verdict():
    atom = ATOMS["sm_90", "wgmma", "f16"]
    count = len(vectors(atom))
    words = rf"\({count},\) answers of uint32 were expected, not \({count - 1},\)"
    with pytest.raises(DeviceError, match=words):
        judge(atom, lambda q: answers(q, atom)[1:], count=5)
