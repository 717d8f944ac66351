"""Native maths climb the ladder bit for bit on every backend; planted faults are named."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import tang as tg
from tang.device import CompilerOptions, HostC, Job, Ran
from tang.device.functions import NativeFunctions
from tang.device.profiling import is_measured, measured, profiled
from tang.device.simt import Simt
from tang.emit import unit
from tang.emit.dialect import ATOM, Form, call
from tang.emit.unit import builtins_of
from tang.errors import DeviceError
from tang.kernel import ir as k
from tang.kernel.accuracy import DOCUMENTED, FUNCTIONS
from tang.kernel.profile import profile_from_data
from tang.verify import Rung, Verdict, follow, verify
from tang.verify.backends import BACKENDS, open_backend
from tang.verify.conformance.native import run_native

pytestmark = pytest.mark.gpu


def opened(name):
    try:
        return open_backend(name)
    except DeviceError as e:
        pytest.skip(f"{name} does not run here: {str(e).splitlines()[0]}")


def program():
    """One kernel with two functions."""
    i, j = tg.dims("i j")
    x = tg.input("X", (4, 9))
    return tg.Graph(y=tg.compute("y", (i, j), tg.sin(x[i, j]) + tg.exp2(x[i, j] * 0.25)))


def inputs():
    return {"X": np.random.default_rng(5).uniform(-3, 3, (4, 9)).astype(np.float32)}


@pytest.mark.parametrize("name", BACKENDS)
def test_a_program_with_native_maths_is_replayed_bit_for_bit(name):
    opened(name)
    report = verify(program(), inputs(), (name,), math="native")
    assert report.ok, report.to_text()
    on = {r.rung: r for r in report.results if r.backend == name}
    assert on[Rung.EMIT].exact == on[Rung.EMIT].elements > 0
    assert on[Rung.EXPAND].elements > 0
    assert "f32 exp2" in on[Rung.EXPAND].note
    assert Rung.ROUND in on


@pytest.mark.parametrize("name", BACKENDS)
def test_builtins_give_the_same_bits_in_every_surrounding(name):
    report = run_native(opened(name))
    assert report.ok, report.to_text()
    assert report.results[0].elements > 70_000  # NVIDIA's GLSL has a third of the surroundings


def test_without_a_device_native_maths_are_not_judged():
    report = verify(program(), inputs(), (), math="native")
    assert [v for v in report.verdicts() if v is not Verdict.PASS] == [Verdict.UNSUPPORTED]


def planted(monkeypatch, language, op, form):
    """The language with another form for one function of f32."""
    dialect = unit.DIALECTS[language]
    operations = {**dialect.operations, (op, k.F32): form}
    changed = {**unit.DIALECTS, language: replace(dialect, operations=operations)}
    monkeypatch.setattr(unit, "DIALECTS", changed)
    monkeypatch.setattr(follow, "_ASKED", {})  # answers to the text as it was


FAULTS = {
    "exp-for-exp2": ("exp2", call("expf", 1), Rung.EXPAND),
    "cos-for-sin": ("sin", call("cosf", 1), Rung.EXPAND),
    "a-fast-exp2": ("exp2", Form("(1.0f + {0} * 0.6931472f)", ATOM, (ATOM,)), Rung.EXPAND),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("language", ["c", "cuda"])
def test_a_builtin_printed_wrongly_is_caught_and_its_kernel_named(monkeypatch, language, fault):
    opened(language)
    op, form, rung = FAULTS[fault]
    planted(monkeypatch, language, op, form)
    report = verify(program(), inputs(), (language,), math="native")
    assert {(f.rung, f.verdict, f.kernel) for f in report.findings} == {(rung, Verdict.WRONG, "y")}
    assert f"stands for {op} in the text" in report.findings[0].message


def test_a_builtin_printed_wrongly_in_one_surrounding_alone_is_caught_by_emit(host, monkeypatch):
    dialect = unit.DIALECTS["c"]
    operations = {**dialect.operations, ("exp2 const", k.F32): call("expf", 1)}
    changed = {**unit.DIALECTS, "c": replace(dialect, operations=operations)}
    monkeypatch.setattr(unit, "DIALECTS", changed)
    report = run_native(host)
    assert {(f.rung, f.kernel) for f in report.findings} == {(Rung.EMIT, "native f32 exp2")}
    assert "of the constant" in report.findings[0].message


@pytest.mark.parametrize("language", ["c", "cuda"])
def test_compilers_do_not_evaluate_functions_of_constants_themselves(language, tmp_path):
    options = CompilerOptions(optimize="-O2", cache=tmp_path)
    device = HostC(options) if language == "c" else Simt("cuda", options)
    values = np.float32(np.random.default_rng(3).uniform(0.1, 2, 40))
    body = []
    for i, x in enumerate(values):
        name = k.Var(k.F32, f"c{i}")
        body.append(k.Let(name, k.Const(k.F32, Fraction(float(x)))))
        body.append(k.Store("out", k.Const(k.I32, i), k.Op(k.F32, "tanh", (name,))))
    kernel = k.Kernel("constants", (k.Param("out", k.F32, True),), (), tuple(body), 1)
    (compiled,) = device.compile([kernel])
    (outcome,) = device.run([Job(compiled, (np.zeros(40, np.float32),), (), 1)])
    assert isinstance(outcome, Ran)
    asked = NativeFunctions(device)("tanh", k.F32, (values,))
    np.testing.assert_array_equal(outcome.memories[0].data, asked)
    device.close()


def test_what_was_asked_once_is_not_asked_again(host, monkeypatch):
    native = NativeFunctions(host)
    x = np.float32([1, 2, 3, 2])
    first = native("exp2", k.F32, (x,))
    np.testing.assert_array_equal(first, [2, 4, 8, 4])
    asked = []
    monkeypatch.setattr(native, "_asked", lambda op, t, a: asked.append(a[0].tolist()) or a[0] * 0)
    np.testing.assert_array_equal(native("exp2", k.F32, (x[::-1],)), first[::-1])
    assert asked == []
    native("exp2", k.F32, (np.float32([1, 5]),))
    assert asked == [[5.0]]


def test_functions_that_no_language_has_are_portable_ones():
    for language in unit.DIALECTS:
        assert not [op for op, _ in builtins_of(language) if op == "sigmoid"]
    assert ("erf", k.F32) not in builtins_of("wgsl")
    assert set(DOCUMENTED) == set(BACKENDS)


@pytest.mark.parametrize("name", BACKENDS)
def test_the_profile_says_how_good_the_builtins_are_and_is_kept(name, monkeypatch):
    device = opened(name)
    profile = profiled(device)
    rows = {a.row: a for a in profile.functions}
    for op in FUNCTIONS:
        assert ((op, k.F32) in builtins_of(device.language)) == (f"f32 {op}" in rows)
    assert all(a.count >= 2**14 for a in rows.values())
    assert rows["f32 exp2"].ulp <= 3.5
    assert {way for _, way in profile.converts} <= {"rne", "exact"}
    assert profile_from_data(profile.to_data()) == profile
    assert is_measured(device)
    monkeypatch.setattr("tang.device.profiling.measured_functions", None)
    assert measured(device).functions == profile.functions
    assert "exp2" in profile.measured_lines()[0]
