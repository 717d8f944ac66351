"""Renumbering: the expressions of a monoid with inputs, components and axes in other places.

Defines `renumbered`, which products of monoids, their factors and their normal forms share. Relies
on the expressions. It decides no numbers: its callers say where everything goes.
"""

from __future__ import annotations

from collections.abc import Callable

from tang.ir.expr import Expr, arg, fold, iota, rebuild, state, walk


def renumbered(
    root: Expr,
    inputs: Callable[[int], int],
    components: Callable[[int], int],
    axes: Callable[[str], str],
) -> Expr:
    """The expression with input, component and static axis replaced by what they map to.

    Axes are asked for in the order of `walk`, operands before operations.
    """

    def moved(e: Expr, args: tuple[Expr, ...]) -> Expr:
        match e.op, e.payload:
            case "arg", int(i):
                return arg(inputs(i), e.sort)
            case "iota", str(axis):
                return iota(axes(axis))
            case "state", (int(side), int(c)):
                return state(side, components(c), e.sort, args)
            case "fold", (str(axis), int(size)):
                return fold(axes(axis), size, args[0])
            case _:
                return rebuild(e, args)

    done: dict[Expr, Expr] = {}
    for e in walk(root):
        done[e] = moved(e, tuple(done[a] for a in e.args))
    return done[root]
