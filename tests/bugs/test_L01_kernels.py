"""L01, kernels: an offset beyond 31 bits does not wrap into the data.

triton#832, pytorch#186057, xformers#719, xformers#788, pytorch#143486, pytorch#197636.
"""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.errors import GraphError, LimitError
from tang.interpreter import fast_interpret, interpret
from tang.kernel import ir as k
from tang.kernel.lower import lower

STRIDE = 67_108_864


def wrapping():
    """x at i·2²⁶, which i32 would wrap to x[0] at i = 64, and the offsets themselves."""
    i, r = tg.dims(i=65), tg.dims(r=64)
    x = tg.input("x", (8,))
    return tg.Graph(
        read=tg.compute("read", i, x.at(i * STRIDE, fill=-1)),
        offset=tg.compute("offset", i, i * STRIDE),
        high=tg.compute("high", i, x.at(i * STRIDE - 63 * STRIDE + 3, fill=-1)),
        total=tg.compute("total", (), tg.sum(r * STRIDE, r)),
    )


def check(found):
    assert found["read"].tolist() == [10, *[-1] * 64]
    assert found["offset"].tolist() == [n * STRIDE for n in range(65)]
    assert found["offset"][63] == 4_227_858_432
    assert found["high"].tolist() == [*[-1] * 63, 13, -1]
    assert found["total"] == 63 * 32 * STRIDE


def test_both_evaluators_are_exact():
    for evaluate in (interpret, fast_interpret):
        check(evaluate(wrapping(), {"x": np.arange(10.0, 18)}))


@pytest.mark.parametrize("split", [1, 3])
def test_compiled_programs_are_exact(split, compiled):
    check(compiled(wrapping(), split=split)({"x": np.arange(10.0, 18)}))


@pytest.mark.parametrize("length", [32767, 32768, 32769])
def test_lengths_around_2_to_the_15_index_every_element(length, compiled):
    x = tg.input("x", ("n",))
    graph = tg.Graph(flip=tg.flip(x, 0), sum=tg.sum(x), at=tg.argmax(x))
    found = compiled(graph, split=4)({"x": np.arange(length)})
    assert found["flip"].tolist() == list(range(length))[::-1]
    assert found["at"] == length - 1


def test_a_count_beyond_31_bits_is_kept_in_64():
    plan = lower(tg.Graph(tg.count(tg.input("b", (65536, 65536), "bool"))))
    assert plan.buffer(plan.results[0].buffer).type is k.I64


def test_what_64_bits_cannot_address_is_refused_by_name():
    i, j = tg.dims(i=2**40), tg.dims(j=2**40)
    x = tg.input("x", (1,))
    graph = tg.Graph(tg.compute("huge", (i, j), x[tg.index(0)]))
    with pytest.raises(LimitError, match=r"'huge'.*i = 1099511627776"):
        lower(graph)


def test_a_size_beyond_what_was_promised_is_refused(compiled):
    x = tg.input("x", ("n",))
    run = compiled(tg.Graph(y=tg.sum(x), facts=[tg.fact("n", maximum=4)]))
    assert run({"x": np.ones(4)})["y"] == 4
    with pytest.raises((GraphError, LimitError), match="n = 5"):
        run({"x": np.ones(5)})
