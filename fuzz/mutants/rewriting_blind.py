"""Mutants of rewriting by someone who had read the rules alone, none of their checks.

Defines `REWRITING_BLIND` and `RULE_OF`, the rule that each one breaks, or the rules that share what
it replaces. Relies on the names of `tang.rewrite`. Each must be found on the rung `rewrite`, with
such a rule named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

from tang.fuzz.mutants.apply import Mutant
from tang.ir import monoids
from tang.ir.derived import lt, zero
from tang.ir.expr import INDEX, apply, arg, boolean, index, iota, real, substitute
from tang.ir.view import Interval, constant, variable
from tang.verify import Rung

Function = Callable[..., Any]
_RULES: Final = "tang.rewrite.rules"


# --- factors and siblings ------------------------------------------------------------------------


def _without_signs(original: Function) -> Function:
    def signed(root: Any) -> Any:  # noqa: ANN401
        found = original(root)
        return found and tuple(f for f in found if f is not real(-1))

    return signed


def _outputs_of_first(original: Function) -> Function:
    def merged(a: Any, b: Any) -> Any:  # noqa: ANN401
        found = original(a, b)
        if found is None:
            return None
        node, redirect = found
        first = node.outputs[0]
        return node, {old: replace(new, output=first) for old, new in redirect.items()}

    return merged


def _first_bodies(original: Function) -> Function:
    def with_factors(node: Any, kept: Any, monoid: Any, axes: Any) -> Any:  # noqa: ANN401
        size = sum(len(p.inputs) for p in kept)
        moved = replace(node, body=(*node.body[:size], *node.body[:size], *node.body))
        try:
            return original(moved, kept, monoid, axes)
        except IndexError:
            return original(node, kept, monoid, axes)

    return with_factors


def _first_outputs(original: Function) -> Function:
    def with_outputs(node: Any, kept: Any) -> Any:  # noqa: ANN401
        return replace(node, outputs=tuple(kept), body=node.body[: len(kept)])

    return with_outputs


def _views_ignored(original: Function) -> Function:
    def payload(e: Any, reads: Any, names: Any) -> Any:  # noqa: ANN401
        found = original(e, reads, names)
        return found.source if e.op == "arg" else found

    return payload


def _column_major(original: Function) -> Function:
    def joined(coords: Any, at: int, b: Any) -> Any:  # noqa: ANN401
        both = coords[at] + coords[at + 1].scale(b.extent)
        return (*coords[:at], both, *coords[at + 2 :])

    return joined


# --- views and conditions ------------------------------------------------------------------------


def _starts_late(original: Function) -> Function:
    def mapped(i: Any, forms: Any) -> Any:  # noqa: ANN401
        return Interval(i.form.substitute(forms), i.lo + 1, i.hi)

    return mapped


def _always_neutral(original: Function) -> Function:
    def neutral_fill(self: Any, body: Any) -> Any:  # noqa: ANN401
        fill = self.view.fill
        return None if fill is None else [r.view.fill or zero(fill.sort) for r in self.source.reads]

    return neutral_fill


def _first_condition(original: Function) -> Function:
    def inside(self: Any) -> Any:  # noqa: ANN401
        for i in self.view.guard[:1]:
            value = self.expr(i.form - i.lo)
            return None if value is None else apply("lt", index(-1), value)
        return boolean(True)

    return inside


def _proved_by_itself(original: Function) -> Function:
    def proved(where: Any, domain: Any) -> Any:  # noqa: ANN401
        return tuple(w for w in where if not domain.at_least(w, w.const - w.const))

    return proved


def _or_equal(original: Function) -> Function:
    def forms(node: Any, test: Any) -> Any:  # noqa: ANN401
        found = original(node, test)
        strict = found and len(found) == 1 and test.op != "and"
        return (found[0] + constant(1),) if strict else found

    return forms


# --- fused reductions ----------------------------------------------------------------------------


def _other_factors_lost(original: Function) -> Function:
    def quotients(*args: Any) -> Iterator[Any]:  # noqa: ANN401
        for q in original(*args):
            yield replace(q, rest=())

    return quotients


def _mask_unseen(original: Function) -> Function:
    def key(space: Any, ring: Any, weight: Any) -> Any:  # noqa: ANN401
        return frozenset(), original(space, ring, weight)[1]

    return key


def _smallest(original: object) -> object:
    return monoids.ARGMIN


def _rest_lost(original: Function) -> Function:
    def without(space: Any, body: Any, log: Any, top: Any, value: Any) -> Any:  # noqa: ANN401
        found = original(space, body, log, top, value)
        if found is None:
            return None
        zeros = {a: real(0) for a in found.args if found.op == "add" and a.op == "arg"}
        zeros.pop(value, None)
        return substitute(found, zeros)

    return without


def _one_element(original: Function) -> Function:
    def size(*args: Any) -> Any:  # noqa: ANN401
        return None if original(*args) is None else real(1)

    return size


def _other_spread(original: Function) -> Function:
    other = {"m2": "variance", "variance": "m2"}

    def which(*args: Any) -> Any:  # noqa: ANN401
        found = original(*args)
        return found and (other[found[0]], found[1])

    return which


def _everywhere(original: Function) -> Function:
    def welford(program: Any, like: Any, space: Any, element: Any) -> Any:  # noqa: ANN401
        return replace(original(program, like, space, element), where=())

    return welford


# --- segments and chunks -------------------------------------------------------------------------


def _mod_is_sorted(original: Function) -> Function:
    def is_sorted(space: Any, e: Any, n: str) -> bool:  # noqa: ANN401
        return bool(original(space, e.args[0] if e.op == "mod" else e, n))

    return is_sorted


def _ends_early(original: Function) -> Function:
    def last(program: Any, node: Any, g: Any, batch: Any, keys: Any) -> Any:  # noqa: ANN401
        made = original(program, node, g, batch, keys)
        before = lt(arg(0, INDEX), iota(g.bin.name))
        return replace(made, body=(apply("select", before, index(1), index(0)),))

    return last


def _carry_inclusive(original: Function) -> Function:
    def carry(program: Any, node: Any, monoid: Any, scan: Any, dims: Any, totals: Any) -> Any:  # noqa: ANN401
        made = original(program, node, monoid, scan, dims, totals)
        where = variable(dims.chunk.name) - variable(dims.before.name)
        return replace(made, where=(where,))

    return carry


def _offset_lost(original: Function) -> Function:
    def inner(program: Any, node: Any, scan: Any, dims: Any, size: int) -> Any:  # noqa: ANN401
        made = original(program, node, scan, dims, size)
        where = variable(dims.rest.name) - variable(dims.inside.name)
        return replace(made, where=(where,))

    return inner


def _row(name: str, what: str, path: str, make: Callable[[Any], Any], key: object = None) -> Mutant:
    return Mutant(name, what, path, make, Rung.REWRITE, key, blind=True)


REWRITING_BLIND: Final = (
    _row("hoist-sign", "the sign of a hoisted factor is lost", f"{_RULES}.hoist:_signed",
         _without_signs),
    _row("siblings-first-output", "readers of a merged map read the first output of the other",
         f"{_RULES}.siblings:_merged_maps", _outputs_of_first),
    _row("dead-part-first-bodies", "the fold that is left folds the first bodies",
         f"{_RULES}.dead:with_factors", _first_bodies),
    _row("dead-output-first-bodies", "the outputs that are left get the first bodies",
         f"{_RULES}.dead:_with_outputs", _first_outputs),
    _row("cse-views-ignored", "two reads of one tensor are equal wherever they read it",
         f"{_RULES}.cse:_payload", _views_ignored),
    _row("merged-dims-column-major", "readers of merged dims take the wrong one for the rows",
         f"{_RULES}.dims:_joined", _column_major),
    _row("guard-starts-late", "a guard moved through a view loses its first element",
         "tang.rewrite.substitution:_mapped", _starts_late),
    _row("neutral-fill-assumed", "a map is thought to turn fills into the fill of its read",
         "tang.rewrite.substitution:_Inlining.neutral_fill", _always_neutral),
    _row("guard-lower-bound-only", "a substituted map is guarded by one lower bound",
         "tang.rewrite.substitution:_Inlining.inside", _first_condition),
    _row("where-proves-itself", "a condition is dropped because it holds where it holds",
         f"{_RULES}.simplify:_proved_where", _proved_by_itself),
    _row("gate-or-equal", "a strict comparison becomes a where with equality",
         f"{_RULES}.scan:_forms", _or_equal),
    _row("gate-prod-zero", "a product gated with 0 is taken for one that skips",
         f"{_RULES}.scan:_NEUTRAL", lambda _: real(0), "prod"),
    _row("softmax-rest-lost", "other factors of a normalised sum are lost",
         f"{_RULES}.softmax:_quotients", _other_factors_lost),
    _row("softmax-mask-unseen", "numerator and denominator may be masked differently",
         f"{_RULES}.softmax:_key", _mask_unseen),
    _row("argmax-of-smallest", "the argmax becomes an argmin", f"{_RULES}.extremum:_MONOIDS",
         _smallest, "max"),
    _row("logsumexp-rest-lost", "what is added beside a logsumexp is lost",
         f"{_RULES}.logsumexp:_without_maximum", _rest_lost),
    _row("mean-for-sum", "a sum is read back as the mean", f"{_RULES}.readback:_size",
         _one_element),
    _row("welford-other-spread", "variance and sum of squares are exchanged",
         f"{_RULES}.welford:_which", _other_spread),
    _row("welford-everywhere", "the moments of masked elements count", f"{_RULES}.welford:_welford",
         _everywhere),
    _row("segment-mod-sorted", "a remainder is thought to be sorted",
         f"{_RULES}.segment:is_sorted", _mod_is_sorted),
    _row("segment-ends-early", "segments are read at the end of the one before",
         f"{_RULES}.segment:_last", _ends_early),
    _row("chunk-carry-inclusive", "a chunk starts from a carry that holds it already",
         f"{_RULES}.chunk:_carry", _carry_inclusive),
    _row("chunk-offset-lost", "an exclusive scan is inclusive inside its chunks",
         f"{_RULES}.chunk:_inner", _offset_lost),
)  # fmt: skip

RULE_OF: Final = {
    "hoist-sign": "hoist-invariant-factors",
    "siblings-first-output": "merge-siblings",
    "dead-part-first-bodies": "dead-part",
    "dead-output-first-bodies": "dead-output",
    "cse-views-ignored": "common-subexpression",
    "merged-dims-column-major": "merge-dims",
    "guard-starts-late": "compose-views, substitute-maps",
    "neutral-fill-assumed": "substitute-maps",
    "guard-lower-bound-only": "substitute-maps",
    "where-proves-itself": "simplify-expr",
    "gate-or-equal": "gate-to-where",
    "gate-prod-zero": "gate-to-where",
    "softmax-rest-lost": "shift-softmax, stabilize-softmax",
    "softmax-mask-unseen": "stabilize-softmax, shift-softmax",
    "argmax-of-smallest": "argmax",
    "logsumexp-rest-lost": "logsumexp",
    "mean-for-sum": "read-back-mean",
    "welford-other-spread": "welford",
    "welford-everywhere": "welford",
    "segment-mod-sorted": "segment-sum",
    "segment-ends-early": "segment-sum",
    "chunk-carry-inclusive": "chunk-scan",
    "chunk-offset-lost": "chunk-scan",
}
