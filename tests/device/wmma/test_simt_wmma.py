"""Warp matrices on SIMT give the bits of the emulator and of an H200, and see what is wrong."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from wmma_cases import STEPS, VARIANTS, expected, found, job_of, kernel_of, problem, text_of

from tang.device import Ran
from tang.device.simt import Binding
from tang.device.simt import device as simt_device
from tang.device.simt.matrices import matrix_lines
from tang.errors import FormatError
from tang.ir.tensorcore import ATOMS, WMMA

RECORDED = json.loads((Path(__file__).parent / "h200_wmma.json").read_text())


def answers(device, variants, text=None):
    """The bits that each variant's kernel gives."""
    pairs = [(kernel_of(v), Binding(v.symbol)) for v in variants]
    compiled = device.compile_texts(pairs, text or text_of(variants))
    jobs = [job_of(c, v, problem(v)) for c, v in zip(compiled, variants, strict=True)]
    ran = device.run(jobs)
    assert all(isinstance(r, Ran) for r in ran), ran
    return {v.name: found(r, v) for r, v in zip(ran, variants, strict=True)}


@pytest.fixture(scope="module")
def computed(cuda):
    return answers(cuda, list(VARIANTS.values()))


@pytest.mark.parametrize("name", VARIANTS)
def test_every_bit_is_the_emulators(name, computed):
    v = VARIANTS[name]
    wanted = expected(v, problem(v))
    assert np.array_equal(computed[name], wanted), int((computed[name] != wanted).sum())
    assert len(np.unique(wanted)) > 1000
    size = wanted & (0x7FFF if v.result == "f16" else 0x7FFFFFFF)
    assert (size == (0x7FFF if v.result == "f16" else 0x7FFFFFFF)).any()
    assert (size == (0x7C00 if v.result == "f16" else 0x7F800000)).any()


@pytest.mark.parametrize("name", VARIANTS)
def test_every_bit_is_that_of_a_recorded_h200(name, computed):
    assert hashlib.blake2b(computed[name].tobytes()).hexdigest()[:32] == RECORDED["answers"][name]


ONE_OF_EACH = {
    "f16": VARIANTS["f16_f32_f32_m16n16k16_row_col"],
    "f16 in f16": VARIANTS["f16_f16_f16_m16n16k16_row_col"],
    "bf16": VARIANTS["bf16_f32_f32_m16n16k16_row_col"],
    "tf32": VARIANTS["tf32_f32_f32_m16n16k8_row_col"],
}


def halved(model):
    terms = len(model.groups[0]) // 2
    return replace(
        model, groups=tuple(tuple(range(i, i + terms)) for i in range(0, model.k, terms))
    )


def whole(model):
    return replace(model, groups=(tuple(range(model.k)),))


FAULTS = {
    "half as many terms at once": halved,
    "one bit less when aligned": lambda m: replace(m, fraction=m.fraction - 1),
    "one bit more when aligned": lambda m: replace(m, fraction=m.fraction + 1),
    "another floor": lambda m: replace(m, floor=m.floor + 16),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_number_of_the_model_is_seen(fault, cuda, monkeypatch):
    wrong = {key: FAULTS[fault](model) for key, model in WMMA.items()}
    monkeypatch.setattr(simt_device, "matrix_lines", lambda text: matrix_lines(text, wrong))
    given = answers(cuda, list(ONE_OF_EACH.values()))
    for v in ONE_OF_EACH.values():
        assert not np.array_equal(given[v.name], expected(v, problem(v))), v.name
        assert np.array_equal(given[v.name], expected(v, problem(v), wrong)), v.name


def test_the_other_order_of_two_products_is_seen(cuda):
    variants = list(ONE_OF_EACH.values())
    text = text_of(variants)
    assert text.count("+ s * M * K") == text.count("+ s * N * K") == 1
    for size in ("M", "N"):
        text = text.replace(f"+ s * {size} * K", f"+ ({STEPS - 1} - s) * {size} * K")
    given = answers(cuda, variants, text)
    for v in variants:
        assert not np.array_equal(given[v.name], expected(v, problem(v))), v.name


def test_tf32_of_wmma_is_not_that_of_mma_sync_and_adds_low_terms_first():
    v = ONE_OF_EACH["tf32"]
    given = problem(v)
    other = WMMA | {("tf32", "f32"): ATOMS["sm_90", "mma", "tf32"]}
    assert whole(WMMA["tf32", "f32"]).groups == other["tf32", "f32"].groups
    assert not np.array_equal(expected(v, given), expected(v, given, other))
    model = WMMA["tf32", "f32"]
    swapped = WMMA | {("tf32", "f32"): replace(model, groups=model.groups[::-1])}
    assert not np.array_equal(expected(v, given), expected(v, given, swapped))
    with pytest.raises(FormatError, match="SIMT adds runs"):
        matrix_lines("#include <mma.h>", swapped)


def test_the_numbers_come_from_the_models_and_only_where_they_are_asked_for():
    assert matrix_lines("// #include <mma.h>\nint x;") == ""
    line = matrix_lines("#include <mma.h>")
    assert line.count(" ROW(") == len(WMMA)
    assert "ROW(__half, __half, 16, 25, -21, -14, -14, 0, 0x7fff)" in line
    assert "precision::tf32, float, 4, 25, -133, -126, -126, 1, 0x7fffffff)" in line


@pytest.mark.parametrize(
    "key", [("sm_90", "mma", "e4m3fn"), ("sm_90", "mma", "f64"), ("sm_90", "wgmma", "e5m2")],
    ids=lambda key: "-".join(key),
)  # fmt: skip
def test_a_model_that_the_header_does_not_compute_is_refused(key):
    with pytest.raises(FormatError, match="SIMT"):
        matrix_lines("#include <mma.h>", {key[2:]: ATOMS[key]})
