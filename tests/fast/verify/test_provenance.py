"""What provenance says of wrong buffers: every cause planted, and no cause where there is none."""

from __future__ import annotations

import numpy as np
import pytest

from tang.device.storage import Poison, poisoned
from tang.kernel.ir import Type
from tang.verify.provenance import Cause, Known, explain, nearly
from tang.verify.regions import Shape, region_of

RNG = np.random.default_rng(5)
WANT = RNG.standard_normal((12, 20)).astype(np.float32)
OTHER = Known("k", Type.F32, RNG.standard_normal(300).astype(np.float32))
FLAT = WANT.ravel()


def shifted(by):
    out = np.full(FLAT.size, 7.0, np.float32)
    if by > 0:
        out[by:] = FLAT[:-by]
    else:
        out[:by] = FLAT[-by:]
    return out.reshape(WANT.shape)


def with_tail(values, count=17):
    out = FLAT.copy()
    out[-count:] = values
    return out.reshape(WANT.shape)


def shifted_bytes(by):
    raw = OTHER.data.tobytes()
    return np.frombuffer(raw[by : by + WANT.nbytes], np.float32).reshape(WANT.shape)


def k_over_the_right_three_quarters():
    out = FLAT.copy()
    out[60:] = OTHER.data[: FLAT.size - 60]
    return out.reshape(WANT.shape)


PLANTED = {
    "all NaN poison": (poisoned(Type.F32, WANT.shape, Poison.NAN), Cause.POISON),
    "a tail of finite poison": (with_tail(poisoned(Type.F32, (17,), Poison.FINITE)), Cause.POISON),
    "all zeros": (np.zeros_like(WANT), Cause.ZEROS),
    "a tail of zeros": (with_tail(0), Cause.ZEROS),
    "all NaN": (np.full_like(WANT, np.nan), Cause.NANS),
    "a constant": (np.full_like(WANT, 2.5), Cause.CONSTANT),
    "another buffer": (OTHER.data[:240].reshape(WANT.shape), Cause.OTHER_BUFFER),
    "a window of another buffer": (OTHER.data[31:271].reshape(WANT.shape), Cause.OTHER_BUFFER),
    "bytes of another buffer": (shifted_bytes(6), Cause.OTHER_BUFFER),
    "another buffer over a part": (k_over_the_right_three_quarters(), Cause.OTHER_BUFFER),
    "shifted up": (shifted(3), Cause.SHIFTED),
    "shifted down": (shifted(-1), Cause.SHIFTED),
    "columns off by one": (np.roll(WANT, 1, axis=1), Cause.SHIFTED),
    "transposed": (WANT.T.reshape(WANT.shape), Cause.TRANSPOSED),
    "reversed": (FLAT[::-1].reshape(WANT.shape), Cause.REVERSED),
    "rows reversed": (WANT[::-1].copy(), Cause.REVERSED),
    "strided": (np.resize(FLAT[::2], FLAT.size).reshape(WANT.shape), Cause.STRIDED),
    "twice": (2 * WANT, Cause.SCALED),
    "negated": (-WANT, Cause.SCALED),
    "a third too large": (WANT * np.float32(4 / 3), Cause.SCALED),
    "a thousandth too large": (WANT * np.float32(1.001), Cause.SCALED),
    "plus a thousandth": (WANT + np.float32(0.001), Cause.OFFSET),
    "plus one": (WANT + 1, Cause.OFFSET),
    "rounded to f16": (WANT.astype(np.float16).astype(np.float32), Cause.ROUNDED),
    "one unit off": (np.nextafter(WANT, np.float32(9)), Cause.LAST_BITS),
    "a wrong tail": (with_tail(RNG.standard_normal(17)), Cause.REGION),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_cause_is_named(name):
    got, cause = PLANTED[name]
    found = explain(got, WANT, Type.F32, known=[OTHER])
    assert found is not None, name
    assert found.cause is cause, found.sentence


def test_a_right_buffer_has_no_cause():
    assert explain(WANT, WANT.copy(), Type.F32, known=[OTHER]) is None
    nan = np.full(5, np.nan, np.float32)
    assert explain(nan, nan, Type.F32) is None


def test_an_earlier_result_is_called_stale():
    before = Known("the result of the launch before", Type.F32, OTHER.data[:240], earlier=True)
    found = explain(OTHER.data[:240].reshape(WANT.shape), WANT, Type.F32, known=[before])
    assert found.cause is Cause.STALE
    assert "a copy of the result of the launch before" in found.sentence


def test_the_sentence_tells_direction_and_distance():
    assert "shifted by +3 elements" in explain(shifted(3), WANT, Type.F32).sentence
    assert "shifted by -1 elements" in explain(shifted(-1), WANT, Type.F32).sentence
    assert explain(2 * WANT, WANT, Type.F32).sentence.endswith("the right answer times 2")
    third = explain(WANT * np.float32(4 / 3), WANT, Type.F32).sentence
    assert third.endswith("times 4/3")


@pytest.mark.parametrize("element", [Type.F16, Type.BF16, Type.F32, Type.F64, Type.I32, Type.I64])
@pytest.mark.parametrize("poison", list(Poison))
def test_poison_is_recognised_in_every_type(element, poison):
    got = poisoned(element, (40,), poison)
    want = np.arange(40).astype(got.dtype)
    assert explain(got, want, element).cause is Cause.POISON


CONSTANT = np.full(64, 3.0, np.float32)
NOISE = RNG.standard_normal(240).astype(np.float32).reshape(WANT.shape)
INNOCENT = {
    "noise": (NOISE, WANT),
    "noise against a constant": (NOISE.ravel()[:64], CONSTANT),
    "a constant that is wrong against a constant": (CONSTANT + 1, CONSTANT),
    "small indices": (RNG.integers(0, 3, 240), RNG.integers(0, 3, 240)),
}


@pytest.mark.parametrize("name", INNOCENT)
def test_nothing_is_guessed_of_a_fault_without_a_cause(name):
    got, want = INNOCENT[name]
    element = Type.I64 if got.dtype.kind == "i" else Type.F32
    known = [OTHER, Known("x", element, np.arange(500).astype(got.dtype) % 3)]
    found = explain(got, want, element, known=known)
    assert found is None or found.cause is Cause.REGION, found.sentence


def test_a_constant_right_answer_is_not_a_copy_of_a_constant_buffer():
    known = [Known("ones", Type.F32, np.full(64, 4.0, np.float32))]
    found = explain(CONSTANT + 1, CONSTANT, Type.F32, known=known)
    assert found is None


def test_copies_are_found_within_a_tolerance():
    near = nearly(1e-4, 0.0)
    got = OTHER.data[31:271].reshape(WANT.shape) * np.float32(1 + 2.0**-16)
    assert explain(got, WANT, Type.F32, known=[OTHER], near=near).cause is Cause.OTHER_BUFFER
    assert explain(WANT * np.float32(1 + 2.0**-16), WANT, Type.F32, near=near) is None


def masked(shape, *where):
    mask = np.zeros(shape, np.bool_)
    mask[where] = True
    return mask


REGIONS = {
    "whole": (np.ones((4, 5), np.bool_), Shape.WHOLE),
    "tail": (masked(100, slice(90, None)), Shape.TAIL),
    "head": (masked(100, slice(0, 8)), Shape.HEAD),
    "row": (masked((6, 9), 2), Shape.SLICE),
    "column": (masked((6, 9), slice(None), 4), Shape.SLICE),
    "last rows": (masked((6, 9), slice(4, None)), Shape.EDGE),
    "last columns": (masked((6, 9), slice(None), slice(7, None)), Shape.EDGE),
    "every fourth": (masked(100, slice(1, None, 4)), Shape.EVERY),
    "run": (masked(100, slice(20, 40)), Shape.RUN),
    "part": (masked(100, [3, 17, 60]), Shape.PART),
}


@pytest.mark.parametrize("name", REGIONS)
def test_a_region_is_recognised(name):
    mask, shape = REGIONS[name]
    assert region_of(mask).shape is shape, region_of(mask).words
