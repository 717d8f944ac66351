"""The OpenCL device: whatever a kernel or its compiler does becomes an outcome or an error."""

from __future__ import annotations

import os

import numpy as np
import pytest

from tang.device import Crash, Job, OutOfMemory, Poison, Ran, Timeout, poison_word
from tang.device.opencl import OpenCL, OpenCLOptions
from tang.errors import DeviceError, LimitError
from tang.kernel import ir as k

KERNEL = k.Kernel(
    "foreign",
    (k.Param("x", k.F32, False), k.Param("y", k.F32, True)),
    (k.Var(k.I64, "what"),),
    (),
    workgroup=4,
)
TEXT = """
__kernel void foreign(__global const float *x, __global float *y, const long what) {
    const int i = get_local_id(0);
    volatile __global int *spin = (volatile __global int *)y;
    if (what == 1) *(volatile __global int *)16 = 1;
    if (what == 2) while (spin[1] != 7) spin[0] = spin[1] + 1;
    if (what == 3) y[i + 4] = 1;                          /* past the end */
    if (what == 4) ((__global float *)x)[i] = 1;          /* into the input */
    if (what == 5) for (long k = 0;; k += 512) y[k] = 1;  /* leaves its pages */
    y[i] = x[i] + what;
}
"""


@pytest.fixture(scope="module")
def opencl(tmp_path_factory):
    cache = tmp_path_factory.mktemp("programs")
    try:
        device = OpenCL(OpenCLOptions(cache=cache, optimize=False))
    except DeviceError as e:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(e))
    yield device
    device.close()


@pytest.fixture(scope="module")
def bad(opencl):
    return opencl.compile_text(KERNEL, TEXT, "foreign")


def job(compiled, what, **options):
    x = np.arange(4, dtype=np.float32)
    return Job(compiled, (x, np.zeros(4, np.float32)), (what,), 1, **options)


def right(outcome, what):
    assert isinstance(outcome, Ran), outcome
    assert all(m.intact(poison_word(k.F32, Poison.NAN)) for m in outcome.memories)
    return (outcome.memories[1].data == np.arange(4) + what).all()


@pytest.mark.parametrize("what", [1, 5], ids=["null", "runs away"])
def test_a_crash_is_an_outcome_and_its_neighbours_are_right(what, bad, opencl):
    before, crash, after = opencl.run([job(bad, 10), job(bad, what), job(bad, 11)])
    assert crash == Crash("SIGSEGV")
    assert right(before, 10)
    assert right(after, 11)


def test_a_kernel_that_never_ends_is_a_timeout(bad, opencl):
    hang, after = opencl.run([job(bad, 2), job(bad, 12)], deadline=1.5)
    assert hang == Timeout(1.5)
    assert right(after, 12)


def test_a_write_past_the_end_shows_in_the_guard_zone(bad, opencl):
    (ran,) = opencl.run([job(bad, 3)])
    assert isinstance(ran, Ran)
    word = poison_word(k.F32, Poison.NAN)
    assert ran.memories[0].intact(word)
    assert not ran.memories[1].intact(word)
    assert ran.memories[1].before == word * 64


def test_a_write_into_an_input_shows(bad, opencl):
    (ran,) = opencl.run([job(bad, 4)])
    assert isinstance(ran, Ran)
    assert ran.memories[0].data.tolist() == [1, 1, 1, 1]


def test_repetitions_are_timed_and_contents_carry_over(bad, opencl):
    (ran,) = opencl.run([job(bad, 7, repeat=3)])
    assert right(ran, 7)
    assert len(ran.seconds) == 3
    assert len(opencl.time(job(bad, 7, repeat=2))) == 2


def test_buffers_beyond_the_limit_are_out_of_memory(bad, tmp_path):
    small = OpenCL(OpenCLOptions(cache=tmp_path, optimize=False, memory=2**20))
    large = Job(bad, (np.zeros(2**19, np.float32), np.zeros(4, np.float32)), (0,), 1)
    assert isinstance(small.run([large])[0], OutOfMemory)
    small.close()


def test_a_refused_text_is_an_error_with_the_compilers_words(opencl):
    with pytest.raises(DeviceError, match="undeclared_thing"):
        opencl.compile_text(KERNEL, "__kernel void foreign() { undeclared_thing; }", "foreign")
    assert opencl.compile(()) == ()


def test_a_workgroup_beyond_the_devices_is_a_limit(opencl):
    wide = k.Kernel("wide", KERNEL.params, (), (), workgroup=2**20)
    with pytest.raises(LimitError, match="1048576 threads per workgroup"):
        opencl.compile((wide,))


def test_an_unknown_device_is_named_with_the_known_ones(opencl, tmp_path):
    name = opencl.description.split(":")[0]
    with pytest.raises(DeviceError, match=f"'no such thing'.*{name}"):
        OpenCL(OpenCLOptions(device="no such thing", cache=tmp_path))
    again = OpenCL(OpenCLOptions(device=name.upper(), cache=tmp_path))
    assert again.description == opencl.description


def test_pocl_without_a_linker_is_refused_with_the_remedy(opencl, tmp_path, monkeypatch):
    if "Portable Computing" not in opencl.description:
        pytest.skip("only PoCL starts a linker")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DeviceError, match="install binutils"):
        OpenCL(OpenCLOptions(cache=tmp_path))


def test_memory_of_this_process_goes_up_and_down(bad, opencl):
    x = opencl.upload(k.F32, np.arange(4.0))
    y = opencl.allocate(k.F32, 4)
    opencl.launch(bad, (x, y), (3,), 1)
    opencl.launch(bad, (x, y), (4,), 0)
    assert opencl.download(y).tolist() == [3, 4, 5, 6]
    nothing = opencl.upload(k.F64, np.zeros((0, 3)))
    assert opencl.download(nothing).shape == (0,)


def test_a_second_process_takes_the_cached_binaries(opencl, bad, tmp_path):
    binaries = sorted(p.name for p in opencl._cache.glob("pocl/**/*.so"))
    again = OpenCL(OpenCLOptions(cache=opencl._cache, optimize=False))
    compiled = again.compile_text(KERNEL, TEXT, "foreign")
    assert compiled.library == bad.library
    assert right(again.run([job(compiled, 1000)])[0], 1000)
    assert sorted(p.name for p in opencl._cache.glob("pocl/**/*.so")) == binaries
    again.close()
