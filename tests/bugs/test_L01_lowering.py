"""L01: offsets never wrap; addresses beyond 31 bits take 64, and beyond 63 are refused by name."""

from __future__ import annotations

import pytest

from tang.errors import LimitError
from tang.ir.expr import arg
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
from tang.ir.monoids import SUM
from tang.ir.view import Read, Ref, View, variable
from tang.kernel import ir as k
from tang.kernel.lower import lower
from tang.kernel.text import kernel_text


def strided(stride: int, count: int, size: int) -> k.Kernel:
    """sum over r of x[stride·r] for one point."""
    read = Read(Ref("x"), View((variable("r", stride),)))
    node = Comprehension("y", (), (read,), (arg(0),), (Dim("r", poly(count)),), monoid=SUM)
    graph = Graph((Input("x", (poly(size),)),), (node,), (Output("y", Ref("y", "value")),))
    return lower(graph).launches[0].kernel


def test_a_stride_of_2_to_the_26_over_64_elements_is_addressed_in_64_bits() -> None:
    text = kernel_text(strided(67_108_864, 64, 2**32 - 2**26 + 1))
    assert "r * 67108864" in text
    assert "i32" not in text


@pytest.mark.parametrize("length", [32767, 32768, 32769])
def test_lengths_around_2_to_the_15_need_nothing_special(length: int) -> None:
    assert "i64" not in kernel_text(strided(1, length, length))


@pytest.mark.parametrize(("side", "kind"), [(46340, "i32"), (46341, "i64")])
def test_the_square_that_passes_31_bits_is_the_first_in_64(side: int, kind: str) -> None:
    read = Read(Ref("x"), View((variable("i"), variable("j"))))
    node = Comprehension(
        "y", (Dim("i", poly(side)), Dim("j", poly(side))), (read,), (arg(0),), outputs=("v",)
    )
    graph = Graph((Input("x", (poly(side),) * 2),), (node,), (Output("y", Ref("y", "v")),))
    assert [s.type.value for s in lower(graph).launches[0].kernel.scalars] == []
    (guard,) = lower(graph).launches[0].kernel.body
    assert isinstance(guard, k.If)
    assert isinstance(guard.condition, k.Op)
    assert guard.condition.args[0].type.value == kind


def test_a_literal_offset_beyond_64_bits_is_refused_by_extent() -> None:
    with pytest.raises(LimitError, match=r"the read of x reaches .*beyond 64-bit.*r = 64"):
        strided(2**62, 64, 2**63 - 1)
