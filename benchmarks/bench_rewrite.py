"""How fast rewriting is, how it grows, and what checking every step adds.

Prints processor seconds of whole rewrites (validation included) of a transformer of L and of 2·L
layers, forward and with the gradients of its loss, unchecked and checked: medians, and ratios of
runs that alternate. Relies on `tang.models`. It judges no result.
Run: python benchmarks/bench_rewrite.py [--layers 12] [--repeats 3] [--matching] [--json]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from dataclasses import asdict, dataclass, replace

from tang.autodiff import grad
from tang.ir.graph import Comprehension, Graph
from tang.models.transformer import TransformerSizes, transformer, transformer_loss
from tang.rewrite import PIPELINE, RULES, Edit, Rule, rewrite
from tang.rewrite.engine import apply_rules
from tang.rewrite.program import Program
from tang.verify.rewriting import checker

LIMIT = 5.0
"""Seconds that 12 layers with gradients may take, and times that checked may be unchecked."""
GROWTH = 2.2
"""Times that twice the layers may take."""


@dataclass(frozen=True, slots=True)
class Row:
    """Medians in processor seconds for L and 2·L layers, and of L layers checked."""

    name: str
    layers: int
    nodes: int
    steps: int
    seconds: float
    twice_s: float
    checked_s: float
    judged: int

    @property
    def growth(self) -> float:
        return self.twice_s / self.seconds

    @property
    def checking(self) -> float:
        return self.checked_s / self.seconds


def forward(layers: int) -> Graph:
    """The transformer."""
    return transformer(layers, TransformerSizes())


def gradients(layers: int) -> Graph:
    """The transformer's loss with the gradients of x and of every weight."""
    loss = transformer_loss(layers, TransformerSizes())
    real = [i.name for i in loss.inputs if i.sort.value == "real" and i.name != "target"]
    return grad(loss, "loss", real)


PROGRAMS = {"forward": forward, "with gradients": gradients}


def measured(name: str, layers: int, repeats: int) -> Row:
    """Rewrites of one program, the three kinds in turns after a warm-up."""
    small, large = (PROGRAMS[name](n) for n in (layers, 2 * layers))
    done, judge = rewrite(small), checker()
    times: tuple[list[float], ...] = ([], [], [])
    for _ in range(repeats):
        judge = checker()
        for kept, graph, check in zip(
            times, (small, large, small), (None, None, judge), strict=True
        ):
            start = time.process_time()
            rewrite(graph, check=check)
            kept.append(time.process_time() - start)
    one, two, checked = map(statistics.median, times)
    nodes, steps = len(small.nodes), len(done.trace)
    return Row(name, layers, nodes, steps, one, two, checked, judge.checked)


def matching(graph: Graph) -> dict[str, float]:
    """Seconds spent in the matcher of every rule; the searches that recall saves take none."""
    spent = dict.fromkeys(PIPELINE, 0.0)
    apply_rules(graph, [_timed(RULES[n], spent) for n in PIPELINE])
    return dict(sorted(spent.items(), key=lambda row: -row[1]))


def _timed(rule: Rule, spent: dict[str, float]) -> Rule:
    def find(program: Program, node: Comprehension) -> Edit | None:
        start = time.process_time()
        try:
            return rule.find(program, node)
        finally:
            spent[rule.name] += time.process_time() - start

    return replace(rule, find=find)


def shown(r: Row) -> str:
    """One program as lines of text, the bounds in brackets."""
    bound = f"(with gradients: {LIMIT:.0f} s)"
    return "\n".join([
        f"{r.name}: {r.layers} layers, {r.nodes} nodes, {r.steps} steps",
        f"  {r.layers:3} layers           {r.seconds:7.2f} s  {bound}",
        f"  {2 * r.layers:3} layers           {r.twice_s:7.2f} s  {r.growth:.2f} × ({GROWTH} ×)",
        f"  {r.layers:3} layers, checked  {r.checked_s:7.2f} s  {r.checking:.2f} × ({LIMIT:.0f} ×)"
        f", {r.judged} different steps judged",
    ])  # fmt: skip


def main() -> int:
    """Measure and print both programs."""
    parser = argparse.ArgumentParser(description="Time rewriting.")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--matching", action="store_true", help="seconds per rule, and no more")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.matching:
        for rule, seconds in matching(gradients(options.layers)).items():
            print(f"{rule:24} {seconds:.3f} s")
        return 0
    rows = [measured(name, options.layers, options.repeats) for name in PROGRAMS]
    if options.json:
        found = [{**asdict(r), "growth": r.growth, "checking": r.checking} for r in rows]
        print(json.dumps(found, indent=1))
        return 0
    for row in rows:
        print(shown(row))
    print(f"processor seconds, medians of {options.repeats}; python {' '.join(sys.argv)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
