"""Devices in the threads of a campaign, and with compilers that have something to say."""

from __future__ import annotations

import os
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tang.kernel.ir import Type
from tang.verify.backends import available, open_backend


def opened(language):
    """The device of a language; skipped without it, except in CI."""
    missing = available()[language]
    if missing and os.environ.get("CI") != "true":
        pytest.skip(f"{language} does not run here: {missing.splitlines()[0]}")
    return open_backend(language)


@pytest.mark.gpu
@pytest.mark.parametrize("language", ["c", "opencl", "glsl", "wgsl"])
def test_memory_and_subgroups_of_a_device_are_the_same_in_every_thread(language):
    device = opened(language)
    data = np.arange(1000, dtype=np.float32)

    def there_and_back(n):
        memory = device.upload(Type.F32, data + n)
        return device.download(memory) - n, getattr(device, "subgroup", 0)

    here = there_and_back(0)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(there_and_back, range(16)))
    for values, subgroup in (here, *found, there_and_back(3)):
        assert (values == data).all()
        assert subgroup == here[1]


@pytest.mark.gpu
def test_the_first_question_about_a_subgroup_may_come_from_a_thread():
    """As in a campaign on a machine whose profile is not known yet."""
    device = opened("glsl")
    with ThreadPoolExecutor(1) as pool:
        subgroup = pool.submit(lambda: device.subgroup).result()
    assert subgroup == device.subgroup


def test_what_a_compiler_of_opencl_says_of_a_text_that_it_takes_is_no_error():
    device = opened("opencl")
    from tang.device import runner_opencl

    class Talkative:
        """A program whose compiler warns, as NVIDIA's does of kernels."""

        def build(self, options):
            warnings.warn("Non-empty compiler output", runner_opencl.cl.CompilerWarning, 2)
            return self

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isinstance(runner_opencl._build(Talkative()), Talkative)
    assert device.subgroup >= 0
