"""The conformance suite covers the kernel IR, and means what it says, before any device runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tang.emit.unit import DIALECTS
from tang.kernel import ir as k
from tang.kernel.check import OPERANDS
from tang.kernel.walk import statements, subexpressions
from tang.verify.conformance import GAPS, conformance_cases, gaps_of
from tang.verify.conformance.run import refused

ROOT = Path(__file__).resolve().parents[3]
CASES = conformance_cases()


def covered():
    """Everything that some kernel of the suite contains."""
    found = set()
    for case in CASES:
        for kernel in case.kernels:
            found |= {type(s) for s in statements(kernel.body)}
            found |= {p.type for p in kernel.params}
            for e in subexpressions(kernel.body):
                found |= facts(e)
            found |= {f.implements for f in kernel.functions}
    return found


def facts(e):
    found = {type(e)}
    match e:
        case k.Op():
            found.add((e.op, e.args[-1].type))
        case k.Convert() | k.Bitcast():
            found.add((type(e), e.value.type, e.type))
        case k.Const():
            found.add((k.Const, e.type))
    return found


def test_names_are_unique_and_replay_finds_every_case_sound():
    names = [c.name for c in CASES]
    assert len(set(names)) == len(names)
    assert [c.name for c in CASES if c.seen] == []


def test_parts_divide_the_output():
    for case in CASES:
        if case.parts:
            assert case.trials[0].expected[-1].size % len(case.parts) == 0, case.name


def test_every_construct_of_the_kernel_ir_occurs():
    found = covered()
    kinds = {k.Let, k.Declare, k.Assign, k.Array, k.Store, k.For, k.If, k.Barrier}
    kinds |= {k.Const, k.Var, k.Op, k.Load, k.Convert, k.Bitcast, k.Call}
    assert kinds <= found
    assert set(k.Type) <= found
    assert {(k.Const, t) for t in k.Type} <= found


def test_every_operation_occurs_with_every_type_that_it_takes():
    wanted = {(op, t) for op in k.OPS for t in OPERANDS[op]}
    assert wanted - covered() == set()
    assert set(k.MATH) <= covered()


def test_every_conversion_and_bit_cast_occurs():
    types = [t for t in k.Type if t is not k.BOOL]
    found = covered()
    assert {(k.Convert, a, b) for a in types for b in types} <= found
    assert {(k.Bitcast, a, b) for a in types for b in types if a.bytes == b.bytes} <= found


@pytest.mark.parametrize("language", DIALECTS)
def test_a_language_says_all_but_its_gaps(language):
    kernels = {kernel: c.name for c in CASES for kernel in c.kernels}
    refusals = {kernel: refused(kernel, language) for kernel in kernels}
    unexcused = {
        kernels[kernel]: reason
        for kernel, reason in refusals.items()
        if reason and not gaps_of(kernel, language)
    }
    assert unexcused == {}


@pytest.mark.parametrize(
    ("language", "feature"), [(name, f) for name, row in GAPS.items() for f in row]
)
def test_a_gap_that_is_closed_leaves_the_list(language, feature):
    """Some kernel whose only gap it is must really be refused."""
    alone = [
        kernel
        for c in CASES
        for kernel in c.kernels
        if [g.partition(":")[0] for g in gaps_of(kernel, language)] == [feature]
    ]
    assert alone
    assert any(refused(kernel, language) for kernel in alone)


def test_every_language_has_a_row_of_gaps():
    assert set(GAPS) == set(DIALECTS)


LABELS = {"C, OpenCL, CUDA": ("c", "opencl", "cuda"), "GLSL": ("glsl",), "MSL": ("msl",)}
LABELS |= {"WGSL": ("wgsl",)}


@pytest.mark.parametrize("label", LABELS)
def test_the_guide_counts_the_cases_that_a_language_need_not_say(label):
    guide = (ROOT / "docs" / "backends.md").read_text()
    row = next(line for line in guide.splitlines() if line.startswith(f"| {label} |"))
    for language in LABELS[label]:
        excused = sum(any(refused(kernel, language) for kernel in c.kernels) for c in CASES)
        assert row.endswith(f"| {excused} of {len(CASES)} |")
