"""Tolerances for the tests of users: derived from the program, the formats and the inputs.

Defines `assert_within`. Relies on `tang.budget` for the derivation and on the error budgets of
`tang.emulator`. It runs no kernel, and it never hides a NaN, a shape or a sort behind a tolerance.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from tang.errors import BudgetError, UnjudgedWarning
from tang.ir.graph import Graph, require_graph
from tang.ir.view import Ref

if TYPE_CHECKING:
    from tang.emulator.budget import Budgets, ErrorBudget

__all__ = ["assert_within"]

Array = npt.NDArray[Any]


def assert_within(
    actual: object,
    expected: object = None,
    *,
    graph: Graph,
    precision: object = "f32",
    inputs: Mapping[str, Any] | None = None,
    budget: object = None,
    sizes: Mapping[str, int] | None = None,
    math: str | None = None,
    doubtful: Literal["refuse", "skip"] = "refuse",
) -> None:
    """Raise AssertionError unless results of a kernel are what its program allows.

    actual     arrays by output name, or one array where the program has one output
    expected   the f64 results, likewise; None computes them from `inputs`
    precision  the formats of the kernel: of a preset sums may have any order
    inputs     what the kernel was given: reals are rounded to its storage format first, then T,
               the sum of |terms|, is computed for every element
    budget     an ErrorBudget of all outputs, or a mapping of them by output ("*": all others),
               instead of the derived tolerance, which holds of outputs without a budget
    sizes      of symbolic extents, where there are no inputs
    math       whose functions the kernel has: "portable" for tang's, "any" for what every decent
               library keeps, or a language; None takes "any" for a preset and "portable" for a
               schedule, which is a kernel of tang's own
    doubtful   what to do with elements of which nothing is known, since another right kernel may
               decide otherwise there, or overflow: "refuse" the test, or "skip" these alone, with
               an UnjudgedWarning that counts them
    The message names the output, the element, both values, what is allowed and its derivation.
    With `inputs` an element is allowed the least of all that is known to hold: for all inputs, for
    those in their ranges, and for them alone. Raises BudgetError where no tolerance can be derived
    or zeros would pass, GraphError for inputs that do not fit.
    """
    if not isinstance(doubtful, str) or doubtful not in ("refuse", "skip"):
        raise BudgetError(f'doubtful is "refuse" or "skip", not {doubtful!r}')
    test = _test_of(require_graph(graph), precision, inputs, budget, sizes, math, doubtful)
    got = _by_output(actual, graph, "actual")
    want = test.expected() if expected is None else _by_output(expected, graph, "expected")
    for o in graph.outputs:
        _check_shape(o.name, want[o.name], test)
    refused = None
    for o in graph.outputs:
        try:
            _compare(o.name, got[o.name], want[o.name], test)
        except BudgetError as e:  # what is wrong with other outputs is told first
            refused = refused or e
    if refused is not None:
        raise refused


def _test_of(
    graph: Graph,
    precision: object,
    inputs: object,
    budget: object,
    sizes: object,
    math: object,
    doubtful: str,
) -> _Test:
    """The arguments, once they are known to be of their sorts; else a TangError."""
    from tang.emulator.certify_functions import checked_math
    from tang.ir.bind import known_sizes
    from tang.verify.subject import checked_inputs

    arrays = None if inputs is None else checked_inputs(graph, inputs)
    known = known_sizes(graph, {} if sizes is None else sizes)
    budgets = _checked_budgets(budget, graph)
    whose = None if math is None else checked_math(math)
    return _Test(graph, precision, arrays, budgets, known, whose, doubtful)


def _checked_budgets(budget: object, graph: Graph) -> Budgets:
    """Budgets of outputs; BudgetError for one of a node whose values no test is given."""
    from tang.emulator.budget import budgets_from

    found = budgets_from(budget)
    names, nodes = [o.name for o in graph.outputs], [o.ref.node for o in graph.outputs]
    for n in graph.nodes:
        if n.name in found.named and n.name not in (*names, *nodes):
            raise BudgetError(
                f"a budget names {n.name!r}, a node that is no output: its values are not given, "
                f"so give a budget of an output ({', '.join(names)})"
            )
    found.check(names, nodes)
    return found


def _by_output(given: object, graph: Graph, what: str) -> dict[str, Array]:
    """Arrays by output name."""
    names = [o.name for o in graph.outputs]
    if not isinstance(given, Mapping):
        if len(names) != 1:
            raise BudgetError(f"{what}: give a mapping, since there are outputs {', '.join(names)}")
        return {names[0]: _array(given, what, names[0])}
    for name in names:
        if name not in given:
            raise BudgetError(f"{what}: no array for the output {name!r}")
    unknown = sorted(set(given) - set(names), key=str)
    if unknown:
        raise BudgetError(f"{what}: no output {unknown[0]!r}; there are {', '.join(names)}")
    return {name: _array(given[name], what, name) for name in names}


def _array(given: object, what: str, name: str) -> Array:
    """An array of reals, whole numbers or bools; BudgetError for anything else."""
    from tang.device.storage import array_of

    found = array_of(given, f"{what}: {name}", BudgetError)
    if given is None or not _is_number(found):
        wanted = "an array of reals, whole numbers or bools"
        raise BudgetError(f"{what}: {name} holds {found.dtype}: give {wanted}")
    return found


@dataclass(slots=True, eq=False)
class _Test:
    """What is asked, and what has been computed for it so far."""

    graph: Graph
    precision: object
    inputs: Mapping[str, Array] | None
    budgets: Budgets
    sizes: Mapping[str, int]
    math: str | None
    doubtful: str
    setting: Any = None
    tolerances: Any = None

    def exact(self) -> Any:  # noqa: ANN401 - a Setting of tang.budget, or None
        """The program on the inputs as they are stored; None without inputs."""
        from tang.budget.report_samples import setting_of, stored_inputs
        from tang.budget.report_tolerance import kernel_for
        from tang.ir.bind import bind, infer_sizes

        if self.inputs is None or self.setting is not None:
            return self.setting
        sizes = infer_sizes(self.graph, {n: a.shape for n, a in self.inputs.items()})
        bound = bind(self.graph, sizes) if sizes else self.graph
        made, schedule = kernel_for(self.precision, bound)
        self.setting = setting_of(made, stored_inputs(made, schedule, self.inputs))
        return self.setting

    def sizes_now(self) -> Mapping[str, int]:
        """The sizes of symbolic extents: those of the inputs, where there are some."""
        from tang.ir.bind import infer_sizes

        if self.inputs is None or not self.graph.symbols:
            return self.sizes
        return infer_sizes(self.graph, {n: a.shape for n, a in self.inputs.items()})

    def expected(self) -> dict[str, Array]:
        """The f64 results."""
        setting = self.exact()
        if setting is None:
            raise BudgetError("give expected=, or inputs= to compute it from")
        return {o.name: np.asarray(setting.exact[o.ref]) for o in setting.graph.outputs}

    def derived(self, output: str) -> Any:  # noqa: ANN401 - a Tolerance of tang.budget
        """The tolerance of an output."""
        from tang.budget.report_tolerance import tolerances_of

        setting = self.exact()
        if self.tolerances is None:
            self.tolerances = tolerances_of(
                self.graph, self.precision, sizes=self.sizes_now(),
                inputs=[] if setting is None else [setting.inputs], math=self.math,
            )  # fmt: skip
        return next(t for t in self.tolerances if t.output == output)

    def terms_of(self, output: str, *, through: bool) -> Array | None:
        """T of an output; None without inputs."""
        from tang.budget.report_terms import terms_of

        setting = self.exact()
        if setting is None:
            return None
        ref = _ref(setting.graph, output)
        return terms_of(setting.graph, setting.exact, through=through)[ref]


def _is_number(array: Array) -> bool:
    """Whether there are reals, whole numbers or bools in it; formats of ml_dtypes are reals."""
    from tang.device.storage import is_extension

    return array.dtype.kind in "fiub" or is_extension(array.dtype)


def _check_shape(name: str, expected: Array, test: _Test) -> None:
    """What is expected must be of the program's shape; symbols without a size fit anything."""
    from tang.ir.bind import bind

    ref = _ref(test.graph, name)
    sizes = dict(test.sizes_now())
    shape = (bind(test.graph, sizes) if sizes else test.graph).shape(ref)
    fits = len(shape) == expected.ndim and all(
        not p.is_constant or p.constant == n for p, n in zip(shape, expected.shape, strict=True)
    )
    if not fits:
        listed = ", ".join(map(str, shape))
        raise BudgetError(f"expected: {name} has shape {expected.shape}, in the program ({listed})")


def _compare(name: str, actual: Array, expected: Array, test: _Test) -> None:
    if actual.shape != expected.shape:
        raise AssertionError(f"{name} has shape {actual.shape}, expected {expected.shape}")
    ref = _ref(test.graph, name)
    sort = test.graph.sort(ref).value
    kinds = {sort} if sort == "real" and _kind(expected) == "index" else {sort, _kind(expected)}
    if kinds != {_kind(actual)}:
        raise AssertionError(f"{name} holds {actual.dtype}, expected {sort}s")
    found = _allowed(name, sort, expected, test)
    if sort != "real":
        wrong = found.judged & np.asarray(actual != expected)
        _raise(name, wrong, actual, expected, found)
        return
    a, e = actual.astype(np.float64), expected.astype(np.float64)
    with np.errstate(all="ignore"):
        near = np.abs(a - e) <= found.room
    finite = np.isfinite(a) & np.isfinite(e)
    same = (a == e) | (np.isnan(a) & np.isnan(e))
    wrong = found.judged & ~(same | (finite & near))
    lost = wrong & ~finite
    if not lost.any() and wrong.sum() * 100 <= (100 - found.percentile) * wrong.size:
        return
    _raise(name, lost if lost.any() else wrong, a, e, found)


@dataclass(frozen=True, slots=True, eq=False)
class _Allowed:
    """What is allowed of every element, and why.

    judged      whether it is asked of an element at all
    percentile  of how many, in percent
    """

    room: Array
    why: tuple[str, ...]
    judged: Array | bool = True
    percentile: float = 100.0


def _allowed(name: str, sort: str, expected: Array, test: _Test) -> _Allowed:
    budget = test.budgets.of_output(name, _ref(test.graph, name).node)
    if budget is not None and sort == "real":
        return _budgeted(name, expected, budget, test)
    if budget is not None and test.inputs is None:  # what decides it is not known
        return _Allowed(np.zeros(expected.shape), ("they must be equal",))
    from tang.budget.tolerance import allowed_by

    tolerance = test.derived(name)
    if tolerance.kind == "none":
        tolerance = _of_some(tolerance, test)
    terms = test.terms_of(name, through=True) if tolerance.scale else None
    room = allowed_by(tolerance, expected, terms)
    judged = np.isfinite(room) if tolerance.unknown else np.ones(room.shape, np.bool_)
    if not judged.all():
        count = f"{int((~judged).sum())} of {judged.size} elements of {name!r} are not judged"
        warnings.warn(count, UnjudgedWarning, stacklevel=4)
    if sort != "real":
        return _Allowed(room, ("they must be equal", *tolerance.derivation), judged)
    _refuse_vacuous(room[judged], expected[judged], tolerance, test)
    first = f"{tolerance.formula()}   {tolerance.scope}".rstrip()
    return _Allowed(room, (first, *tolerance.derivation), judged)


def _of_some(
    tolerance: Any,  # noqa: ANN401 - a Tolerance of tang.budget
    test: _Test,
) -> Any:  # noqa: ANN401 - likewise
    """A tolerance of the elements that have a bound, if that will do; else BudgetError."""
    from tang.budget.tolerance import CURE

    known = tolerance.bound
    some = known is not None and bool(np.isfinite(known).any())
    if some and test.doubtful == "skip":
        most, skipped = known[np.isfinite(known)].max(), f"{tolerance.unknown} are not judged"
        return replace(
            tolerance, kind="data", atol=float(most), derivation=(*tolerance.derivation, skipped)
        )
    cure = CURE if tolerance.format != "exact" else "take finer accumulators or other inputs"
    cure += ', or judge the others with doubtful="skip"' if some else ""
    cure += ", or pass a budget=" if tolerance.format != "exact" else ""
    why = "; ".join(tolerance.derivation)
    raise BudgetError(f"no tolerance of {tolerance.output!r} can be derived ({why}): {cure}")


def _refuse_vacuous(
    room: Array,
    expected: Array,
    tolerance: Any,  # noqa: ANN401 - a Tolerance of tang.budget
    test: _Test,
) -> None:
    """BudgetError where zeros would pass, or more is allowed than the largest value expected."""
    from tang.budget.tolerance import CURE, largest_of, says_nothing
    from tang.ir.given import apart

    if not says_nothing([room], [expected], tolerance.smallest):
        return
    most = float(np.max(room[np.isfinite(expected)], initial=0.0))
    value = largest_of(expected)
    allows, expects = apart(most, value)
    data = "" if test.inputs is not None else "pass inputs=, from which more is known, or "
    why = "; ".join(tolerance.derivation)
    raise BudgetError(
        f"the tolerance of {tolerance.output!r} says nothing: it allows {allows}, and the "
        f"largest value expected is {expects}, so that zeros would pass ({why}): {data}{CURE}, "
        "or pass a budget="
    )


def _ref(graph: Graph, output: str) -> Ref:
    return next(o.ref for o in graph.outputs if o.name == output)


def _budgeted(name: str, expected: Array, budget: ErrorBudget, test: _Test) -> _Allowed:
    from tang.budget.report_tolerance import kernel_for
    from tang.emulator.budget import tolerance
    from tang.ir.bind import bind
    from tang.kernel.schedule import storage_of

    sizes = dict(test.sizes_now())
    graph, schedule = kernel_for(test.precision, bind(test.graph, sizes) if sizes else test.graph)
    terms = test.terms_of(name, through=False) if budget.c else None
    if budget.c and terms is None:
        raise BudgetError("a budget with c needs T, the sum of |terms|: pass inputs=")
    allowed = tolerance(expected, budget, storage_of(schedule, _ref(graph, name)), terms)
    return _Allowed(allowed, (f"the budget {budget}",), percentile=budget.percentile)


def _kind(array: Array) -> str:
    if array.dtype.kind == "b":
        return "bool"
    return "index" if array.dtype.kind in "iu" else "real"


def _raise(
    name: str,
    wrong: npt.NDArray[np.bool_],
    actual: Array,
    expected: Array,
    found: _Allowed,
) -> None:
    """The error for the worst element, if there is a wrong one."""
    from tang.ir.given import apart

    if not wrong.any():
        return
    with np.errstate(all="ignore"):
        gap = np.abs(np.asarray(actual, np.float64) - np.asarray(expected, np.float64))
        worse = np.where(
            wrong, np.where(np.isnan(gap), np.inf, gap / np.maximum(found.room, 5e-324)), -1
        )
    at = np.unravel_index(int(np.argmax(worse)), worse.shape)
    place = f"[{', '.join(str(int(i)) for i in at)}]" if at else ""
    lines = "".join(f"\n  {line}" for line in found.why)
    off, room = apart(float(gap[at]), float(found.room[at]))
    raise AssertionError(
        f"{name}{place} is {actual[at]!s}, expected {expected[at]!s}: {off} apart, "
        f"{room} allowed; {int(wrong.sum())} of {wrong.size} elements are over\n"
        f"derivation:{lines}"
    )
