"""A device that really flushes subnormals is measured and followed; a wrong profile is caught."""

from __future__ import annotations

import platform
from dataclasses import replace

import numpy as np
import pytest

from tang.device import CompilerOptions, HostC
from tang.device.probe import NativeRows, probed
from tang.device.storage import dtype_of
from tang.emulator.profiled import function_under
from tang.emulator.replay import replay_launch
from tang.errors import DeviceError
from tang.fuzz.case import draw_batch
from tang.kernel import ir as k
from tang.kernel.profile import IEEE, profile_from_data
from tang.verify import Task, Verdict, verify_batch
from tang.verify.backends import BACKENDS, open_backend
from tang.verify.conformance import conformance_cases, run_conformance
from tang.verify.conformance.case import elementwise, load, op
from tang.verify.follow import terms_of
from tang.verify.ladder import _verified

HEADER = """
#include <xmmintrin.h>
__attribute__((constructor)) static void flush(void) { _mm_setcsr(_mm_getcsr() | 0x8040); }
"""
OPTIMISES = "-O1"
PLAIN = ("-O0", "-fsignaling-nans")
x86 = pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="sets x86's MXCSR")


class Flushing(HostC):
    """C in a process in which the first library that it loads sets FTZ and DAZ."""

    profile = IEEE


@pytest.fixture(scope="module")
def make(tmp_path_factory):
    """make(level, *flags): a device that flushes, compiled so."""
    folder, opened = tmp_path_factory.mktemp("flushing"), []
    header = folder / "flush.h"
    header.write_text(HEADER)

    def open_device(level, *flags):
        extra = (*flags, "-include", str(header))
        device = Flushing(CompilerOptions(optimize=level, extra=extra, cache=folder))
        opened.append(device)
        return device

    yield open_device
    for device in opened:
        device.close()


@pytest.fixture(scope="module")
def flushing(make, tmp_path_factory):
    """A device that flushes and rewrites nothing, with its measured profile."""
    device = make(*PLAIN)
    device.profile = probed(device, tmp_path_factory.mktemp("profiles"))
    return device


def named(*names):
    return [c for c in conformance_cases() if c.name in names]


@pytest.mark.parametrize("name", BACKENDS)
def test_a_cpu_stack_computes_as_ieee_says(name, tmp_path):
    try:
        device = open_backend(name)
    except DeviceError as e:
        pytest.skip(str(e).splitlines()[0])
    if device.profile.exact:
        assert probed(device, tmp_path).exact


@x86
def test_what_flushes_is_found_row_by_row(flushing):
    found = flushing.profile
    assert {"f32 add", "f32 mul", "f32 div", "f32 lt", "f64 mul"} <= {*found.reads_zero}
    assert {"f32 mul", "f64 mul"} <= {*found.flushes} & {*found.early}
    assert not {"f32 neg", "f64 neg"} & {*found.reads_zero}  # the sign is a bit
    assert not found.native
    assert profile_from_data(found.to_data()) == found


@x86
def test_a_profile_is_measured_once_and_kept(make, tmp_path, monkeypatch):
    device = make(*PLAIN)
    first = probed(device, tmp_path)
    monkeypatch.setattr("tang.device.probe._measured", None)
    assert probed(device, tmp_path) == first


@x86
def test_a_compiler_that_rewrites_what_flushing_tells_apart_is_refused(make, tmp_path):
    with pytest.raises(DeviceError, match=r"contracts or rewrites f32 a-0.*one by one"):
        probed(make(OPTIMISES), tmp_path)


@x86
def test_the_suite_passes_on_the_terms_of_a_device_and_on_no_others(flushing, monkeypatch):
    assert run_conformance(flushing).ok
    cases = named("f32 arithmetic", "f32 comparisons", "bf16 arithmetic", "f32 erf")
    monkeypatch.setattr(flushing, "profile", IEEE)
    assert {f.verdict for f in run_conformance(flushing, cases).findings} == {Verdict.WRONG}


def edges(t):
    """Sums, products, quotients and comparisons whose operands or results are subnormal."""
    tiny = float(np.finfo(dtype_of(t)).tiny)
    below = float(np.nextafter(dtype_of(t).type(1), dtype_of(t).type(0)))
    a = np.array([tiny / 2, tiny * 1.5, tiny * 4, 0.75, below, tiny / 2], dtype_of(t))
    b = np.array([tiny, -tiny, 0.125, 1.25 * tiny, tiny, 2.0**20], dtype_of(t))
    x, y = load("a", t), load("b", t)
    rows = {n: op(n, x, y) for n in ("add", "mul", "div")}
    return elementwise(f"{t.value} edges", rows, {"a": a, "b": b}, {"a": t, "b": t})


@x86
@pytest.mark.parametrize("t", [k.F32, k.F64], ids=["f32", "f64"])
@pytest.mark.parametrize("field", ["reads_zero", "flushes", "early"])
def test_a_profile_that_is_wrong_in_one_row_is_caught(flushing, monkeypatch, field, t):
    right, case = flushing.profile, edges(t)
    assert run_conformance(flushing, [case]).ok
    fewer = tuple(r for r in getattr(right, field) if r != f"{t.value} mul")
    assert fewer != getattr(right, field)
    monkeypatch.setattr(flushing, "profile", replace(right, **{field: fewer}))
    (finding,) = run_conformance(flushing, [case]).findings
    assert finding.verdict is Verdict.WRONG
    assert "(mul)" in finding.message


@x86
def test_the_bounds_cover_what_is_flushed(flushing):
    terms = terms_of(flushing)
    launch = edges(k.F32).trials[0]
    state = dict(zip(launch.launch.buffers, launch.before, strict=True))
    options = {"profile": terms.profile, "native": terms.native}
    done = replay_launch(launch.launch, state, {}, domain="shadow", **options)
    planes = done.planes["out"]
    error = np.abs(planes["value"].astype(np.float64) - planes["shadow"])
    assert (error <= planes["bound"]).all()
    flushed = (planes["value"] == 0) & (planes["shadow"] != 0)
    flushed[-7:] = False  # a quotient of a flushed operand, a product with 2^20: further away
    assert flushed.any()
    assert (planes["bound"][flushed] <= 2.0**-126 * (1 + 2.0**-20)).all()


@x86
def test_random_programs_pass_on_the_terms_of_a_device(flushing):
    tasks = [
        Task(graph=c.graph, inputs=c.inputs, schedule=c.schedule, name=c.name)
        for c in draw_batch(5, 12, 0)
    ]
    reports = _verified(tasks, {"c": flushing})
    assert [r.to_text() for r in reports if not r.ok] == []
    assert [r.ok for r in verify_batch(tasks)] == [True] * len(tasks)


def test_a_row_that_rounds_in_its_own_way_is_asked_of_the_device(host, tmp_path):
    profile = replace(IEEE, native=("f32 div",))
    a, b = np.float32([1, 2, 3, np.inf]), np.float32([3, 7, 0, 2])
    with np.errstate(all="ignore"):
        divide = function_under(profile, NativeRows(host), "div", k.F32)
        np.testing.assert_array_equal(divide(a, b), a / b)
        wrong = function_under(profile, lambda op, t, x: x[0] * 0, "div", k.F32)
        assert (wrong(a, b)[:2] == 0).all()
