"""Tampering with JSON, leaf by leaf, for the tests of certificates' checkers."""

from __future__ import annotations

import copy


def leaves(data, place=()):
    """The place of every leaf: a tuple of keys and positions. Names of fields are leaves too."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from leaves(value, (*place, key))
    elif isinstance(data, list):
        for n, value in enumerate(data):
            yield from leaves(value, (*place, n))
    else:
        yield place


def at(data, place):
    """What lies at a place."""
    for key in place:
        data = data[key]
    return data


def changed(data, place, value):
    """A copy of the data with another value at a place."""
    found = copy.deepcopy(data)
    at(found, place[:-1])[place[-1]] = value
    return found


def others(value):
    """Values near a leaf's that are not it: of its own kind first, then of another."""
    if isinstance(value, bool):
        return [not value, 1 if value else 0]
    if isinstance(value, int):
        return [value + 1, float(value), str(value), True]
    if isinstance(value, float):
        return [value * 1.25 + 1e-6, value * 0.75 - 1e-6, float("inf"), str(value)]
    if isinstance(value, str):
        return [*_spelt(value), value + " ", *([""] if value else []), None]
    return [1, ""]


def _spelt(value):
    """Texts in which one character in the middle is another, of its kind."""
    place = len(value) // 2
    for c in "0a":
        if value and value[place] != c:
            yield value[:place] + c + value[place + 1 :]


def without_one(data, place=()):
    """Copies in which one field or one entry is missing, or comes twice, with its place."""
    for key in data if isinstance(data, dict) else range(len(data)):
        found = copy.deepcopy(data)
        del found[key]
        yield (*place, key), found
        if isinstance(data, list):
            yield (*place, key, "twice"), [*data, data[key]]
