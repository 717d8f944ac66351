"""Mangled names are injective, plain ASCII, and end in ways no word of any language does."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tang.emit.names import Kind, mangle

NASTY = (
    "packed", "thread", "new", "half", "sampler", "type", "a__b", "gl_x", "gl_", "_gl_x", "assert",
    "main", "out", "e1", "_", "__", "", "Z", "ZZ", "Zu", "Z5fz", "é", "变量", "🙂", "a b", "1x",
    "x_", "x_b", "x_f2", "__global__", "float", "restrict", "tang_min_i32", "\ud800", "a\nb", "*/",
    "x",
)  # fmt: skip

names = st.text(max_size=6) | st.sampled_from(NASTY) | st.text("Zu_5fzbk2", max_size=6)
kinds = st.sampled_from(Kind)


@given(names, kinds)
@example("gl_x", Kind.VALUE)
@example("a__b", Kind.MEMORY)
def test_a_mangled_name_is_an_identifier_in_every_language(name, kind):
    m = mangle(name, kind)
    assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", m)
    assert "__" not in m
    assert not m.startswith("gl_")
    assert re.search(r"_[bfk]?$", m)


@given(
    st.tuples(names, kinds, st.integers(1, 22)),
    st.tuples(names, kinds, st.integers(1, 22)),
)
@example(("x_", Kind.VALUE, 1), ("x", Kind.VALUE, 1))
@example(("a", Kind.MEMORY, 1), ("a_b", Kind.VALUE, 1))
@example(("x", Kind.FUNCTION, 2), ("x_f2", Kind.VALUE, 1))
@example(("Z", Kind.VALUE, 1), ("Z5az", Kind.VALUE, 1))
def test_distinct_things_get_distinct_names(a, b):
    if a != b:
        assert mangle(*a) != mangle(*b)


def test_nasty_names_stay_distinct():
    mangled = {mangle(n, k) for n in NASTY for k in Kind}
    assert len(mangled) == len(NASTY) * len(Kind)


@pytest.mark.parametrize(
    ("name", "mangled"), [("row_max", "row_max_"), ("x", "x_"), ("a__b", "a_Zub_"), ("é", "Ze9z_")]
)
def test_ordinary_names_stay_readable(name, mangled):
    assert mangle(name) == mangled
