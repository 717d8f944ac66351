"""Bit equality and the words for a difference."""

from __future__ import annotations

import numpy as np
import pytest

from tang.kernel.ir import Type
from tang.verify.compare import bit_equal, describe, memory_equal

PAYLOAD = np.array([0x7FC00001, 0x7FE5A5A5], np.uint32).view(np.float32)


def test_the_same_bits_are_equal():
    x = np.array([0.0, -0.0, 1.5, np.inf, -np.inf], np.float32)
    assert bit_equal(x, x.copy()).all()


def test_all_nans_are_equal_whatever_their_payload():
    assert bit_equal(PAYLOAD, np.full(2, np.nan, np.float32)).all()


@pytest.mark.parametrize(
    ("a", "b"), [(0.0, -0.0), (np.nan, 1.0), (1.0, np.nan), (np.inf, 3.4e38), (1.0, 1.0000001)]
)
def test_other_bits_are_different(a, b):
    assert not bit_equal(np.array([a], np.float32), np.array([b], np.float32)).any()


@pytest.mark.parametrize(
    "other", [np.zeros((2, 1), np.float32), np.zeros(2), np.zeros(2, np.int32)]
)
def test_another_shape_or_dtype_is_equal_nowhere(other):
    assert not bit_equal(np.zeros(2, np.float32), other).any()


def test_empty_arrays_of_one_shape_are_equal_and_others_are_not():
    assert bit_equal(np.zeros((0, 3)), np.zeros((0, 3))).all()
    assert not bit_equal(np.zeros((0, 3)), np.zeros((0, 2))).all()


def test_zero_dimensional_arrays_compare():
    assert bit_equal(np.array(1.0), np.array(1.0)).all()
    assert not bit_equal(np.array(1.0), np.array(2.0)).any()


def test_a_difference_is_shown_up_to_the_first_differing_value():
    a = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    b = np.array([[1.0, 2.0], [3.5, 4.5]], np.float32)
    assert describe(a, b, a == b, ("left", "right")) == (
        "2 of 4 elements differ, the first at [1, 0]\n"
        "        left: 1.0 (0x1.0000000000000p+0), 2.0 (0x1.0000000000000p+1), "
        "3.0 (0x1.8000000000000p+1)\n"
        "       right: 1.0 (0x1.0000000000000p+0), 2.0 (0x1.0000000000000p+1), "
        "3.5 (0x1.c000000000000p+1)"
    )


def test_words_of_bf16_are_equal_when_both_are_nan():
    words = np.array([0x7FC0, 0x7FC0, 0x7F80, 0x8000], np.uint16)
    other = np.array([0xFFC1, 0x7F80, 0x7F80, 0x0000], np.uint16)
    assert memory_equal(words, other, Type.BF16).tolist() == [True, False, True, False]
    assert memory_equal(words, other, Type.F16).tolist() == [False, False, True, False]
    assert memory_equal(words, words, Type.BF16).all()
    assert not memory_equal(words, words[:2], Type.BF16).all()
