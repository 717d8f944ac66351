"""Mutants of rewriting: rules that change what a program means.

Defines `REWRITING` and `RULE_OF`, the rule that each one breaks. Relies on the names of
`tang.rewrite`. Each must be found on the rung `rewrite`, with that rule named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from tang.fuzz.mutants.apply import Mutant
from tang.ir.derived import zero
from tang.ir.expr import REAL, apply, boolean, real, state
from tang.ir.graph import Comprehension
from tang.ir.monoid import Monoid
from tang.ir.view import Affine, variable
from tang.verify import Rung

Function = Callable[..., Any]
_RW: Final = "tang.rewrite"


# --- structural rules ----------------------------------------------------------------------------


def _inside_everywhere(original: Function) -> Function:
    return lambda work: boolean(True)


def _one_fill(original: Function) -> Function:
    from tang.rewrite.matching import pruned
    from tang.rewrite.substitution import composed

    def copied_through(inner: Any, forms: Any, outer: Any, domain: Any) -> Any:  # noqa: ANN401
        return pruned(composed(inner, forms, outer, outer.fill or inner.fill))

    return copied_through


def _exchanged(form: Affine) -> Affine:
    """The form with the coefficients of its first two variables exchanged."""
    if len(form.terms) < 2:
        return form
    (a, m), (b, n), *rest = form.terms
    exchanged = variable(a, n) + variable(b, m)
    return exchanged + Affine(tuple(rest), form.const)


def _exchanged_strides(original: Function) -> Function:
    def view(coords: Any, *rest: Any) -> Any:  # noqa: ANN401
        found = original(coords, *rest)
        return replace(found, coords=tuple(map(_exchanged, found.coords)))

    return view


def _any_where(original: Function) -> Function:
    """Siblings count as aligned whatever the conditions of the second."""

    def aligned(a: Comprehension, b: Comprehension) -> Comprehension | None:
        names = zip(a.dims, b.dims, strict=False)
        back = {old.name: variable(new.name) for old, new in names}
        where = tuple(w.substitute(back) for w in a.where)
        return original(a, replace(b, where=where))  # type: ignore[no-any-return]

    return aligned


def _captured(original: Function) -> Function:
    """The second sibling's point and reduce dims of equal extent take each other's place."""

    def aligned(a: Comprehension, b: Comprehension) -> Comprehension | None:
        return original(a, _with_dims_exchanged(b))  # type: ignore[no-any-return]

    return aligned


def _with_dims_exchanged(b: Comprehension) -> Comprehension:
    from tang.rewrite.substitution import at_forms

    pair = [(p.name, r.name) for p in b.point for r in b.reduce if p.extent == r.extent]
    if not pair:
        return b
    p, r = pair[0]
    forms = {p: variable(r), r: variable(p)}
    return replace(b, reads=tuple(replace(x, view=at_forms(x.view, forms)) for x in b.reads))


def _by_extent(original: Function) -> Function:
    return lambda node: {d.name: f"#{d.extent}" for d in node.dims}


def _any_fold(original: Function) -> Function:
    def is_sum(m: Monoid | None) -> bool:
        return m is not None and m.inputs == (REAL,) and len(m.components) == 1

    return is_sum


def _last_factor_lost(original: Function) -> Function:
    def epilogue(node: Any, inner: Any, output: str, fixed: list[Any]) -> Any:  # noqa: ANN401
        return original(node, inner, output, [*fixed[:-1], real(1)])

    return epilogue


def _stride_of_outer(original: Function) -> Function:
    """A merged dim steps as far as the outer one did."""

    def merged(node: Comprehension, a: Any, b: Any) -> Comprehension:  # noqa: ANN401
        found: Comprehension = original(node, a, b)
        size = b.extent

        def form(f: Affine) -> Affine:
            step = f.coefficient(a.name)
            others = Affine(tuple((v, c) for v, c in f.terms if v != a.name), f.const)
            return others + variable(a.name, step * size)

        where = tuple(map(form, found.where))
        return replace(found, where=where)

    return merged


# --- recognising rules ---------------------------------------------------------------------------


def _unmasked_score(original: Function) -> Function:
    from tang.rewrite.scores import masked

    return lambda e, factor, power: original(masked(e)[1], factor, power)


def _scale_lost(original: Function) -> Function:
    return lambda e, factor, power: e


def _without_conditions(original: Function) -> Function:
    def weight_of(parts: Any) -> Any:  # noqa: ANN401
        found = original(parts)
        return None if found is None else replace(found, conditions=())

    return weight_of


def _no_conditions(original: Function) -> Function:
    return lambda node, env: frozenset()


def _count_of_everything(original: Function) -> Function:
    def counts(space: Any, names: Any, where: Any, seen: Any) -> Iterator[Any]:  # noqa: ANN401
        yield from original(space, names, frozenset(), seen)

    return counts


def _own_factor_moved(original: Function) -> Function:
    def product_between(*args: Any) -> Iterator[Any]:  # noqa: ANN401
        yield from (replace(d, own_too=not d.own_too) for d in original(*args))

    return product_between


def _swapped_sides(original: Function) -> Function:
    def joined(*args: Any) -> Any:  # noqa: ANN401
        *front, sides, used = args
        return original(*front, sides[::-1], used)

    return joined


def _added_states(original: Function) -> Function:
    """Totals of chunks are added, whatever the monoid."""

    def of_states(monoid: Monoid) -> Monoid:
        found: Monoid = original(monoid)
        both = (
            apply("add", state(0, i, c.sort), state(1, i, c.sort))
            for i, c in enumerate(found.components)
        )
        return replace(found, name=f"{found.name}_added", combine=tuple(both))

    return of_states


def _zero_identity(original: Function) -> Function:
    def of_states(monoid: Monoid) -> Monoid:
        found: Monoid = original(monoid)
        zeros = tuple(zero(c.sort) for c in found.components)
        return replace(found, name=f"{found.name}_zero", identity=zeros)

    return of_states


def _always(original: Function) -> Function:
    return lambda *args: True


def _ties_backwards(original: Function) -> Function:
    return lambda mine, other, over, i: original(mine, other, i, over)


def _all_cancel(original: Function) -> Function:
    def summed(equations: Any, element: Any) -> Any:  # noqa: ANN401
        return None if original(equations, element) is None else {}

    return summed


def _any_ratio(original: Function) -> Function:
    return lambda *args, **options: Fraction(1)


RULE_OF: Final[dict[str, str]] = {}
"""The rule that each mutant breaks."""


def _row(
    name: str, what: str, rule: str, path: str, make: Callable[[Any], Any], key: object = None
) -> Mutant:
    RULE_OF[name] = rule
    return Mutant(name, what, f"{_RW}.{path}", make, Rung.REWRITE, key)


REWRITING: Final = (
    _row("outer-guard-forgotten", "a map read outside its guard is evaluated there",
         "substitute-maps", "substitution:_Inlining.inside", _inside_everywhere),
    _row("two-fills-merged", "of two fills, that of the outer view is taken for both",
         "compose-views", "substitution:copied_through", _one_fill),
    _row("gathers-not-renumbered", "gathers of the inner view keep their numbers",
         "compose-views", "substitution:_shift", lambda f: lambda inner, outer: {}),
    _row("stride-and-dilation-exchanged", "two coefficients of a composed form are exchanged",
         "substitute-maps", "substitution:_view", _exchanged_strides),
    _row("siblings-of-another-where", "nodes over different points are merged",
         "merge-siblings", "rules.siblings:aligned", _any_where),
    _row("reduce-dim-captured", "renaming exchanges a point dim and a reduce dim",
         "merge-siblings", "rules.siblings:aligned", _captured),
    _row("equal-but-for-where", "nodes over different points count as equal",
         "common-subexpression", "rules.cse:_where", lambda f: lambda node: []),
    _row("dims-told-by-extent", "dims of equal extent count as one",
         "common-subexpression", "rules.cse:_names", _by_extent),
    _row("hoisted-from-any-fold", "a factor is moved out of a maximum as out of a sum",
         "hoist-invariant-factors", "matching:is_sum", _any_fold),
    _row("epilogue-factor-lost", "the last hoisted factor is not applied",
         "hoist-invariant-factors", "rules.hoist:_epilogue", _last_factor_lost),
    _row("merged-dim-strides", "conditions step a merged dim as far as the outer one did",
         "merge-dims", "rules.dims:_merged", _stride_of_outer),
    _row("mask-dropped-from-score", "the scores of an online softmax are not masked",
         "stabilize-softmax", "scores:_times", _unmasked_score),
    _row("scale-dropped-from-score", "the scores of an online softmax are not scaled",
         "stabilize-softmax", "scores:_times", _scale_lost),
    _row("mask-dropped-from-weight", "weights that are 0 where masked count everywhere",
         "shift-softmax", "weights:weight_of", _without_conditions),
    _row("where-not-compared", "sums over different points are taken for one",
         "shift-softmax", "opened:conditions", _no_conditions),
    _row("count-ignores-where", "a mean over some points is taken for one over all",
         "welford", "counts:counts", _count_of_everything),
    _row("decay-of-own-step", "a decay that ends before an element includes it, and conversely",
         "recognise-scan", "rules.scan:_product_between", _own_factor_moved),
    _row("carry-on-the-right", "what came before a chunk is combined on the right",
         "chunk-scan", "rules.chunk:_joined", _swapped_sides),
    _row("chunks-added", "totals of chunks are added, not combined",
         "chunk-scan", "rules.chunk:of_states", _added_states),
    _row("carry-from-zero", "the scan of totals starts from 0",
         "chunk-scan", "rules.chunk:of_states", _zero_identity),
    _row("gate-of-any-value", "a maximum gated by 0 counts as one over fewer points",
         "gate-to-where", "rules.scan:_NEUTRAL", lambda row: real(0), "max"),
    _row("any-index-is-sorted", "every index counts as sorted",
         "segment-sum", "rules.segment:is_sorted", _always),
    _row("beyond-not-compared", "the index for elements that are not largest may be a position",
         "argmax", "rules.extremum:_is_beyond", _always),
    _row("rank-ties-backwards", "ties ranked by larger index count as ranked by smaller",
         "top-k", "rules.topk:_before", _ties_backwards),
    _row("maximum-of-anything", "every maximum counts as the one that is kept",
         "read-back", "rules.readback:_ratio", _any_ratio),
    _row("every-sum-cancels", "a cotangent that can be written without its sum counts as zero",
         "stop-max-gradient", "rules.gradient_stop:_Equations.summed", _all_cancel),
)  # fmt: skip

_FUSED: Final = "stabilize-softmax, shift-softmax, logsumexp"
_READERS: Final = "substitute-maps, compose-views"

SHARED: Final[dict[str, str]] = {
    "gathers-not-renumbered": _READERS,
    "stride-and-dilation-exchanged": _READERS,
    "mask-dropped-from-score": _FUSED,
    "scale-dropped-from-score": _FUSED,
    "mask-dropped-from-weight": f"{_FUSED}, recognise-scan",
    "where-not-compared": f"{_FUSED}, welford, argmax, read-back, read-back-mean, "
                          "stop-max-gradient",
    "count-ignores-where": "welford, read-back-mean",
    "maximum-of-anything": "read-back, read-back-mean",
}  # fmt: skip
"""Faults in what several rules share: naming any of them is right."""
