"""The domain `any order`: bounds on every kernel of these formats, whatever order it sums in.

Defines `any_order`. Relies on `shadow` for values and shadows, on `strict` for what counts as a
decision, on the claims of functions, and on `printed` for what f64 is off by. Its bounds follow
the operations of the plan: of a fold that is no plain sum, as a running softmax, they hold for its
order alone.

A bound of `shadow` lies around what one kernel computed; these lie around the shadow, so they hold
for any computed operands within theirs, and so does what is tainted: a decision is doubtful where
operands are within their bounds of its border. A sum of terms x_i with |computed − exact| ≤ e_i is,
in any order,

    |computed − exact| ≤ Σ e_i + (Π (1 + u_k) − 1) · Σ (|x_i| + e_i)

over the roundings u_k of its additions (N. Higham, Accuracy and Stability of Numerical Algorithms,
2002, 4.2): no term goes through more of them than there are.

A compiler may contract a product into a sum or a difference (fma), which leaves a rounding out; the
bound of the product has it, and that of the sum holds for every operand within bounds. But in
max(a·b, c) − a·b only one of the two products may be rounded: what is 0 without contraction is off
by that rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any, Final

import numpy as np

from tang.emulator import formats, real
from tang.emulator.any_order_functions import claimed, unless_beyond
from tang.emulator.bounds import SLACK, Own, binade, function_rounding, rounding
from tang.emulator.certify_functions import Functions
from tang.emulator.domain import Domain, Operation
from tang.emulator.extremes import PROPAGATING
from tang.emulator.machine import Array, Machine, Site, Value
from tang.emulator.narrow import narrowed
from tang.emulator.printed import as_printed
from tang.emulator.shadow import SHADOW, moved
from tang.emulator.strict import decision, to_int
from tang.emulator.summed import Summed, Sums, around, is_product, sums_of, tie
from tang.ir.format import Format, format_named
from tang.kernel.ir import MATH, Function, Type
from tang.kernel.narrow import Conversion, conversion_named

_DECISIONS: Final = ("lt", "le", "eq", "isnan", "floor")


# --- operations -----------------------------------------------------------------------------------


def _operation(functions: Functions, op: str, type_: Type, site: Site) -> Operation:
    if op in _DECISIONS:
        return decision(op, type_, site, SLACK)
    apply = _add(type_) if op == "add" else _arithmetic(functions, op, type_, site)
    return decision(op, type_, site, SLACK, Operation(apply))


def _add(type_: Type) -> Callable[..., Summed]:
    rounded, target = formats.function("add", type_), format_named(type_.value)
    own, largest = rounding("add", target), float(target.largest)
    step = np.log1p(own[1])

    def add(a: Any, b: Any) -> Summed:  # noqa: ANN401
        value, shadow = rounded(a.value, b.value), np.add(a.shadow, b.shadow)
        alone = around("add", (a, b), value, shadow, own)
        (ea, la, sa, ta), (eb, lb, sb, tb) = sums_of(a), sums_of(b)
        nothing = ((a.shadow == 0) & (a.bound == 0)) | ((b.shadow == 0) & (b.bound == 0))
        top = np.minimum(np.minimum(ta, tb), largest)
        sums = ea + eb, la + lb + np.where(nothing, 0.0, step), sa + sb, top
        return Summed(value, shadow, _reordered(sums, shadow, alone), (), sums)

    return add


def _reordered(sums: Sums, shadow: Value, alone: Value) -> Value:
    """The bound of a sum in any order, no less than of its last addition, which may be nothing.

    Infinite where some order may overflow, also beside an infinity: of the other sign they are NaN.
    """
    e, log, size, top = sums
    bound = e + np.expm1(log) * size
    over = (size * np.exp(log) > top) & ~np.isnan(shadow)
    plain = np.isfinite(bound) & np.isfinite(shadow)
    return np.where(over, np.inf, np.where(plain, np.maximum(bound, alone), alone))[()]


def _arithmetic(functions: Functions, op: str, type_: Type, site: Site) -> Callable[..., Summed]:
    inner = SHADOW.operation(op, type_, site).function
    if op in MATH or op in ("div", "sqrt"):
        return claimed(functions, op, type_, inner)
    target = format_named(type_.value)
    own, limit = rounding(op, target), tie(target)

    def apply(*operands: Any) -> Summed:  # noqa: ANN401
        done = inner(*operands)
        bound = around(op, operands, done.value, done.shadow, own, limit)
        if op == "sub" and any(x.sides for x in operands):
            rest = np.minimum(bound, _contracted(operands, rounding("mul", target)))
            bound = np.asarray(np.where(done.bound == 0, rest, bound))[()]
        product = op == "mul" or (op == "neg" and is_product(operands[0]))
        return Summed(done.value, done.shadow, bound, product=product)

    return apply


def _contracted(operands: tuple[Any, ...], own: Own) -> Value:
    """What a maximum less its own operand may be: 0, or the rounding of a product."""
    sizes = (np.abs(x.shadow) + x.bound for x in operands if is_product(x))
    return sum((own[1] * np.maximum(binade(z), own[2]) for z in sizes), np.float64(0.0))


def _call(function: Function, site: Site) -> Callable[..., Summed]:
    conversion = conversion_named(function.implements)
    if conversion is not None:
        near = conversion
        return lambda m, result, x: _moved(near, result, x)
    plain, op = real.plain_function(function.implements), function.implements
    target = format_named(function.result.type.value)
    own = function_rounding(function.ulp, target)

    def after(m: Machine, result: Value, *operands: Any) -> Summed:  # noqa: ANN401
        shadow = plain(*(x.shadow for x in operands))
        bound = around(op, operands, result, shadow, own)
        return Summed(result, shadow, unless_beyond(target, result, shadow, bound))

    return after


def _extreme(kind: str, type_: Type) -> Operation | None:
    """max, min or abs: an operand is clearly the one where exact values are beyond all bounds."""
    found = SHADOW.extreme(kind, type_)
    if found is None or kind == "abs":
        return found
    inner, propagates = found.function, kind in PROPAGATING.values()

    def extreme(x: Any, y: Any) -> Summed:  # noqa: ANN401
        done = inner(x, y)
        clear = np.abs(x.shadow - y.shadow) > (x.bound + y.bound) * SLACK
        first = done.shadow == x.shadow
        bound = np.where(clear, np.where(first, x.bound, y.bound), np.maximum(x.bound, y.bound))
        if propagates and np.isnan(done.shadow).any():
            bound = np.where(_is_exactly_nan(x) | _is_exactly_nan(y), 0.0, bound)
        sides = (x[:3], clear & first), (y[:3], clear & ~first)
        return Summed(done.value, done.shadow, bound[()], sides)

    return Operation(extreme)


def _is_exactly_nan(x: Any) -> Value:  # noqa: ANN401
    return np.isnan(x.shadow) & (x.bound == 0)


# --- conversions ----------------------------------------------------------------------------------


def _conversion(type_: Type, source: Type) -> Callable[[Any], Any]:
    inner, target = SHADOW.to_float(type_, source), format_named(type_.value)
    if not source.is_float:
        return inner
    own, limit = rounding("convert", target), tie(target)

    def convert(x: Any) -> Summed:  # noqa: ANN401
        done = inner(x)
        if done.bound is x.bound:  # a wider format: the same number
            return Summed(done.value, x.shadow, x.bound, (), getattr(x, "sums", None))
        bound = around("convert", (x,), done.value, x.shadow, own, limit)
        return Summed(done.value, x.shadow, bound, (), _rounded_sums(x, own, target))

    return convert


def _rounded_sums(x: Any, own: Own, target: Format) -> Sums | None:  # noqa: ANN401
    """What is added up in a value that was rounded on its way: as if its format added it."""
    if getattr(x, "sums", None) is None:
        return None
    e, log, size, top = sums_of(x)
    least = own[1] * own[2]
    largest = np.minimum(top, float(target.largest))
    return e + least, log + np.log1p(own[1]), size + least, largest


def _rounded(conversion: Conversion, source: Type) -> Operation:
    return Operation(lambda x: _moved(conversion, narrowed(conversion, x.value), x))


def _moved(conversion: Conversion, value: Value, x: Any) -> Summed:  # noqa: ANN401
    """A value rounded to a narrow format, and the bound for any kernel's value within x's.

    The distance to the nearest number of a format changes by no more than the value does; within
    the format it is half a spacing. Other roundings are off by a whole one. Where what is beyond
    the largest number becomes none, nothing is known of those that may be.
    """
    done, e = moved(value, x), x.bound
    size = np.abs(x.shadow) + e
    nearest = conversion.rounding in ("rne", "rna")
    own = rounding("convert", conversion.format)
    spacing = own[1] * np.maximum(binade(size), own[2]) * (1 if nearest else 2)
    inside = size <= float(conversion.format.largest)
    beyond = (done.bound + 2 * e) if nearest else np.inf
    bound = np.minimum(np.where(inside, spacing + e, np.inf), beyond) * SLACK
    exact = np.isfinite(value) & np.isfinite(x.shadow) & np.isfinite(e)
    if conversion.overflow != "saturate":
        bound = np.where((size >= tie(conversion.format)) & (e > 0), np.inf, bound)
    bound = np.where(exact, bound, done.bound)[()]
    sums = _rounded_sums(x, (1.0, 2 * own[1], own[2]), conversion.format)
    return Summed(value, x.shadow, bound, (), sums)


def _merge(mask: Array, new: Any, old: Any) -> Summed:  # noqa: ANN401
    value, shadow, bound = (np.where(mask, new[k], old[k]) for k in range(3))
    product = is_product(new) or is_product(old)
    if getattr(new, "sums", None) is None and getattr(old, "sums", None) is None:
        return Summed(value, shadow, bound, product=product)
    pairs = zip(sums_of(new), sums_of(old), strict=True)
    e, log, size, top = (np.where(mask, a, b) for a, b in pairs)
    return Summed(value, shadow, bound, (), (e, log, size, top), product)


@cache
def any_order(math: str = "portable", *, printed: bool = True) -> Domain:
    """The domain, for kernels that call tang's functions, those of a language or of any library.

    Of the latter it reads a plan whose functions are not expanded. Raises BudgetError for an
    unknown one.

    printed  whether its bounds hold against f64 as programs are printed, else against exact results
    """
    functions = Functions(math)
    domain = replace(
        SHADOW,
        operation=partial(_operation, functions),
        to_int=partial(to_int, trust=SLACK),
        to_float=_conversion,
        merge=_merge,
        call=_call,
        rounded=_rounded,
        extreme=_extreme,
    )
    name = f"any order, {math} functions"
    return (
        replace(as_printed(domain), name=name)
        if printed
        else replace(domain, name=name + ", exact")
    )
