"""Formats: draws for several languages can be said in each of them."""

from __future__ import annotations

import pytest

from tang.emit import supports
from tang.fuzz.case import draw_batch, draw_case
from tang.fuzz.formats import ALL, Formats, formats_of
from tang.kernel.expand import expand_math
from tang.kernel.lower import lower

LANGUAGES = ("c", "opencl", "cuda", "msl", "wgsl", "glsl")


def test_c_opencl_cuda_and_foreign_backends_are_given_everything():
    assert formats_of(("c", "opencl", "cuda", "glsl", "mine:factory")) == ALL
    assert formats_of(()) == ALL


def test_one_narrow_language_narrows_all():
    assert formats_of(("c", "msl")) == Formats(f64=False)
    assert formats_of(("msl", "wgsl")) == Formats(f64=False, i64=False)


@pytest.mark.parametrize("language", LANGUAGES)
def test_draws_for_all_six_can_be_said_in_every_language(language):
    for case in draw_batch(5, 60, formats=formats_of(LANGUAGES)):
        plan = expand_math(lower(case.graph, case.schedule))
        assert [supports(launch.kernel, language) for launch in plan.launches] == [
            None for _ in plan.launches
        ], case.name


def test_a_draw_is_the_same_again_in_the_same_formats():
    narrow = formats_of(LANGUAGES)
    cases = draw_batch(9, 20, formats=narrow)
    assert [c.digest() for c in cases] == [draw_case(9, i, narrow).digest() for i in range(20)]
    assert any(c.digest() != draw_case(9, c.index).digest() for c in cases)
