"""The options of all four convolutions are checked in one place, with the caller's own words."""

from __future__ import annotations

import pytest

import tang as tg

RANKS = {"conv1d": 1, "conv2d": 2, "conv_transpose1d": 1, "conv_transpose2d": 2}


def convolve(kind, extent=8, taps=3, **options):
    """The convolution of that kind over equal spatial extents."""
    rank = RANKS[kind]
    x, w = tg.input("x", (1, 4, *[extent] * rank)), tg.input("w", (4, 4, *[taps] * rank))
    return getattr(tg, kind)(x, w, **options)


@pytest.mark.parametrize("kind", RANKS)
def test_one_number_stands_for_all_axes(kind):
    one = convolve(kind, stride=2, padding=1, dilation=2)
    many = convolve(kind, stride=[2] * RANKS[kind], padding=[1] * RANKS[kind], dilation=2)
    assert one.shape == many.shape
    assert convolve(kind, name="mine").name == "mine"


@pytest.mark.parametrize("kind", RANKS)
@pytest.mark.parametrize(
    ("option", "value"),
    [("stride", 0), ("dilation", 0), ("padding", -1), ("stride", [1] * 3), ("padding", [1] * 3)],
    ids=str,
)
def test_a_wrong_option_is_named_with_its_function(kind, option, value):
    with pytest.raises(tg.GraphError, match=f"{kind}: {option} is an int"):
        convolve(kind, **{option: value})


@pytest.mark.parametrize("kind", RANKS)
def test_an_option_that_it_does_not_have_is_a_type_error(kind):
    with pytest.raises(TypeError, match="unexpected keyword argument 'strides'"):
        convolve(kind, strides=2)


@pytest.mark.parametrize("kind", ["conv1d", "conv2d"])
def test_output_padding_belongs_to_the_transposed_forms(kind):
    with pytest.raises(TypeError, match="unexpected keyword argument 'output_padding'"):
        convolve(kind, output_padding=1)


def test_a_length_that_no_symbol_divides_is_refused():
    with pytest.raises(tg.GraphError, match=r"conv1d: \(-3\+n\)//2 is not known: bind the extent"):
        convolve("conv1d", extent="n", stride=2)
