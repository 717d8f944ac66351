"""Mutants of precision in lowering: conversions, registers, buffers and runs of another format.

Defines `PRECISION_LOWERING`. Relies on the names of lowering's functions and rule tables. What f64
arithmetic cannot see must be found on the rung `round`; the others where each row says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from tang.fuzz.mutants.apply import Mutant
from tang.ir.expr import REAL
from tang.kernel import ir as k
from tang.kernel.lower.build import Value
from tang.kernel.narrow import E2M1, TF32, Conversion
from tang.kernel.schedule import Precision
from tang.verify import Rung

Function = Callable[..., Any]
_LOWER: Final = "tang.kernel.lower"
_PLAIN: Final = Precision(k.F32)


# --- conversions ----------------------------------------------------------------------------------


def _unrounded(original: Function) -> Function:
    return lambda ctx, value: value


def _unconverted(original: Function) -> Function:
    return lambda ctx, buffer, value: value


def _converted_with(**fields: str) -> Callable[[Function], Function]:
    def make(original: Function) -> Function:
        return lambda ctx, value, conversion: original(ctx, value, replace(conversion, **fields))

    return make


def _converted_to(format_: Any) -> Callable[[Function], Function]:  # noqa: ANN401
    def make(original: Function) -> Function:
        return lambda ctx, value, conversion: original(ctx, value, Conversion(format_))

    return make


def _literal_as_it_is(original: Function) -> Function:
    def literal(ctx: Any, e: Any, nearest: bool = False) -> Any:  # noqa: ANN401
        if e.sort is not REAL or ctx.precision.conversion is None:
            return original(ctx, e, nearest)
        return Value(k.Const(ctx.type_of(e.sort), e.payload), 0)

    return literal


def _also_exact(op: str) -> Callable[[Function], Function]:
    return lambda original: lambda name, conversion: name == op or original(name, conversion)


def _inverse_as_it_is(original: Function) -> Function:
    from tang.kernel.lower.build import constant

    return lambda ev, e, a: ev.ctx.builder.op(
        ev.ctx.accumulate, "div", constant(ev.ctx.accumulate, 1), *a
    )


def _number_as_it_is(original: Function) -> Function:
    return lambda ev, e, a: ev.ctx.builder.converted(ev.ctx.accumulate, a[0])


def _without_storage(original: Function) -> Function:
    """An inlined result keeps the format that it was computed in."""

    def recalled(ctx: Any, ref: Any, value: Any, own: Any) -> Any:  # noqa: ANN401
        tensors = dict(ctx.tensors)
        tensors[ref] = replace(tensors[ref], conversion=None)
        return original(replace(ctx, tensors=tensors), ref, value, own)

    return recalled


# --- registers and buffers ------------------------------------------------------------------------


def _registers(change: Callable[[Precision], Precision]) -> Callable[[Function], Function]:
    def make(original: Function) -> Function:
        def context(task: Any, world: Any, builder: Any) -> Any:  # noqa: ANN401
            ctx = original(task, world, builder)
            return replace(ctx, precision=change(ctx.precision))

        return context

    return make


def _narrower(p: Precision) -> Precision:
    return Precision(k.BF16) if p == _PLAIN else p


def _wider(p: Precision) -> Precision:
    return _PLAIN if p.type in (k.F16, k.BF16) else p


def _tf32(p: Precision) -> Precision:
    return p if p.conversion is None else Precision(k.F32, Conversion(TF32))


def _stored_in_f32(original: Function) -> Function:
    def add(work: Any, ref: Any, label: str, shape: Any, sort: Any, real: Any) -> None:  # noqa: ANN401
        kept = real if ref.output == "" or real.type is k.F64 else _PLAIN
        original(work, ref, label, shape, sort, kept)

    return add


def _partials_as_stored(original: Function) -> Function:
    def partials(work: Any, task: Any, monoid: Any) -> Any:  # noqa: ANN401
        narrow = replace(task.schedule, accumulate=task.schedule.storage)
        return original(work, replace(task, schedule=narrow), monoid)

    return partials


def _recipe_in_f32(original: Function) -> Function:
    return lambda work, node: replace(original(work, node), precision=_PLAIN)


# --- runs -----------------------------------------------------------------------------------------


def _full_after(change: Callable[[int], int]) -> Callable[[Function], Function]:
    def make(original: Function) -> Function:
        return lambda ctx, terms, every: original(ctx, terms, change(every))

    return make


def _run_in(choose: Callable[[Any, Precision], Precision]) -> Callable[[Function], Function]:
    """Runs with another precision than the schedule's."""

    def make(original: Function) -> Function:
        return lambda ctx, precision: original(ctx, choose(ctx, precision))

    return make


def _never_begun(original: Function) -> Function:
    return lambda ctx, terms: [Value(k.Const(k.BOOL, False), 0)]


def _rounded_on_its_way(original: Function) -> Function:
    def promoted(ctx: Any, run: Any, depth: int) -> Function:  # noqa: ANN401
        reader = original(ctx, run, depth)

        def read(i: int, coords: Any) -> Any:  # noqa: ANN401
            value = reader(i, coords)
            if not value.expr.type.is_float or value.expr.type is k.F64:
                return value
            narrow = ctx.converted(value, Conversion(E2M1))
            kind = value.expr.type
            return narrow if kind is k.F32 else ctx.builder.converted(kind, narrow)

        return read

    return promoted


def _without_runs(original: Function) -> Function:
    return lambda task, world, builder: replace(original(task, world, builder), promotion=None)


def _round(name: str, what: str, path: str, make: Any, key: object = None) -> Mutant:  # noqa: ANN401
    return Mutant(name, what, f"{_LOWER}.{path}", make, Rung.ROUND, key)


def _lower(name: str, what: str, path: str, make: Function) -> Mutant:
    return Mutant(name, what, f"{_LOWER}.{path}", make, Rung.LOWER)


PRECISION_LOWERING: Final = (
    _round("result-not-rounded", "results stay f32 whatever the format",
           "context:Context.rounded", _unrounded),
    _round("load-not-rounded", "what is read stays in the format in which it was stored",
           "reads:_loaded", _unconverted),
    _round("literal-not-rounded", "constants are no numbers of the format",
           "context:Context.literal", _literal_as_it_is),
    _round("sum-not-rounded", "sums stay f32", "scalar:is_exact", _also_exact("add")),
    _round("product-not-rounded", "products stay f32", "scalar:is_exact", _also_exact("mul")),
    _round("quotient-not-rounded", "quotients stay f32", "scalar:is_exact", _also_exact("div")),
    _round("inverse-not-rounded", "1/x stays f32", "scalar:RULES", _inverse_as_it_is, "recip"),
    _round("index-not-rounded", "indices become f32, not numbers of the format",
           "scalar:RULES", _number_as_it_is, "to_real"),
    _round("rne-whatever", "conversions round to nearest even",
           "context:Context.converted", _converted_with(rounding="rne")),
    _round("rz-whatever", "conversions round towards zero",
           "context:Context.converted", _converted_with(rounding="rz")),
    _round("saturate-whatever", "conversions saturate",
           "context:Context.converted", _converted_with(overflow="saturate")),
    _round("conversion-to-tf32", "conversions are to tf32, whatever the format",
           "context:Context.converted", _converted_to(TF32)),
    _round("accumulator-narrowed", "what is to be computed in f32 is computed in bf16",
           "kernels:_context", _registers(_narrower)),
    _round("accumulator-widened", "what is to be computed in 16 bits is computed in f32",
           "kernels:_context", _registers(_wider)),
    _round("accumulator-in-tf32", "what is to be computed in a narrow format is computed in tf32",
           "kernels:_context", _registers(_tf32)),
    _round("storage-in-f32", "results are stored in f32 whatever the schedule says",
           "program:_add_buffer", _stored_in_f32),
    _round("partials-as-stored", "partial states are stored in the format of results",
           "program:_partial_buffers", _partials_as_stored),
    _lower("inlined-without-storage", "an inlined result is not rounded as if it had been stored",
           "reads:recalled", _without_storage),
    _lower("inlined-in-f32", "inlined nodes are computed in f32", "program:_recipe",
           _recipe_in_f32),
    _round("run-too-long", "a run has a term more", "runs:is_full", _full_after(lambda n: n + 1)),
    _round("run-too-short", "a run has a term less", "runs:is_full",
           _full_after(lambda n: max(n - 1, 1))),
    _round("wrong-tree", "every term is a run", "runs:is_full", _full_after(lambda n: 1)),
    _round("run-in-f32", "runs are computed in f32 where nothing is wider", "runs:within_run",
           _run_in(lambda ctx, p: p if ctx.precision.type is k.F64 else _PLAIN)),
    _round("run-as-accumulated", "runs are computed in the format that accumulates",
           "runs:within_run", _run_in(lambda ctx, p: ctx.precision)),
    _round("run-rounded-up-front", "the state of a run is rounded on its way up",
           "runs:promoted", _rounded_on_its_way),
    _round("runs-ignored", "terms are added to the accumulator one by one",
           "kernels:_context", _without_runs),
    _lower("run-goes-on", "a run starts from what the last one had", "state:restart",
           lambda f: lambda ctx, slots: None),
    _lower("last-run-lost", "a last run that is not full is forgotten", "runs:is_begun",
           _never_begun),
)  # fmt: skip
