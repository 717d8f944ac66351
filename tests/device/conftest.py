"""Fixtures of the device tests: the host with a cache of its own, and one-expression kernels."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from tang.device import CompilerOptions, Device, HostC, Job, Poison, Ran, poisoned
from tang.device.compiler import find_compiler
from tang.errors import DeviceError
from tang.kernel import ir as k

Arrays = Sequence[np.ndarray[Any, Any]]
Cases = Mapping[str, k.Expr]


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostC]:
    """The host device; skipped without a compiler, except in CI."""
    try:
        find_compiler()
    except DeviceError as e:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(e))
    device = HostC(CompilerOptions(cache=tmp_path_factory.mktemp("libraries")))
    yield device
    device.close()


def element(name: str, t: k.Type) -> k.Load:
    """The element of a buffer that belongs to this thread."""
    return k.Load(t, name, k.Var(k.I64, "global_id"))


def loads(e: k.Expr) -> dict[str, k.Type]:
    """Buffers that an expression reads."""
    found = {e.source: e.type} if isinstance(e, k.Load) else {}
    match e:
        case k.Op() | k.Call():
            parts = e.args
        case k.Convert() | k.Bitcast():
            parts = (e.value,)
        case k.Load():
            parts = (e.index,)
        case _:
            parts = ()
    for p in parts:
        found |= loads(p)
    return found


def kernel_of(name: str, e: k.Expr, functions: tuple[k.Function, ...] = ()) -> k.Kernel:
    """out[i] = e, for i below n; buffers in order of name."""
    i, n = k.Var(k.I64, "global_id"), k.Var(k.I64, "n")
    params = tuple(k.Param(b, t, False) for b, t in sorted(loads(e).items()))
    body = (k.If(k.Op(k.BOOL, "lt", (i, n)), (k.Store("out", i, e),)),)
    return k.Kernel(name, (*params, k.Param("out", e.type, True)), (n,), body, functions=functions)


Evaluate = Callable[..., dict[str, np.ndarray[Any, Any]]]


@pytest.fixture(scope="session")
def evaluate(host: HostC) -> Evaluate:
    """evaluate(cases, **buffers): every case's expression for every element, in memory format."""
    return evaluator(host)


def evaluator(device: Device) -> Evaluate:
    """The same on any device."""

    def run(cases: Cases, **buffers: np.ndarray[Any, Any]) -> dict[str, np.ndarray[Any, Any]]:
        compiled = device.compile([kernel_of(name, e) for name, e in cases.items()])
        jobs = []
        for c, e in zip(compiled, cases.values(), strict=True):
            given = [buffers[b] for b in sorted(loads(e))]
            n = given[0].size
            out = poisoned(e.type, (n,), Poison.NAN)
            jobs.append(Job(c, (*given, out), (n,), -(-n // 64)))
        outcomes = device.run(jobs)
        results = {}
        for name, outcome in zip(cases, outcomes, strict=True):
            assert isinstance(outcome, Ran), (name, outcome)
            results[name] = outcome.memories[-1].data
        return results

    return run
