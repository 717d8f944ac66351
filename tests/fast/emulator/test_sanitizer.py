"""The sanitizer: silent on sound kernels, and one planted fault for each of its verdicts."""

import numpy as np
import pytest
from emulator_kernels import GID, N, f, guarded, i, kernel, load, op, plan_of, store

from tang.emulator.records import Kind
from tang.emulator.replay import replay, replay_launch
from tang.errors import LimitError
from tang.kernel.ir import (
    F32,
    I32,
    I64,
    Array,
    Barrier,
    Const,
    Convert,
    For,
    If,
    Let,
    Load,
    Scope,
    Store,
    Var,
)

LOCAL = Var(I64, "local_id")


def findings(k, n=100, sanitize=True, x=None, **more):
    x = np.ones(n, np.float32) if x is None else x
    return replay(plan_of(k, {"x": "n"}, **more), {"x": x}, sanitize=sanitize).findings


def only(found, kind):
    assert [g.kind for g in found] == [kind]
    return found[0]


def test_a_sound_kernel_has_no_findings():
    assert findings(kernel(*guarded(store(load("x"))))) == ()


def test_a_read_past_the_end_names_statement_thread_and_index():
    k = kernel(*guarded(store(load("x", op("add", GID, i(1))))))
    g = only(findings(k), Kind.OUT_OF_BOUNDS)
    assert (g.kernel, g.path, g.target) == ("k", "body[0].then[0]", "x")
    assert (g.thread, g.index, g.count) == (99, 100, 1)


def test_a_read_before_the_start_is_found_too():
    g = only(findings(kernel(*guarded(store(load("x", op("sub", GID, i(3))))))), Kind.OUT_OF_BOUNDS)
    assert (g.thread, g.index, g.count) == (0, -3, 3)


def test_a_kernel_without_its_guard_reads_and_writes_out_of_bounds():
    found = findings(kernel(store(load("x"))))
    assert [g.kind for g in found] == [Kind.OUT_OF_BOUNDS] * 2
    assert {g.target for g in found} == {"x", "out"}
    assert all(g.count == 28 for g in found)


def test_a_uniform_index_out_of_bounds_is_found():
    g = only(findings(kernel(*guarded(store(load("x", i(100)))))), Kind.OUT_OF_BOUNDS)
    assert g.index == 100


def test_replay_goes_on_after_a_fault_and_the_other_lanes_are_right():
    k = kernel(*guarded(store(load("x", op("add", GID, i(1))))))
    x = np.arange(10, dtype=np.float32)
    got = replay(plan_of(k, {"x": "n"}), {"x": x})
    assert (got.outputs["y"][:-1] == x[1:]).all()


def test_an_array_is_not_indexed_out_of_bounds():
    body = guarded(Array("a", F32, 4), Store("a", op("mod", GID, i(5)), f(1.0)), store(f(1.0)))
    assert only(findings(kernel(*body)), Kind.OUT_OF_BOUNDS).target == "a"


def test_reading_an_array_element_that_was_never_written_is_found():
    write_half = If(op("lt", op("mod", GID, i(2)), i(1)), (Store("a", i(1), f(1.0)),))
    body = guarded(Array("a", F32, 4), write_half, store(load("a", i(1))))
    g = only(findings(kernel(*body)), Kind.UNINITIALISED)
    assert (g.target, g.thread, g.index, g.count) == ("a", 1, 1, 50)


def test_reading_an_output_before_it_is_written_is_found():
    body = guarded(store(op("add", load("out"), f(1.0))))
    assert only(findings(kernel(*body)), Kind.UNINITIALISED).target == "out"


def test_reading_an_output_after_writing_it_is_fine():
    body = guarded(store(f(1.0)), store(op("add", load("out"), f(1.0))))
    assert findings(kernel(*body)) == ()


def test_an_array_is_uninitialised_again_in_each_iteration():
    j = Var(I64, "j")
    body = guarded(
        For(j, i(0), i(2), (
            Array("a", F32, 1),
            If(op("lt", j, i(1)), (Store("a", i(0), f(1.0)),)),
            store(load("a", i(0))),
        )),
    )  # fmt: skip
    assert only(findings(kernel(*body)), Kind.UNINITIALISED).target == "a"


def test_two_threads_writing_one_element_race():
    k = kernel(*guarded(store(f(1.0), index=op("floordiv", GID, i(2)))))
    g = only(findings(k, out=50), Kind.RACE)
    assert g.target == "out"
    assert "thread" in g.detail


def test_reading_what_another_thread_wrote_races_even_across_a_barrier():
    mirrored = op("sub", i(7), GID)
    body = (store(f(1.0)), Barrier(), store(load("out", mirrored)))
    found = findings(kernel(*body, workgroup=8), n=8)
    assert {g.kind for g in found} == {Kind.RACE}


def test_writing_what_several_threads_have_read_races():
    seen = Var(F32, "seen")
    body = guarded(store(f(1.0)), Let(seen, load("out", i(0))), If(
        op("eq", GID, i(1)), (Store("out", i(0), seen),)))  # fmt: skip
    found = findings(kernel(*body))
    assert any(g.kind is Kind.RACE for g in found)


def _exchange(*between):
    return (
        Array("a", F32, 8, Scope.WORKGROUP),
        Store("a", LOCAL, load("x")),
        *between,
        store(load("a", op("sub", i(7), LOCAL))),
    )


def test_a_workgroup_exchange_with_a_barrier_is_sound():
    assert findings(kernel(*_exchange(Barrier()), workgroup=8), n=32) == ()


def test_a_workgroup_exchange_without_its_barrier_races():
    g = only(findings(kernel(*_exchange(), workgroup=8), n=32), Kind.RACE)
    assert (g.target, g.count) == ("a", 32)


def test_all_threads_storing_to_one_workgroup_element_race():
    body = (Array("a", F32, 1, Scope.WORKGROUP), Store("a", i(0), f(1.0)), store(f(0.0)))
    assert only(findings(kernel(*body, workgroup=8), n=32), Kind.RACE).target == "a"


def test_a_barrier_that_some_threads_skip_is_found():
    body = (If(op("lt", LOCAL, i(3)), (Barrier(),)), store(load("x")))
    g = only(findings(kernel(*body, workgroup=8), n=32), Kind.DIVERGENT_BARRIER)
    assert (g.path, g.thread, g.count) == ("body[0].then[0]", 3, 20)


def test_a_barrier_that_whole_workgroups_skip_is_fine():
    group = Var(I64, "group_id")
    body = (If(op("lt", group, i(2)), (Barrier(),)), store(load("x")))
    assert findings(kernel(*body, workgroup=8), n=32) == ()


def test_i32_overflow_is_found_and_u32_is_not():
    big = Const(I32, 2**30)
    product = op("mul", Convert(I32, GID), big)
    g = only(findings(kernel(*guarded(store(product)), out=I32)), Kind.OVERFLOW)
    assert (g.thread, g.index, g.count) == (2, 2**31, 98)


def test_i64_overflow_is_found_exactly():
    big = op("mul", op("mul", GID, i(2**31)), i(2**31))
    g = only(findings(kernel(*guarded(store(big)), out=I64)), Kind.OVERFLOW)
    assert (g.thread, g.index) == (2, 2**63)


def test_overflow_in_lanes_that_do_not_execute_is_no_finding():
    few = If(op("lt", GID, i(2)), (store(op("mul", Convert(I32, GID), Const(I32, 2**30))),))
    rest = If(op("le", i(2), GID), (store(Const(I32, 0)),))
    assert findings(kernel(*guarded(few, rest), out=I32)) == ()


def test_a_float_that_is_no_integer_in_range_must_not_be_converted():
    k = kernel(*guarded(store(Convert(I32, load("x")))), out=I32)
    assert findings(k, x=np.arange(10, dtype=np.float32)) == ()
    for bad in (0.5, 3e9, np.nan):
        x = np.array([1, bad, 2], np.float32)
        assert only(findings(k, x=x), Kind.CONVERSION).thread == 1


def test_an_element_that_nothing_writes_is_found():
    skip = If(op("not", op("eq", GID, i(17))), (store(f(1.0)),))
    g = only(findings(kernel(*guarded(skip))), Kind.UNWRITTEN)
    assert (g.target, g.index, g.count) == ("out", 17, 1)


def test_a_single_launch_reports_unwritten_elements_of_its_writable_buffers():
    skip = If(op("not", op("eq", GID, i(17))), (store(f(1.0)),))
    launch = plan_of(kernel(*guarded(skip)), {"x": "n"}).launches[0]
    state = {"x": np.ones(20, np.float32), "out": np.ones(20, np.float32)}
    assert only(replay_launch(launch, state, {"n": 20}).findings, Kind.UNWRITTEN).index == 17
    known = replay_launch(launch, state, {"n": 20}, valid={"out": np.ones(20, bool)})
    assert known.findings == ()


def test_a_scalar_that_does_not_fit_its_type_is_a_limit_error():
    k = kernel(store(f(1.0), index=i(0)), inputs={})
    object.__setattr__(k, "scalars", (Var(I32, "n"),))
    plan = plan_of(k, {}, out=1, threads=1)
    with pytest.raises(LimitError, match="n = "):
        replay(plan, {}, sizes={"n": 2**31})


def test_without_the_sanitizer_nothing_is_reported():
    assert findings(kernel(store(load("x"))), sanitize=False) == ()


def test_a_fault_in_a_loop_is_one_finding_with_a_count():
    j = Var(I64, "j")
    body = guarded(For(j, i(0), i(3), (store(Load(F32, "x", op("add", N, j))),)))
    assert only(findings(kernel(*body)), Kind.OUT_OF_BOUNDS).count == 300
