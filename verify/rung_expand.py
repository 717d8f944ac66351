"""The rung `expand`: the plan with abstract maths against the plan with portable functions.

Suspect: portable maths. Two exact checks: with every call evaluated as the abstract function the
expanded plan equals the abstract one bit for bit, and every call that occurred lies within the
function's claimed ulps of the true value at its own arguments; roundings and codings are asked at
their edges too. It cannot see a claim that is
wider than need be.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from itertools import takewhile
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.emulator.abstract import F64_MATH
from tang.emulator.budget import ulp_of
from tang.emulator.machine import Builtin, Observer
from tang.emulator.narrow import encoded, exact_function
from tang.emulator.profiled import Native, no_native
from tang.emulator.replay import Replay, replay
from tang.interpreter.balls import BallArithmetic
from tang.ir.format import format_named
from tang.kernel.ir import Function, Type
from tang.kernel.narrow import Conversion, coding_named
from tang.kernel.plan import Buffer, Plan, Role
from tang.kernel.profile import IEEE, Profile
from tang.verify.buffers import Pairs, first_difference
from tang.verify.compare import bit_equal, value_text
from tang.verify.edges import edge_calls
from tang.verify.report import Finding, RungResult
from tang.verify.rounded import are_held
from tang.verify.sanitizer import sanitizer_findings
from tang.verify.structure import same_structure
from tang.verify.subject import Subject, written
from tang.verify.verdict import Rung, Verdict

Array = npt.NDArray[Any]
_BALLS: Final = threading.Lock()
"""python-flint has one precision for the whole process; devices are judged in threads."""


def check_expand(subject: Subject) -> tuple[RungResult, list[Finding], Replay]:
    """Both checks; the replay of the expanded plan goes to the rungs above.

    It runs in the domain "shadow", whose values are those of formats.
    """
    calls = CallCheck()
    expanded = replay(
        subject.expanded,
        subject.stored,
        domain="shadow",
        sizes=subject.sizes,
        observer=calls.observe,
    )
    findings = sanitizer_findings(expanded.findings, subject.expanded, Rung.EXPAND)
    findings += packed_findings(subject, expanded, calls.observe)
    if not calls.elements:
        return RungResult(Rung.EXPAND, note="no functions"), findings, expanded
    for function, given, got in edge_calls((subject.expanded, subject.packed)):
        calls.at_edges(function, given, got)
    findings += calls.findings
    findings += structure_findings(subject)
    result = RungResult(Rung.EXPAND, elements=calls.elements, note=calls.note)
    return result, findings, expanded


def structure_findings(subject: Subject) -> list[Finding]:
    """The first buffer that differs when calls are evaluated as what they implement.

    None can where the plans are the same but for the calls, which is quicker to see.
    """
    if same_structure(subject.plan, subject.expanded):
        return []
    sizes, inputs = subject.sizes, subject.stored
    left = replay(subject.plan, inputs, sizes=sizes, sanitize=False)
    right = replay(subject.expanded, inputs, sizes=sizes, sanitize=False, abstracted=True)
    pairs = {name: (left.buffers[name], right.buffers[name]) for name in left.buffers}
    return _first_changed(
        subject.plan,
        pairs,
        "buffer {name} changed although every function is taken as exact",
        ("abstract", "expanded"),
        "structure",
    )


def packed_findings(
    subject: Subject,
    expanded: Replay,
    observer: Observer,
    *,
    profile: Profile = IEEE,
    native: Native = no_native,
) -> list[Finding]:
    """The first buffer that changed when buffers of narrow formats got codes; calls are observed.

    `expanded` holds the numbers that the codes stand for. Where it holds others, for which there
    are no codes, the comparison ends: the rung `round` names the buffer.
    """
    plan = subject.packed
    if plan is subject.expanded:
        return []
    held = {b.name: in_memory(b, expanded.buffers[b.name]) for b in plan.buffers}
    given = {
        b.ref.node: held[b.name] for b in plan.buffers if b.role is Role.INPUT and b.ref is not None
    }
    done = replay(
        plan,
        given,
        sizes=subject.sizes,
        sanitize=False,
        observer=observer,
        profile=profile,
        native=native,
    )
    touched = {name: expanded.written[name] | done.written[name] for name in held}
    pairs = {
        name: (array, np.where(touched[name], done.buffers[name], array))
        for name, array in held.items()
    }  # what nobody wrote holds nothing: a node without points leaves its partial states so
    beyond = {
        b.name for b in plan.buffers if not _has_codes(b, expanded.buffers[b.name][touched[b.name]])
    }
    said = "buffer {name} holds other numbers as {format} codes"
    return _first_changed(plan, pairs, said, ("numbers", "codes"), "codes", beyond)


def _first_changed(
    plan: Plan,
    pairs: Pairs,
    said: str,
    sides: tuple[str, str],
    origin: str,
    beyond: Collection[str] = (),
) -> list[Finding]:
    """The finding on the first buffer that two replays of a plan leave with other bits.

    Buffers are compared up to the first one of `beyond`.
    """
    names = (name for launch in plan.launches for name in written(launch))
    before = takewhile(lambda name: name not in beyond, names)
    found = first_difference(plan, {name: pairs[name] for name in before}, sides)
    if found is None:
        return []
    message = said.format(name=found.buffer.name, format=found.buffer.format)
    return [found.finding(Rung.EXPAND, message, found.launch.kernel.origin, origin)]


def _has_codes(buffer: Buffer, values: Array) -> bool:
    """Whether all of these values can be written to the buffer, as codes if it has such."""
    if buffer.conversion is None or buffer.type is not Type.U8:
        return True
    return bool(are_held(buffer.conversion, values).all())


def in_memory(buffer: Buffer, array: Array) -> Array:
    """A replayed buffer as it lies in memory: codes instead of numbers where it has codes."""
    if buffer.conversion is None or buffer.type is not Type.U8:
        return array
    return np.asarray(encoded(buffer.conversion.format, array)).reshape(array.shape)


class CallCheck:
    """Observes every call of a portable function and measures it in ulps.

    Roundings to narrow formats and their codings have no error: their bits are compared.
    """

    def __init__(self) -> None:
        self.elements = 0
        self._found: dict[str, Finding] = {}
        self._worst: dict[str, float] = {}
        self._allowed: dict[str, float] = {}
        self._exact: set[str] = set()

    @property
    def findings(self) -> list[Finding]:
        """The first wrong call of each function."""
        return list(self._found.values())

    @property
    def note(self) -> str:
        """The largest error of each function, and the bound that it was held against."""
        rows = [
            f"{n} at most {e:.2f} ulp off (allowed: {self._allowed[n]:.3g})"
            for n, e in sorted(self._worst.items())
        ]
        return ", ".join([*rows, *(f"{n} exact" for n in sorted(self._exact))])

    def observe(self, function: Function | Builtin, args: tuple[Any, ...], result: Array) -> None:
        """Check one call over all lanes."""
        if isinstance(function, Builtin) or not function.implements:
            return
        exact = exact_function(function.implements)
        if exact is not None:
            self.elements += self._compare(function, args[0], result, exact(args[0]))
            return
        if not function.ulp:
            return
        wide = np.broadcast_arrays(*(np.atleast_1d(np.asarray(a, np.float64)) for a in args))
        got = np.broadcast_to(np.atleast_1d(np.asarray(result, np.float64)), wide[0].shape)
        errors = call_errors(function.implements, wide, got)
        self.elements += errors.size
        wrong = ~(errors <= function.ulp)
        wrong[wrong] = ~exactly_within(function, [a[wrong] for a in wide], got[wrong])
        fine = errors[~wrong]
        worst = float(fine.max()) if fine.size else 0.0
        self._worst[function.name] = max(self._worst.get(function.name, 0.0), worst)
        self._allowed[function.name] = function.ulp
        if wrong.any() and function.name not in self._found:
            self._found[function.name] = _call_finding(function, wide, got, errors, wrong)

    def at_edges(self, function: Function, given: Array, got: Array) -> None:
        """Compare the calls of a rounding or a coding that no data led to; they are not counted."""
        exact = exact_function(function.implements)
        if exact is not None:
            self._compare(function, given, got, exact(given))

    def _compare(self, function: Function, x: Any, result: Any, exact: Any) -> int:  # noqa: ANN401
        """Compare bit for bit; how many calls that were."""
        whole = np.broadcast_arrays(np.asarray(x), np.asarray(result), np.asarray(exact))
        given, got, want = (np.ascontiguousarray(a).reshape(-1) for a in whole)
        equal = bit_equal(want, got)
        coding = coding_named(function.implements)
        if coding is not None and coding[0] == "encode":
            # what is stored was rounded to a number: else a lane is at rest, or the plan at fault
            equal |= ~are_held(Conversion(coding[1]), given)
        self._exact.add(function.name)
        if not equal.all() and function.name not in self._found:
            i = int(np.flatnonzero(~equal)[0])
            shown = [value_text(a[i]) for a in (given, got, want)]
            detail = (
                f"{function.name}({shown[0]}) = {shown[1]}, and {function.implements} is "
                f"{shown[2]}; {int((~equal).sum())} such calls"
            )
            self._found[function.name] = Finding(
                Rung.EXPAND,
                Verdict.WRONG,
                f"{function.name} is not {function.implements}",
                detail=detail,
                origin=f"function {function.implements}",
            )
        return equal.size


def call_errors(
    op: str, args: Sequence[Array], got: Array, format_: str = "f32"
) -> npt.NDArray[np.float64]:
    """|got − op(args)| in ulps of the true value; an overflow of f32 counts as 2^128.

    Infinite where one side is NaN or infinite and the other is not what IEEE rounding allows. The
    truth is that of f64, so errors of f64 results are known to about an ulp.
    """
    top = 2.0 ** (format_named(format_).emax + 1) if format_ != "f64" else np.inf
    with np.errstate(all="ignore"):
        true = np.asarray(F64_MATH[op](*args), np.float64)
        over = np.isinf(got) & np.isfinite(true)
        edge = np.where(over, np.copysign(top, got), got)
        aim = np.where(over, np.clip(true, -top, top), true)
        errors = np.abs(edge - aim) / unit_of(true, format_)
    same = (np.isnan(got) & np.isnan(true)) | ((got == true) & np.isinf(true))
    return np.asarray(np.where(same, 0.0, np.where(np.isnan(errors), np.inf, errors)))


def unit_of(true: Array, format_: str = "f32") -> npt.NDArray[np.float64]:
    """An ulp of a format at the true value, at most that of the largest binade."""
    largest = 2.0 ** format_named(format_).emax
    return ulp_of(np.clip(true, -largest, largest), format_)


def exactly_within(function: Function, args: list[Array], got: Array) -> npt.NDArray[np.bool_]:
    """Whether calls of a portable function are within its claim, in balls of 256 bits.

    For the few calls that f64 found too far.
    """
    return exactly_near(function.implements, args, got, np.full(got.shape, function.ulp))


def exactly_near(
    op: str, args: Sequence[Array], got: Array, ulps: Array, format_: str = "f32"
) -> npt.NDArray[np.bool_]:
    """Whether results are within so many ulps of the function, in balls of 256 bits."""
    if not got.size or not np.isfinite(got).all():
        return np.zeros(got.shape, np.bool_)
    with np.errstate(all="ignore"):
        allowed = ulps * unit_of(np.asarray(F64_MATH[op](*args)), format_)
    with _BALLS:
        exact = BallArithmetic(256)
        true = getattr(exact, op)(*(exact.from_f64(a) for a in args))
        far = exact.sub(exact.from_f64(got), true)
        pairs = zip(np.ravel(far), np.ravel(allowed), strict=True)
        return np.array([bool(abs(f) <= float(a)) for f, a in pairs]).reshape(got.shape)


def _call_finding(
    function: Function,
    args: Sequence[Array],
    got: Array,
    errors: Array,
    wrong: npt.NDArray[np.bool_],
) -> Finding:
    first = int(np.flatnonzero(wrong)[0])
    at = ", ".join(f"{float(a[first])!r} ({float(a[first]).hex()})" for a in args)
    value = float(got[first])
    detail = (
        f"{function.name}({at}) = {value!r} ({value.hex()}), {errors[first]:.3g} ulp from "
        f"{function.implements}; claimed {function.ulp:g}; {int(wrong.sum())} such calls"
    )
    return Finding(
        Rung.EXPAND,
        Verdict.WRONG,
        f"{function.name} is further from {function.implements} than it claims",
        detail=detail,
        origin=f"function {function.implements}",
    )
