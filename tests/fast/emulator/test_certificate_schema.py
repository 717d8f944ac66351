"""Steps have the operands, parameters and words of their rules: honest ones pass, others do not."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from certified_programs import PROGRAMS, schedule_of
from forging import last, made, refused, with_step

import tang as tg
from tang.emulator import certify, check_certificate
from tang.emulator.certificate import SPECIALS, Certificate, Claim, FormatFacts, NodeBound, Step
from tang.emulator.certificate_check import KNOWN
from tang.emulator.certificate_fold_rules import FOLD_RULES
from tang.emulator.certificate_parameters import SCHEMAS, wrong_parameter
from tang.emulator.certificate_rules import RULES
from tang.emulator.certificate_whole_rules import WHOLE_RULES

i, j = tg.dims("i j")
a, x = tg.input("a", (4,)), tg.input("x", (4, 8))
INF = float("inf")
EVERY = sorted(RULES | WHOLE_RULES | FOLD_RULES)
WITH_N = [rule for rule, schema in SCHEMAS.items() if "n" in schema.needed]
OPTIONAL = {
    "given": ("special",), "nonpositive": ("why",), "within": ("nonnegative", "why"),
    "at_least": ("why",), "weighted_mean": ("quotient",), "welford_mean": ("quotient",),
    "welford_m2": ("quotient",),
}  # fmt: skip
F16 = FormatFacts("f16", *KNOWN["f16"])
E2M1 = FormatFacts("e2m1", *KNOWN["e2m1"])


# --- every rule and every step --------------------------------------------------------------------


@cache
def certificates(name):
    """A program by ranges and by shape, in f32 and where a fold is split, and as a shader's."""
    graph, sizes, ranges = PROGRAMS[name]()
    split = schedule_of(graph, "f16-split-lanes")
    ways = [(s, r, {}) for s in (schedule_of(graph, "f32"), split) for r in (ranges, None)]
    free = {"freedom": "wgsl", "math": "wgsl"}
    ways += [(ways[0][0], ranges, free), (split, None, free | {"quantised": False})]
    ways += [(ways[0][0], r, {"math": "any"}) for r in (ranges, None)]
    return tuple(certify(graph, s, sizes, r, **more) for s, r, more in ways)


def kinds_of_steps(found):
    """A certificate and a step of each rule, number of operands and names of parameters."""
    kinds = {}
    for c in found:
        for n, s in enumerate(c.steps):
            key = (s.rule, len(s.args), *(name for name, _ in s.params))
            if key not in kinds or n < kinds[key][1]:
                kinds[key] = (c, n)
    return [(c, n, c.steps[n]) for c, n in kinds.values()]


def put(certificate, n, step):
    """The certificate up to a step, which is another, without rows."""
    return replace(certificate, steps=(*certificate.steps[:n], step), nodes=())


def test_every_rule_of_the_checker_has_a_schema_and_no_other_has_one():
    assert sorted(SCHEMAS) == EVERY
    assert {r: s.optional for r, s in SCHEMAS.items() if s.optional} == OPTIONAL
    assert set(WITH_N) < set(FOLD_RULES), "only folds count terms"


def test_the_programs_reach_every_rule_and_every_parameter():
    """Also those that may be missing, with and without, but for what inputs beyond a format are."""
    names = [(s.rule, {p for p, _ in s.params})
             for p in PROGRAMS for c in certificates(p) for s in c.steps]  # fmt: skip
    for rule, schema in SCHEMAS.items():
        seen = [n for r, n in names if r == rule]
        assert seen, rule
        assert all(set(schema.needed) <= n for n in seen), rule
        for p in set(schema.optional) - {"why", "special"}:
            assert {p in n for n in seen} == {True, False}, (rule, p)


def changed(step):
    """A step without each parameter that it needs, with each of some others, and what is wrong."""
    schema = SCHEMAS[step.rule]
    for p in schema.needed:
        rest = tuple(q for q in step.params if q[0] != p)
        yield replace(step, params=rest), f"it needs a parameter {p!r}"
    for p, value in (("zzz", 1), ("n", 0), ("formats", "f32"), ("special", "inf")):
        if p not in (*schema.needed, *schema.optional):
            more = (*step.params, (p, value))
            yield replace(step, params=more), f"it has no parameter {p!r}"
    count, s = len(step.args), "s" * (len(step.args) != 1)
    for args in (step.args[:-1], (*step.args, 0)):
        if len(args) != count:
            yield replace(step, args=args), f"it has {count} operand{s}, not {len(args)}"


@pytest.mark.parametrize("name", PROGRAMS)
def test_honest_certificates_are_accepted_and_their_steps_are_held_to_their_rules(name):
    for certificate in certificates(name):
        checked = check_certificate(certificate)
        assert checked, checked.message
        for step in certificate.steps:
            assert not wrong_parameter(certificate, step, dict(step.params))
            for other, words in changed(step):
                assert wrong_parameter(certificate, other, dict(other.params)) == words


@pytest.mark.parametrize("name", PROGRAMS)
def test_dropped_and_added_parameters_and_operands_are_refused_with_their_step(name):
    tried = 0
    for certificate, n, step in kinds_of_steps(certificates(name)):
        for other, words in changed(step):
            if n or not other.args:
                refused(put(certificate, n, other), f"step {n} ({step.rule}): {words}")
                tried += 1
    assert tried >= 20


@pytest.mark.parametrize("name", PROGRAMS)
def test_words_of_another_kind_are_refused_in_every_step(name):
    """No word in place of a word, and nothing but a text in place of a text."""
    for certificate, n, step in kinds_of_steps(certificates(name)):
        for p, value in step.params:
            if not isinstance(value, str):
                continue
            free = p in ("constant", "why", "value")
            for other in (True, 7, None) if free else ("zzz", "", True, 7, None):
                params = tuple((q, other if q == p else v) for q, v in step.params)
                forged = put(certificate, n, replace(step, params=params))
                refused(forged, f"step {n} ({step.rule}): ", p.removesuffix("s"))


def test_what_may_be_missing_may_be_missing():
    found = [c for p in ("softmax", "rms-norm", "causal-attention") for c in certificates(p)]
    seen = set()
    for certificate, n, step in kinds_of_steps(found):
        rest = tuple(q for q in step.params if q[0] not in ("why", "nonnegative"))
        if rest != step.params:
            seen.add(step.rule)
            assert check_certificate(put(certificate, n, replace(step, params=rest)))
    assert seen == {"nonpositive", "within", "at_least"}


# --- planted: a number of terms -------------------------------------------------------------------

UP = 1.0 + 2.0**-52
FUNCTIONS = [("sin", -UP, UP, 2.0), ("tanh", 0.0, UP, 2.0), ("erf", 0.0, UP, 2.0),
             ("sigmoid", 0.5, UP, 1.0)]  # fmt: skip


@pytest.mark.parametrize(("op", "lo", "hi", "error"), FUNCTIONS, ids=[f[0] for f in FUNCTIONS])
def test_a_function_of_what_may_overflow_has_no_bound_though_it_counts_no_terms(op, lo, hi, error):
    """sin ∞ is NaN; a fold of no terms alone has a bound where an operand has none."""
    y = tg.compute("y", (i,), getattr(tg, op)(a[i] * a[i]))
    certificate = made(y, {"a": (1.0, 1e30)})
    n = last(certificate, op)
    step = certificate.steps[n]
    bounded = replace(step, claim=Claim(lo, hi, hi, 0.0, error))
    refused(put(certificate, n, bounded), f"step {n} ({op}): its absolute error is too small")
    counting = replace(bounded, params=(*step.params, ("n", 0)))
    refused(put(certificate, n, counting), f"step {n} ({op}): it has no parameter 'n'")


def test_a_fold_of_no_terms_is_exact_whatever_its_operand_is():
    e, k = tg.input("e", (4, "k")), tg.dim("k", "k")
    graph = tg.Graph(y=tg.compute("y", (i,), tg.sum(e[i, k] * 1e30, k)))
    empty = certify(graph, schedule_of(graph, "f32"), {"k": 0}, {"e": (1.0, 1e30)})
    assert check_certificate(empty)
    n = last(empty, "sum")
    assert empty.steps[empty.steps[n].args[0]].claim.absolute == INF
    assert dict(empty.steps[n].params)["n"] == empty.steps[n].claim.absolute == 0
    refused(with_step(empty, n, n=1), f"step {n} (sum): ")


# --- planted: formats -----------------------------------------------------------------------------


def step_of(rule, args=(), claim=None, **params):
    return Step(rule, args, tuple(params.items()), claim or Claim(1.0, 1.0, 1.0))


def certificate_of(*steps, row=""):
    """A certificate of these steps, whose last is a result in a format."""
    c = steps[-1].claim
    found = Certificate(strength="range", graph="g", schedule="s", steps=steps, formats=(F16, E2M1))
    if not row:
        return found
    bound = NodeBound("y", "y", row, len(steps) - 1, c.lo, c.hi, c.error, c.relative, c.absolute,
                      c.pure, "cannot overflow", "cannot underflow", "cannot be NaN", False,
                      "")  # fmt: skip
    return replace(found, nodes=(bound,))


THIRD = Claim(0.33333333333333326, 0.3333333333333334, 0.3333333333333334)
PI = Claim(3.1415926535897927, 3.1415926535897936, 3.1415926535897936)


@pytest.mark.parametrize(("value", "claim", "name"), [("1/3", THIRD, "f16"), ("pi", PI, "e2m1")])
def test_a_constant_is_not_rounded_by_saying_so(value, claim, name):
    honest = step_of("constant", claim=claim, value=value)
    assert check_certificate(certificate_of(honest))
    refused(certificate_of(honest, row=name), "y.y: ")
    said = step_of("constant", claim=claim, value=value, formats=name, roundings="rne")
    refused(certificate_of(said, row=name), "step 0 (constant): it has no parameter 'formats'")


@pytest.mark.parametrize(("rule", "claim"), [("mul", Claim(3.0, 6.0, 6.0)),
                                             ("max", Claim(3.0, 3.0, 3.0))])  # fmt: skip
@pytest.mark.parametrize("more", [{"formats": "f16", "roundings": "rne"}, {"formats": "e2m1"}])
def test_a_product_and_a_maximum_are_not_rounded_by_saying_so(rule, claim, more):
    three = step_of("constant", claim=Claim(3.0, 3.0, 3.0), value="3")
    between = step_of("given", claim=Claim(1.0, 2.0, 2.0), lo=1.0, hi=2.0)
    assert check_certificate(certificate_of(three, between, step_of(rule, (0, 1), claim)))
    said = step_of(rule, (0, 1), claim, **more)
    words = f"step 2 ({rule}): it has no parameter 'formats'"
    refused(certificate_of(three, between, said), words)
    refused(certificate_of(three, between, said, row="f16"), words)


def test_a_rounding_loses_to_underflow_though_its_operand_says_that_it_is_rounded():
    small = 2.0**-15
    given = step_of("given", claim=Claim(0.0, small, small), lo=0.0, hi=small)
    product = Claim(0.0, small**2, small**2)
    p = {"format": "f16", "rounding": "rne", "overflow": "inf"}
    rounded = replace(product, relative=2.0**-11)
    exact = step_of("round", (2,), rounded, small="exact", **p)
    gradual = step_of("round", (2,), replace(rounded, absolute=2.0**-25), small="gradual", **p)
    honest = (given, given, step_of("mul", (0, 1), product))
    assert check_certificate(certificate_of(*honest, gradual))
    refused(certificate_of(*honest, exact), "step 3 (round): it may lose to underflow")
    said = step_of("mul", (0, 1), product, formats="f16")
    words = "step 2 (mul): it has no parameter 'formats'"
    refused(certificate_of(given, given, said, exact), words)


@pytest.mark.parametrize(
    ("params", "words"),
    [({"formats": "f32 f32"}, "every format needs a rounding"),
     ({"formats": "f99"}, "there is no format 'f99'"),
     ({"formats": "", "roundings": ""}, "every format needs a rounding"),
     ({"roundings": "up"}, "roundings is one of rne, rna, rz, any, not 'up'"),
     ({"overflow": "saturate"}, "overflow is one of assumed, inf, not 'saturate'"),
     ({"small": "none"}, "small is one of exact, gradual, flush, not 'none'"),
     ({"below": "none"}, "below is one of exact, gradual, flush, not 'none'")],
)  # fmt: skip
@pytest.mark.parametrize("n", [None, 0], ids=["terms", "no terms"])
def test_roundings_of_folds_are_words_even_of_folds_of_nothing(params, words, n):
    certificate = made(tg.sum(x, axis=1), {"x": (-3.0, 3.0)})
    at = last(certificate, "sum")
    count = {} if n is None else {"n": n}
    claim = Claim(-100.0, 100.0, 100.0, 1.0, 100.0, False)
    assert check_certificate(with_step(certificate, at, claim, **count))
    refused(with_step(certificate, at, claim, **params, **count), f"step {at} (sum): {words}")


# --- planted: words -------------------------------------------------------------------------------

ONE_, ZERO_ = step_of("constant", value="1"), step_of("constant", claim=Claim(0, 0, 0), value="0")
EIGHT = step_of("constant", claim=Claim(8.0, 8.0, 8.0), value="8")
TRUTH = step_of("given", claim=Claim(0.0, 1.0, 1.0), lo=0.0, hi=1.0)
ABOUT_TWO, ABOUT_THREE = Claim(1.999, 2.001, 2.001), Claim(2.999, 3.001, 3.001)


@pytest.mark.parametrize(
    ("before", "honest", "name", "word", "words"),
    [((ONE_,), step_of("exp", (0,), ABOUT_TWO, base="2", variant="steep"), "base", "10", "e, 2"),
     ((ONE_,), step_of("exp", (0,), ABOUT_TWO, base="2", variant="steep"), "variant", "mild",
      "steep, flat"),
     ((EIGHT,), step_of("log", (0,), ABOUT_THREE, base="2", assume=False), "base", "10", "e, 2"),
     ((ONE_, ONE_), step_of("compare", (0, 1), op="eq"), "op", "ne", "lt, eq"),
     ((ONE_, ONE_), step_of("logic", (0, 1), op="or"), "op", "xor", "and, or"),
     ((TRUTH,), step_of("any_of", (0,), TRUTH.claim, op="all"), "op", "none", "any, all"),
     ((ONE_, ONE_), step_of("integer", (0, 1), op="mul"), "op", "pow",
      "add, neg, mul, floordiv, mod"),
     ((ONE_,), step_of("extremum", (0,), kind="max", empty="-inf", full=True), "kind", "mean",
      "max, min"),
     ((ONE_,), step_of("extremum", (0,), kind="max", empty="-inf", full=True), "empty", "",
      "inf, -inf, nan"),
     ((), step_of("given", lo=1.0, hi=1.0, special=""), "special", "one", "inf, -inf, nan")],
)  # fmt: skip
def test_an_unknown_word_is_refused_and_not_read_as_another(before, honest, name, word, words):
    assert check_certificate(certificate_of(*before, honest))
    params = tuple((p, word if p == name else v) for p, v in honest.params)
    where = f"step {len(before)} ({honest.rule}): "
    forged = certificate_of(*before, replace(honest, params=params))
    refused(forged, f"{where}{name} is one of {words}, not {word!r}")


@pytest.mark.parametrize(("kind", "neutral", "other"), [("max", "-inf", "inf"),
                                                        ("min", "inf", "-inf")])  # fmt: skip
def test_an_extremum_of_nothing_is_neutral_or_nan(kind, neutral, other):
    def best(empty):
        claim = Claim(1.0, 1.0, 1.0, 0.0, 0.0, True, (empty,))
        step = step_of("extremum", (0,), claim, kind=kind, empty=empty, full=False)
        return certificate_of(ONE_, step)

    assert check_certificate(best(neutral))
    assert check_certificate(best("nan"))
    words = f"the {kind} of nothing is {neutral} or nan, not {other!r}"
    refused(best(other), f"step 1 (extremum): {words}")


# --- planted: operands ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "params", "counts", "words"),
    [("logic", {"op": "and"}, (0, 1, 3), "2 operands"),
     ("compare", {"op": "eq"}, (0, 1, 3), "2 operands"),
     ("integer", {"op": "mul"}, (0, 1, 3), "2 operands"),
     ("integer", {"op": "neg"}, (0, 2), "1 operand"),
     ("hull", {}, (0, 1, 3), "2 operands"),
     ("max", {}, (0, 1, 3), "2 operands"),
     ("select", {}, (0, 1, 2, 4), "3 operands"),
     ("jump", {}, (0, 2), "1 operand"),
     ("neg", {}, (0, 2), "1 operand"),
     ("unknown", {}, (1,), "0 operands"),
     ("constant", {"value": "1"}, (1,), "0 operands")],
)  # fmt: skip
def test_a_step_has_the_operands_of_its_rule(rule, params, counts, words):
    """An `and` of nothing was once 0, and a hull of one value a wider value."""
    minus, anything = Claim(-1.0, -1.0, 1.0), Claim(-INF, INF, INF, 0.0, INF, True, SPECIALS)
    claims = {"neg": minus, "unknown": anything}
    claim = claims.get(str(params.get("op", rule)), Claim(1.0, 1.0, 1.0))
    honest = step_of(rule, (0, 0, 0, 0)[: int(words[0])], claim, **params)
    assert check_certificate(certificate_of(ONE_, honest))
    for count in counts:
        forged = step_of(rule, (0,) * count, claim, **params)
        refused(certificate_of(ONE_, forged), f"step 1 ({rule}): it has {words}, not {count}")
