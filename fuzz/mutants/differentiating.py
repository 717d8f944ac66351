"""Mutants of autodiff: wrong gradients of right programs.

Defines `DIFFERENTIATING` and `RULE_OF`, the rule that each one breaks. Relies on the names of
`tang.autodiff`. Each must be found on the rung `rewrite`, by dual numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any, Final

from tang.autodiff.algebra import ZERO, mul
from tang.fuzz.mutants.apply import Mutant
from tang.ir.expr import apply, index
from tang.ir.view import Affine, variable
from tang.verify import Rung

Function = Callable[..., Any]
_AD: Final = "tang.autodiff"


def _ungated(original: Function) -> Function:
    return lambda system, gates, guard: None


def _by_value(original: Function) -> Function:
    """Before: the element whose position won; after: every element that equals the maximum."""
    from tang.autodiff.frame import Pull
    from tang.autodiff.shared import domain, gated

    def extremum(frame: Any, monoid: Any, factor: Any) -> Any:  # noqa: ANN401
        (c,), (k,) = factor.components, factor.inputs
        name = monoid.components[c].name
        equal = apply("eq", frame.node.body[k], frame.result(name))
        return [Pull(domain(frame, (c,)), {k: gated(equal, frame.cotangent(name))})]

    return extremum


def _mirrored_phase(original: Function) -> Function:
    def located(solver: Any, distance: Any, stride: int, *rest: Any) -> Any:  # noqa: ANN401
        found = original(solver, distance, stride, *rest)
        phase = rest[1][1]
        if phase in found:
            found[phase] = (found[phase] - (stride - 1)).scale(-1)
        return found

    return located


def _exchanged_coefficients(original: Function) -> Function:
    """Before: q = s·p + d·r; after: q = d·p + s·r."""

    def solve(source: Any, extents: Any, equations: Any, *rest: Any) -> Any:  # noqa: ANN401
        moved = [replace(e, right=_exchanged(e.right)) for e in equations]
        return original(source, extents, moved, *rest)

    return solve


def _exchanged(form: Affine) -> Affine:
    if len(form.terms) != 2:
        return form
    (v, c), (w, d) = form.terms
    return variable(v, d) + variable(w, c) + form.const


def _no_guards(original: Function) -> Function:
    return lambda system, guard: []


def _no_conditions(original: Function) -> Function:
    return lambda solver, where: original(solver, ())


def _first_only(original: Function) -> Function:
    """Before: Σ over the dims that the source lacks; after: their first point."""

    def build(name: str, element: Any, point: Any, over: Any = ()) -> Any:  # noqa: ANN401
        stuck = tuple(-variable(d.name) for d in over[:1])
        return original(name, replace(element, where=(*element.where, *stuck)), point, over)

    return build


def _other_direction(original: Function) -> Function:
    return lambda form, place: original(replace(form, reversed=not form.reversed), place)


def _without_delta(original: Function) -> Function:
    return lambda frame, name, *rest: ZERO if name == "delta" else original(frame, name, *rest)


def _first_dim_fastest(original: Function) -> Function:
    return lambda reduce: original(tuple(reversed(reduce)))


def _uncentred(original: Function) -> Function:
    """Before: 2 (x − mean) · d m2; after: 2 x · d m2."""

    def sub(a: Any, b: Any) -> Any:  # noqa: ANN401
        return a

    def welford(frame: Any, monoid: Any, factor: Any) -> Any:  # noqa: ANN401
        reductions: Any = import_module("tang.autodiff.reductions")
        kept, reductions.sub = reductions.sub, sub
        try:
            return original(frame, monoid, factor)
        finally:
            reductions.sub = kept

    return welford


def _with_itself(original: Function) -> Function:
    """Before: the elements before or after; after: and the element itself."""

    def scan(*args: Any) -> Any:  # noqa: ANN401
        node = original(*args)
        frame = args[0]
        wider = replace(node, where=(*node.where[:-1], node.where[-1] + 1))
        frame.tape.nodes[frame.tape.nodes.index(node)] = wider
        return wider

    return scan


def _always_free(original: Function) -> Function:
    return lambda flow, at, results: "free, so it gets no gradient: "


def _unsigned_recip(original: Function) -> Function:
    return lambda e, a: apply("mul", e, e) if e.op == "recip" else original(e, a)


def _first_of_equal_reads(original: Function) -> Function:
    return lambda node, active: [g[:1] for g in original(node, active)]


def _first_rank(original: Function) -> Function:
    """Before: every rank looks for its own element; after: each of them for the best."""

    def ranked(frame: Any, monoid: Any, factor: Any) -> Any:  # noqa: ANN401
        found = original(frame, monoid, factor)
        from tang.autodiff.frame import Pull

        moved = []
        for pull in found:
            at = next(i for i, r in enumerate(frame.reads) if r.source.output == "at")
            read = frame.reads[at]
            coords = (*read.view.coords[:-1], Affine())
            frame.reads[at] = replace(read, view=replace(read.view, coords=coords))
            moved.append(Pull(pull.dims, pull.values, pull.where))
        return moved

    return ranked


def _last_contribution(original: Function) -> Function:
    def contribute(tape: Any, ref: Any, term: Any) -> None:  # noqa: ANN401
        tape.terms.pop(ref, None)
        original(tape, ref, term)

    return contribute


def _captured(original: Function) -> Function:
    return lambda element, target, taken: (element, target)


def _current_weight(original: Function) -> Function:
    """Before: λ_s = g_s + a_(s+1)·λ_(s+1); after: with a_s."""

    def renamed_read(read: Any, forms: Any) -> Any:  # noqa: ANN401
        return original(read, {v: f - 1 if f.const.terms else f for v, f in forms.items()})

    return renamed_read


def _plain_product(original: Function) -> Function:
    return lambda derivative, tangent, factor: (
        ZERO if ZERO in (tangent, factor) else mul(tangent, factor)
    )


def _late_quotient(original: Function) -> Function:
    """Before: ⌊n / s⌋; after: ⌊(n + 1) / s⌋."""

    def quotient(tape: Any, q: Any) -> Any:  # noqa: ANN401
        ref = original(tape, q)
        for at, node in enumerate(tape.nodes):
            if node.name == ref.node and node.body[0].op == "floordiv":
                n, s = node.body[0].args
                later = apply("floordiv", apply("add", n, index(1)), s)
                tape.nodes[at] = replace(node, body=(later,))
        return ref

    return quotient


def _row(name: str, what: str, path: str, make: Function, key: object = None) -> Mutant:
    return Mutant(name, what, f"{_AD}.{path}", make, Rung.REWRITE, key)


DIFFERENTIATING: Final = (
    _row("gather-gate-missing", "every reader adds to every element of a gathered tensor",
         "adjoint:_System.gate", _ungated),
    _row("max-by-value", "every element equal to the maximum gets its gradient",
         "reductions:RULES", _by_value, "max"),
    _row("stride-phase-mirrored", "the phases of a strided axis come in reverse order",
         "solve:_Solver.located", _mirrored_phase),
    _row("dilation-and-stride-exchanged", "q = s·p + d·r is solved as q = d·p + s·r",
         "solve:solve", _exchanged_coefficients),
    _row("guard-lost-in-adjoint", "what a guard replaces by the fill gets a gradient",
         "adjoint:_System.conditions", _no_guards),
    _row("where-lost-in-adjoint", "excluded points get a gradient",
         "solve:_Solver.finish", _no_conditions),
    _row("summed-dim-forgotten", "of the readers of an element only the first counts",
         "element:build", _first_only),
    _row("scan-not-reversed", "the gradient of a scan runs forwards",
         "recurrence:ScanForm.time_of", _other_direction),
    _row("zero-absorption-lost", "a branch not taken makes 0·inf",
         "derivative:Derivative.times", _plain_product),
    _row("softmax-delta-forgotten", "the gradient of scores lacks Σ g·value",
         "exponential:_summed", _without_delta),
    _row("winner-numbered-by-column", "ties over two dims go to the first by column",
         "winner:position", _first_dim_fastest),
    _row("variance-not-centred", "the gradient of a variance forgets the mean",
         "reductions:RULES", _uncentred, "welford"),
    _row("prefix-with-itself", "the elements before one include it",
         "general:_scan", _with_itself),
    _row("maximum-dropped-unproved", "no maximum gets a gradient",
         "degree:_Flow.proof", _always_free),
    _row("recip-derivative-unsigned", "the derivative of 1/x is 1/x²",
         "derivative:slope", _unsigned_recip),
    _row("equal-reads-counted-once", "of two equal reads only one gets a gradient",
         "frame:_groups", _first_of_equal_reads),
    _row("ranks-gated-alike", "every rank of top-k sends its gradient to the best",
         "reductions:RULES", _first_rank, "top-k"),
    _row("contribution-overwritten", "a second reader replaces the contribution of the first",
         "tape:Tape.contribute", _last_contribution),
    _row("dims-captured", "dims of a reader and of its source may have one name",
         "adjoint:_apart", _captured),
    _row("scan-weight-one-early", "the reverse scan multiplies by the weight of its own element",
         "recurrence:renamed_read", _current_weight),
    _row("quotient-one-late", "the quotients of a strided axis are those of the next element",
         "tape:Tape.quotient", _late_quotient),
)  # fmt: skip

RULE_OF: Final = {
    "gather-gate-missing": "grad:gather",
    "max-by-value": "grad:extremum",
    "stride-phase-mirrored": "grad:split-stride",
    "dilation-and-stride-exchanged": "grad:solve-view",
    "guard-lost-in-adjoint": "grad:guard",
    "where-lost-in-adjoint": "grad:where",
    "summed-dim-forgotten": "grad:sum-readers",
    "scan-not-reversed": "grad:affine-scan",
    "zero-absorption-lost": "grad:absorb-zero",
    "softmax-delta-forgotten": "grad:online-softmax",
    "winner-numbered-by-column": "grad:extremum",
    "variance-not-centred": "grad:welford",
    "prefix-with-itself": "grad:any-monoid",
    "maximum-dropped-unproved": "grad:stop-max-gradient",
    "recip-derivative-unsigned": "grad:chain",
    "equal-reads-counted-once": "grad:sum-readers",
    "ranks-gated-alike": "grad:top-k",
    "contribution-overwritten": "grad:sum-readers",
    "dims-captured": "grad:rename-dims",
    "scan-weight-one-early": "grad:affine-scan",
    "quotient-one-late": "grad:split-stride",
}
"""The rule that each mutant breaks."""
