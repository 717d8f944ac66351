"""Every example builds, prints its program, and is one of the promised list.

Defines no values: what the examples compute is checked by the ladder. Relies on the files in
`examples/`, run as a user runs them.
"""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from tang.ir import Graph, from_json, to_json, to_text

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
PROMISED = (
    "argmax", "attention", "conv2d", "cumulative_sum", "embedding", "gqa_attention",
    "layer_norm", "matmul", "softmax", "top_k", "transposed_conv",
)  # fmt: skip


def test_the_promised_examples_are_there() -> None:
    assert set(PROMISED) <= {p.stem for p in EXAMPLES.glob("*.py")}


@pytest.mark.parametrize("name", PROMISED)
def test_an_example_exposes_a_concrete_graph_and_prints_it(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")["graph"]
    assert isinstance(graph, Graph)
    assert not graph.symbols
    assert capsys.readouterr().out.strip() == to_text(graph).strip()
    assert from_json(to_json(graph)) == graph
