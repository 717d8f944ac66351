"""Mutants of the dialects: rows of tables that every language has.

Defines `TEXT_TABLES`. Relies on the names of the dialects' tables; each fault is planted in the
table of every language that it lists. Each must be found on the rung `emit`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from tang.fuzz.mutants.apply import SIX, Mutant
from tang.kernel.ir import Type
from tang.verify import Rung, Verdict

_DIALECT: Final = "tang.emit.{language}:{LANGUAGE}."
_WRONG: Final = frozenset({Verdict.WRONG})
_PLACE: Final = frozenset(
    {
        Verdict.WRONG, Verdict.UNWRITTEN, Verdict.STRAY_WRITE, Verdict.OUT_OF_BOUNDS,
        Verdict.NONDETERMINISTIC, Verdict.CRASH,
    }
)  # fmt: skip
"""What an access at the wrong place may be called."""
_UNSET: Final = frozenset({Verdict.WRONG, Verdict.NONDETERMINISTIC, Verdict.UNWRITTEN})
"""What depends on memory that was never set."""
_REFUSED: Final = frozenset({Verdict.WRONG, Verdict.CRASH, Verdict.TIMEOUT, *_PLACE})
"""What a loop that ends elsewhere may do."""

Change = Callable[[Any], Any]


def swap(*pairs: tuple[str, str]) -> Change:
    """A form whose template has the first of some texts replaced that it holds."""

    def make(form: Any) -> Any:  # noqa: ANN401
        found = next(((a, b) for a, b in pairs if a in form.template), None)
        return form if found is None else replace(form, template=form.template.replace(*found))

    return make


def _exchanged(first: int, second: int) -> Change:
    """A form with two of its operands exchanged."""
    other = {str(first): str(second), str(second): str(first)}

    def make(form: Any) -> Any:  # noqa: ANN401
        template = re.sub(r"\{(\d)\}", lambda m: f"{{{other.get(m[1], m[1])}}}", form.template)
        return replace(form, template=template, needs=(7, 7, 7))

    return make


def _first_alone(form: Any) -> Any:  # noqa: ANN401
    return replace(form, template="({0})", level=7)


def _negated(form: Any) -> Any:  # noqa: ANN401
    return replace(form, template=f"(!({form.template}))", level=7)


def _operation(name: str, what: str, op: str, t: Type, make: Change) -> Mutant:
    verdicts = _WRONG if t is Type.F32 else _PLACE  # indices and guards lead elsewhere
    path = _DIALECT + "operations"
    return Mutant(name, what, path, make, Rung.EMIT, (op, t), SIX, verdicts, blind=True)


def _syntax(name: str, what: str, field: str, *pairs: tuple[str, str]) -> Mutant:
    def make(template: str) -> str:
        found = next(((a, b) for a, b in pairs if a in template), None)
        return template if found is None else template.replace(*found)

    path = f"{_DIALECT}syntax.{field}"
    return Mutant(name, what, path, make, Rung.EMIT, None, SIX, _REFUSED, blind=True)


def _store(name: str, what: str, t: Type, verdicts: frozenset[Verdict], text: str) -> Mutant:
    def make(form: Any) -> Any:  # noqa: ANN401
        value = form.template.split(" = ", 1)[1].rstrip(";")
        return replace(form, template=text.replace("VALUE", value), needs=(0, 7, 7))

    path = _DIALECT + "stores"
    return Mutant(name, what, path, make, Rung.EMIT, t, SIX, verdicts, blind=True)


def _load(name: str, what: str, t: Type, index: str) -> Mutant:
    def make(form: Any) -> Any:  # noqa: ANN401
        return replace(form, template=form.template.replace("{1}", index), needs=(0, 7))

    return Mutant(name, what, _DIALECT + "loads", make, Rung.EMIT, t, SIX, _PLACE, blind=True)


_F, _I, _U, _B = Type.F32, Type.I32, Type.U32, Type.BOOL

_OPERATIONS: Final = (
    _operation("sum-is-difference", "a + b is printed as a − b", "add", _F, swap(("+", "-"))),
    _operation("product-is-quotient", "a · b is printed as a / b", "mul", _F,
               swap(("mul_rn", "div_rn"), ("*", "/"))),
    _operation("quotient-turned-over", "a / b is printed as b / a", "div", _F, _exchanged(0, 1)),
    _operation("difference-turned-over", "a − b is printed as b − a", "sub", _F,
               _exchanged(0, 1)),
    _operation("sign-kept", "−a is printed as a", "neg", _F, swap(("-", ""))),
    _operation("less-turned-over", "a < b is printed as b < a", "lt", _F, _exchanged(0, 1)),
    _operation("equal-is-at-most", "a == b is printed as a <= b", "eq", _F, swap(("==", "<="))),
    _operation("floor-is-ceiling", "floors are printed as ceilings", "floor", _F,
               swap(("floor", "ceil"))),
    _operation("root-dropped", "a root is printed as its operand", "sqrt", _F, _first_alone),
    _operation("nan-test-negated", "isnan holds for numbers", "isnan", _F, _negated),
    _operation("branches-exchanged", "a selection of reals takes the other one", "select", _F,
               _exchanged(1, 2)),
    _operation("index-branches-exchanged", "a selection of indices takes the other one",
               "select", _I, _exchanged(1, 2)),
    _operation("and-is-or", "a ∧ b is printed as a ∨ b", "and", _B,
               swap(("&&", "||"), ("tang_and", "tang_or"), (" & ", " | "))),
    _operation("or-is-first", "a ∨ b is printed as a", "or", _B, _first_alone),
    _operation("not-dropped", "¬a is printed as a", "not", _B, _first_alone),
    _operation("index-sum-is-difference", "i + j is printed as i − j", "add", _I,
               swap(("+", "-"))),
    _operation("index-product-is-sum", "i · j is printed as i + j", "mul", _I,
               swap(("{0} * {1}", "({0} + {1})"))),
    _operation("index-less-is-at-most", "i < j is printed as i <= j", "lt", _I, swap(("<", "<="))),
    _operation("index-minimum-is-maximum", "min is printed as max", "min", _I,
               swap(("min", "max"))),
    _operation("remainder-is-quotient", "i mod j is printed as its quotient", "mod", _I,
               swap(("mod", "floordiv"))),
    _operation("quotient-is-remainder", "⌊i / j⌋ is printed as the remainder", "floordiv", _I,
               swap(("floordiv", "mod"))),
    _operation("bits-and-is-or", "a & b is printed as a | b", "band", _U, swap(("&", "|"))),
    _operation("shift-turned-around", "a << n is printed as a >> n", "shl const", _U,
               swap(("<<", ">>"))),
)  # fmt: skip

_STATEMENTS: Final = (
    _syntax("loop-one-too-far", "loops take their end with them", "loop",
            ("{name} < {hi}", "{name} <= {hi}")),
    _syntax("loop-one-short", "loops leave out their last turn", "loop",
            ("{name} < {hi}", "{name} < {hi} - 1")),
    _syntax("loop-starts-late", "loops leave out their first turn", "loop",
            ("= {lo}", "= {lo} + 1")),
    _syntax("loop-by-two", "loops leave out every second turn", "loop",
            ("++{name}", "{name} += 2"), ("{name}++", "{name} += 2")),
    _syntax("accumulator-uninitialised", "variables are declared without a value", "declare",
            (" = {value}", "")),
    _syntax("accumulator-starts-from-zero", "variables start from zero whatever they should",
            "declare", ("precise {type} {name} = {value}", "precise {type} {name} = {type}(0)"),
            ("{name}: {type} = {value}", "{name}: {type} = {type}()"), ("{value}", "0")),
)  # fmt: skip

_MEMORY: Final = (
    _load("real-of-the-next", "a load of reals takes the next element", _F, "{1} + 1"),
    _load("real-of-the-first", "a load of reals takes the first element", _F, "{1} * 0"),
    _load("index-in-bytes", "an element's index is taken for its offset in bytes", _I,
          "({1}) / 4"),
    _store("store-to-the-next", "a store goes to the next element", _F, _PLACE,
           "{0}[{1} + 1] = VALUE;"),
    _store("store-at-bytes", "a store's index is multiplied by the size of an element", _I,
           _PLACE, "{0}[{1} * 4] = VALUE;"),
    _store("store-adds", "a store adds to what was there", _F, _UNSET, "{0}[{1}] += VALUE;"),
    _store("first-not-stored", "the first element of a memory is not stored", _F, _UNSET,
           "if ({1} != 0) {{ {0}[{1}] = VALUE; }}"),
    _store("blocks-race", "threads store to the first element of their eight as well", _F,
           _UNSET | {Verdict.RACE}, "{0}[{1}] = VALUE; {0}[{1} / 8 * 8] = VALUE;"),
)  # fmt: skip

_CONVERSIONS: Final = (
    Mutant("index-to-real-unsigned", "negative indices become large reals",
           _DIALECT + "conversions",
           swap(("(f32){0}", "(f32)(u32){0}"), ("f32({0})", "f32(u32({0}))"),
                ("float({0})", "float(uint({0}))")),
           Rung.EMIT, (Type.I32, Type.F32), SIX, _WRONG, blind=True),
    Mutant("real-to-index-absolute", "reals lose their sign on the way to an index",
           _DIALECT + "conversions",
           swap(("(i32){0}", "(i32)((({0}) < 0) ? -({0}) : ({0}))"), ("i32({0})", "i32(abs({0}))"),
                ("int({0})", "int(abs({0}))")),
           Rung.EMIT, (Type.F32, Type.I32), SIX, _PLACE, blind=True),
    Mutant("narrowing-to-bf16", "reals are rounded to bf16 where f16 is meant",
           _DIALECT + "conversions", swap(("tang_round_f16", "tang_round_bf16")), Rung.EMIT,
           (Type.F32, Type.F16), SIX, _WRONG, narrow=True, blind=True),
    Mutant("bits-become-a-constant", "bits become the number 1.5", _DIALECT + "bitcasts",
           lambda form: replace(form, template="1.5f" if "tang_f32_of" in form.template
                                else "tang_keep(1.5)"),
           Rung.EMIT, (Type.U32, Type.F32), SIX, _WRONG, blind=True),
)  # fmt: skip

TEXT_TABLES: Final = (*_OPERATIONS, *_STATEMENTS, *_MEMORY, *_CONVERSIONS)
