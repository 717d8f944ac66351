"""The entries that Lean reads off blocks, written out again to be compared with the exported ones.

Defines `spread_out`. Relies on the meaning of `spread` in Tang/Blocks alone, not on the code that
finds blocks. It judges nothing: whoever writes blocks compares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tang.proofs.blocks import Block
from tang.proofs.terms import Term, var


def spread_out(terms: Mapping[str, Term], blocks: Sequence[Block]) -> Iterator[Term]:
    """All entries in order, each from the first of its block; `terms` has the entries' keys.

    Row p and column q read entry i + p · columns of the left state and i + q of the right one,
    where the first reads entry i.
    """
    keys, firsts = [*terms], [*terms.values()]
    places = {k: i for i, k in enumerate(keys)}

    def moved(t: Term, by: Mapping[str, int]) -> Term:
        if t.op != "var":
            return Term(t.op, tuple(moved(a, by) for a in t.args), t.name)
        side, i = t.name[0], places[t.name[1:]] + by[t.name[0]]
        return var(f"{side}{keys[i] if i < len(keys) else ' outside'}")

    for b in blocks:
        for p in range(b.rows):
            for q in range(b.columns):
                yield moved(firsts[b.start], {"s": p * b.columns, "t": q})
