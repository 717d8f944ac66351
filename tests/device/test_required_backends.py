"""Which backends must run: all six languages in CI; elsewhere a missing one is a loud skip."""

from __future__ import annotations

import os

import pytest

from tang.verify.backends import BACKENDS, available

REQUIRED = ("c", "opencl", "cuda", "msl", "wgsl", "glsl")


def test_every_language_has_a_backend():
    assert set(REQUIRED) <= set(BACKENDS)


@pytest.mark.parametrize("name", REQUIRED)
def test_a_required_backend_runs_here(name):
    reason = available()[name]
    if reason and os.environ.get("CI") != "true":
        pytest.skip(f"backend {name} does not run here: {reason}")
    assert not reason
