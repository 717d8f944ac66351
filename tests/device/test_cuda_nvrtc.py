"""Emitted CUDA compiles to machine code of real GPUs."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from tang.cli.load import load_graph
from tang.device.simt.nvrtc import nvrtc_check, nvrtc_missing
from tang.emit import emit
from tang.errors import DeviceError
from tang.kernel import ir as k
from tang.kernel.check import OPERANDS, TO_BOOL
from tang.kernel.expand import expand_math
from tang.kernel.lower import lower
from tang.schedule import schedule_auto

pytestmark = pytest.mark.skipif(nvrtc_missing() is not None, reason=nvrtc_missing() or "")

ARCHITECTURES = ("sm_80", "sm_90")
EXAMPLES = sorted(Path(__file__).resolve().parents[2].glob("examples/*.py"))


def element(name, t):
    return k.Load(t, name, k.Var(k.I64, "global_id"))


def writes(name, e):
    """out[i] = e, with an input of every type."""
    params = [k.Param(t.value, t, False) for t in k.Type]
    body = (k.Store("out", k.Var(k.I64, "global_id"), e),)
    return k.Kernel(name, (*params, k.Param("out", e.type, True)), (), body)


def operations():
    for op, types in OPERANDS.items():
        for t in sorted(types, key=lambda t: t.value):
            if op == "sigmoid" or (op == "select" and t is k.BOOL):
                continue
            first = [k.Load(k.BOOL, "bool", k.Var(k.I64, "local_id"))] if op == "select" else []
            count = (k.OPS | k.MATH)[op] - len(first)
            args = (*first, *[element(t.value, t)] * count)
            yield f"{op}_{t.value}", k.Op(k.BOOL if op in TO_BOOL else t, op, args)


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_every_operation_conversion_and_constant_compiles(arch):
    kernels = [writes(name, e) for name, e in operations()]
    kernels += [
        writes(f"{a.value}_to_{b.value}", k.Convert(b, element(a.value, a)))
        for a in k.Type
        for b in k.Type
        if a is not b
    ]
    specials = ("inf", "-inf", "nan", "-0.0", Fraction(1, 3))
    kernels += [
        writes(f"c{i}_{t.value}", k.Const(t, v))
        for i, v in enumerate(specials)
        for t in k.Type
        if t.is_float
    ]
    assert nvrtc_check(emit(kernels, "cuda"), arch)[:4] == b"\x7fELF"


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_the_kernels_of_every_example_compile(arch):
    kernels = []
    for path in (p for p in EXAMPLES if "fuzz" not in p.name):
        graph = load_graph(str(path))
        plan = expand_math(lower(graph, schedule_auto(graph)))
        kernels += [launch.kernel for launch in plan.launches]
    assert nvrtc_check(emit(kernels, "cuda"), arch)[:4] == b"\x7fELF"


def test_a_text_that_is_no_cuda_is_refused():
    with pytest.raises(DeviceError, match="undeclared_thing"):
        nvrtc_check("__global__ void f() { undeclared_thing; }")
