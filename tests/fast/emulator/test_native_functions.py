"""Replay takes functions from a device: the lanes that execute ask it, observers see each call."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tang.emulator.machine import Builtin
from tang.emulator.replay import replay_launch
from tang.errors import DeviceError
from tang.ir.extent import poly
from tang.kernel import ir as k
from tang.kernel.plan import Launch
from tang.kernel.profile import IEEE, with_native_functions

NATIVE = with_native_functions(IEEE)
INDEX = k.Var(k.I32, "global_id")


def launched(t, op="exp2", where=None):
    """out[i] = op(a[i]), in threads below n and where a[i] is positive if `where`."""
    value = k.Op(t, op, (k.Load(t, "a", INDEX),))
    store = k.Store("out", INDEX, value)
    body = k.If(k.Op(k.BOOL, "lt", (INDEX, k.Var(k.I32, "n"))), (store,))
    if where:
        positive = k.Op(k.BOOL, "lt", (k.Const(t, Fraction(0)), k.Load(t, "a", INDEX)))
        zero = k.Store("out", INDEX, k.Const(t, Fraction(0)))
        body = k.If(body.condition, (k.If(positive, (store,), (zero,)),))
    params = (k.Param("a", t, False), k.Param("out", t, True))
    kernel = k.Kernel("kern", params, (k.Var(k.I32, "n"),), (body,), origin="node")
    return Launch(kernel, ("a", "out"), (poly(6),), poly(6))


def run(launch, native, domain="formats", observer=None):
    a = np.array([1, -2, 0.5, 3, -0.25, 7], np.float16 if "16" in str(native) else np.float32)
    state = {"a": a, "out": np.zeros_like(a)}
    return replay_launch(
        launch, state, {}, domain=domain, profile=NATIVE, native=native, observer=observer
    )


def off_by_one(op, type_, operands):
    """A device whose functions are one f32 step too large."""
    assert (op, type_) == ("exp2", k.F32)
    return np.nextafter(np.exp2(operands[0]), np.float32(np.inf), dtype=np.float32)


@pytest.mark.parametrize("domain", ["formats", "shadow"])
def test_values_are_the_devices_own(domain):
    done = run(launched(k.F32), off_by_one, domain)
    a = np.float32([1, -2, 0.5, 3, -0.25, 7])
    np.testing.assert_array_equal(done.buffers["out"], np.nextafter(np.exp2(a), np.float32(np.inf)))


def test_the_bound_covers_what_the_device_is_off():
    planes = run(launched(k.F32), off_by_one, "shadow").planes["out"]
    error = np.abs(planes["value"].astype(np.float64) - planes["shadow"])
    assert (error <= planes["bound"]).all()
    assert (error > 0.5 * np.spacing(planes["value"])).any()


def test_only_lanes_that_execute_ask_and_the_kernel_is_named():
    seen = []
    run(launched(k.F32, where=True), off_by_one, "shadow", lambda *call: seen.append(call))
    ((builtin, (asked,), result),) = seen
    assert builtin == Builtin("exp2", k.F32, "kern", "node")
    np.testing.assert_array_equal(asked, np.float32([1, 0.5, 3, 7]))
    np.testing.assert_array_equal(result, off_by_one("exp2", k.F32, (asked,)))


def test_narrow_formats_ask_in_f32_and_round_once():
    def device(op, type_, operands):
        assert type_ is k.F32
        return np.exp2(operands[0])

    launch = launched(k.F16)
    a = np.float16([1, -2, 0.5, 3, -0.25, 7])
    state = {"a": a, "out": np.zeros_like(a)}
    done = replay_launch(launch, state, {}, profile=NATIVE, native=device)
    expected = np.exp2(a.astype(np.float32)).astype(np.float16)
    np.testing.assert_array_equal(done.buffers["out"], expected)


def test_without_a_device_to_ask_there_is_no_replay():
    launch = launched(k.F32)
    a = np.zeros(6, np.float32)
    with pytest.raises(DeviceError, match="replay of f32 exp2 needs the device itself"):
        replay_launch(launch, {"a": a, "out": a.copy()}, {}, profile=NATIVE)
