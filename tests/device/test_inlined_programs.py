"""Inlined nodes and epilogues on devices: the same bits as kernels of their own, verified."""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.emulator.replay import replay
from tang.ir.extent import poly
from tang.kernel.expand import expand_math
from tang.kernel.lower import lower
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.schedule import schedule_auto
from tang.verify import verify
from tang.verify.backends import BACKENDS, available
from tang.verify.ladder import verify_batch
from tang.verify.subject import Task


def attended(length=24, width=8):
    q, k, d, c = tg.dims(q=length, k=length, d=width, c=width)
    queries, keys, values = (tg.input(n, (length, width)) for n in "QKV")
    scores = tg.compute("scores", (q, k), tg.sum(queries[q, d] * keys[k, d], over=d))
    return tg.compute("out", (q, c), tg.online_softmax(scores[q, k], values[k, c], over=k))


def flash():
    out = attended()
    return tg.Graph(out=out)


def normal(graph, seed=0):
    rng = np.random.default_rng(seed)
    return {
        i.name: rng.normal(size=[p.constant for p in i.shape]).astype(np.float32)
        for i in graph.inputs
    }


def test_flash_attention_is_one_kernel_with_the_bits_of_replay():
    graph = flash()
    program, data = tg.compile(graph), normal(graph)
    (launch,) = program.plan.launches
    assert [b.name for b in program.plan.buffers] == ["Q", "K", "V", "out_value"]
    assert all(b.shape != (poly(24), poly(24)) for b in program.plan.buffers)
    assert {b.format for b in program.plan.buffers} == {"f32"}
    assert sum(b.bytes for b in program.plan.buffers) == 4 * 4 * 24 * 8
    got = program(data)["out"]
    plan = expand_math(lower(graph, schedule_auto(graph)))
    assert launch.kernel == plan.launches[0].kernel
    assert got.tobytes() == np.asarray(replay(plan, data).outputs["out"]).tobytes()
    stored = tg.compile(graph, schedule=Schedule())(data)["out"]
    assert got.tobytes() == stored.tobytes()
    report = verify(graph, data)
    assert report.ok, report.to_text()


@pytest.mark.gpu
@pytest.mark.parametrize("language", BACKENDS)
def test_inlined_folds_and_epilogues_pass_every_rung(language):
    if available()[language]:
        pytest.skip(f"{language} does not run here: {available()[language].splitlines()[0]}")
    tasks = []
    for n, team in enumerate(({}, {"split": 2}, {"lanes": 4})):
        i, r, s = tg.dims(i=6, r=5, s=4)
        x, w = tg.input("x", (6, 5, 4)), tg.input("w", (6,))
        inner = tg.compute("inner", (i, r), tg.max(x[i, r, s], over=s))
        outer = tg.compute("outer", (i,), tg.sum(tg.exp(inner[i, r]), over=r))
        last = tg.compute("last", (i,), outer[i] * w[i])
        graph = tg.Graph(y=last)
        rows = (
            ("inner", NodeSchedule(place="inline")),
            ("outer", NodeSchedule(**team)),
            ("last", NodeSchedule(place="epilogue")),
        )
        schedule = Schedule(nodes=rows)
        assert len(lower(graph, schedule).launches) == (2 if "split" in team else 1)
        tasks.append(Task(graph=graph, inputs=normal(graph, n), schedule=schedule))
    graph = flash()
    tasks.append(Task(graph=graph, inputs=normal(graph), schedule=schedule_auto(graph)))
    for report in verify_batch(tasks, (language,)):
        assert report.ok, report.to_text()


def backward(length, width=8):
    """Gradients of Σ out² of attention, whose scores and probabilities are length × length."""
    i, j = tg.dims(i=length, j=width)
    out = attended(length, width)
    loss = tg.compute("loss", (), tg.sum(out[i, j] * out[i, j], over=(i, j)))
    return tg.grad(tg.Graph(loss=loss), "loss", ["Q", "K", "V"])


def test_the_gradients_of_attention_have_no_buffer_of_length_by_length():
    graph = backward(24)
    program, data = tg.compile(graph), normal(graph)
    assert all(b.shape != (poly(24), poly(24)) for b in program.plan.buffers)
    assert max(b.bytes for b in program.plan.buffers) == 4 * 24 * 8
    stored = tg.compile(graph, schedule=Schedule())
    assert any(b.shape == (poly(24), poly(24)) for b in stored.plan.buffers)
    report = verify(graph, data)
    assert report.ok, report.to_text()
    for name, value in stored(data).items():
        np.testing.assert_allclose(program(data)[name], value, rtol=1e-4, atol=1e-5)
