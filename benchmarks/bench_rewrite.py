"""How fast rewriting is, and how it grows: a transformer of L layers and one of 2·L.

Prints processor seconds of a whole rewrite (validation included), steps, the time spent in the
matcher of every rule, and the ratio of both sizes. Relies on `tang.models`. It judges no result.
Run: python benchmarks/bench_rewrite.py [--layers 12] [--gradients] [--rules a,b] [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace

from tang.ir.graph import Comprehension, Graph
from tang.models.transformer import TransformerSizes, transformer, transformer_loss
from tang.rewrite import PIPELINE, RULES, Edit, Rule
from tang.rewrite.engine import apply_rules
from tang.rewrite.program import Program


@dataclass(frozen=True, slots=True)
class Row:
    """One rewrite: nodes before and after, steps, seconds in all and per rule."""

    layers: int
    nodes: int
    after: int
    steps: int
    seconds: float
    matching: dict[str, float]


def timed(rule: Rule, spent: Counter[str]) -> Rule:
    """The rule with its matcher's time added to `spent`."""

    def find(program: Program, node: Comprehension) -> Edit | None:
        start = time.process_time()
        try:
            return rule.find(program, node)
        finally:
            spent[rule.name] += time.process_time() - start

    return replace(rule, find=find)


def measured(graph: Graph, layers: int, rules: Iterable[str]) -> Row:
    """One rewrite of a graph."""
    spent: Counter[str] = Counter()
    chosen = [timed(RULES[n], spent) for n in rules]
    start = time.process_time()
    done = apply_rules(graph, chosen)
    seconds = time.process_time() - start
    nodes, after = len(graph.nodes), len(done.graph.nodes)
    return Row(layers, nodes, after, len(done.trace), seconds, dict(spent.most_common()))


def program(layers: int, gradients: bool) -> Graph:
    """The transformer, or its loss with the gradients of x and of every weight."""
    sizes = TransformerSizes()
    if not gradients:
        return transformer(layers, sizes)
    from tang.autodiff import grad

    loss = transformer_loss(layers, sizes)
    real = [i.name for i in loss.inputs if i.sort.value == "real" and i.name != "target"]
    return grad(loss, "loss", real)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--gradients", action="store_true")
    parser.add_argument("--rules", default=",".join(PIPELINE))
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(arguments)
    rules = asked.rules.split(",")
    sizes = (asked.layers, 2 * asked.layers)
    rows = [measured(program(n, asked.gradients), n, rules) for n in sizes]
    if asked.json:
        print(json.dumps([asdict(r) for r in rows], indent=1))
        return
    for r in rows:
        print(f"{r.layers} layers: {r.nodes} nodes → {r.after}, {r.steps} steps, {r.seconds:.2f} s")
        for name, seconds in list(r.matching.items())[:5]:
            print(f"    {name:<24} {seconds:.3f} s")
    print(f"ratio {rows[1].seconds / rows[0].seconds:.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
