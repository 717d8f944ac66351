"""Orders of summation against exact rationals, bad input, JSON, and planted faults."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest
from exact_dots import total
from exact_rounding import same

from tang.emulator import FORMATS, evaluate, fda, round_to
from tang.errors import FormatError
from tang.ir.format import custom_format
from tang.ir.summation import (
    Fda,
    Fma,
    Promote,
    Seq,
    Split,
    Tree,
    check_summation,
    describe,
    from_data,
    needs_factors,
    to_data,
)
from tang.ir.tensorcore import ATOMS, FusedDot

ORDERS = {
    "seq": Seq(),
    "tree adjacent": Tree(),
    "tree halves": Tree("halves"),
    "fma": Fma(),
    "promote seq": Promote(8, Seq()),
    "promote fma": Promote(5, Fma()),
    "split seq": Split(3, Seq()),
    "split tree": Split(4, Fma(), Tree()),
    "lanes": Split(8, Seq(), Tree(), "cyclic"),
    "both": Split(3, Split(4, Fma(), Tree("halves")), Seq()),
    "more parts than terms": Split(50, Seq(), Tree("halves")),
    "promoted split": Promote(16, Split(2, Tree(), Seq())),
}
FORMATS_TRIED = ("f32", "f16", "bf16", "f64", "tf32", "fp22", "e5m2", "p30", "wide")
CUSTOM = {
    "p30": custom_format("p30", p=30, emin=-60, largest=2.0**60),
    "wide": custom_format("wide", p=9, emin=-1022, largest=2.0**1023),
}
USUAL = ("rne", "inf", False)


def format_of(name):
    return CUSTOM.get(name) or FORMATS[name]


def terms_of(order, target, count, rows=6, seed=1):
    """Terms of unlike sizes and signs, some zeros of both signs; factors where they are needed."""
    rng = np.random.default_rng(seed)

    def draw():
        spread = min(target.p + 2, 12, target.emax)
        x = rng.standard_normal((rows, count)) * np.exp2(rng.integers(-spread, 2, (rows, count)))
        x[rng.random((rows, count)) < 0.05] = -0.0
        return round_to(x, target)

    return (draw(), draw()) if needs_factors(order) else draw()


def expected(order, terms, target, how=USUAL):
    """The exact reference, row by row."""
    rows = zip(*(t.tolist() for t in terms), strict=True) if isinstance(terms, tuple) else None
    lists = [list(zip(*r, strict=True)) for r in rows] if rows is not None else terms.tolist()
    return [total(to_data(order), row, (target, *how)) for row in lists]


def differences(found, wanted):
    return sum(not same(x, y) for x, y in zip(found.tolist(), wanted, strict=True))


@pytest.mark.parametrize("name", FORMATS_TRIED)
@pytest.mark.parametrize("order", ORDERS, ids=lambda o: o.replace(" ", "-"))
def test_every_order_in_every_format_is_what_exact_rationals_give(order, name):
    atom, target = ORDERS[order], format_of(name)
    for count in (1, 21):
        terms = terms_of(atom, target, count, rows=4)
        found = evaluate(atom, terms, target)
        assert differences(found, expected(atom, terms, target)) == 0


HOW = {
    "rz-saturate": ("rz", "saturate", False),
    "rna-inf-ftz": ("rna", "inf", True),
    "rne-nan-ftz": ("rne", "nan", True),
}


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("order", ["seq", "tree halves", "fma", "lanes"])
def test_roundings_overflow_and_flushing_are_those_that_are_asked_for(order, how):
    atom = ORDERS[order]
    for name in ("f16", "f32", "bf16"):
        target = format_of(name)
        for scale in (2.0 ** (target.emin + 3), float(target.largest) / 4):
            terms = terms_of(atom, target, 20)
            first = terms[0] if needs_factors(atom) else terms
            first[:] = round_to(first * scale, target, overflow="saturate")
            found = evaluate(atom, terms, target, *HOW[how])
            assert differences(found, expected(atom, terms, target, HOW[how])) == 0


def test_products_of_a_plain_sum_are_rounded_before_they_are_added():
    target = FORMATS["f16"]
    pair = terms_of(Fma(), target, 30)
    for atom in (Seq(), Tree(), Split(2, Seq())):
        found = evaluate(atom, pair, target)
        assert differences(found, expected(atom, pair, target)) == 0


def test_no_terms_give_zero_and_leading_axes_stay():
    none = np.zeros((0, 4))
    for atom in ORDERS.values():
        pair = (none, none) if needs_factors(atom) else none
        assert [evaluate(atom, pair, f).shape for f in ("f32", "e5m2")] == [(0,)] * 2
        empty = np.zeros((2, 3, 0))
        terms = (empty, empty) if needs_factors(atom) else empty
        assert evaluate(atom, terms, "f32").tolist() == np.zeros((2, 3)).tolist()
    assert evaluate(Seq(), [1.0, 2.0], "f16").shape == ()


def test_tensor_cores_chain_promote_and_split():
    model = ATOMS["sm_90", "wgmma", "e4m3fn"]
    rng = np.random.default_rng(3)
    a, b = round_to(rng.standard_normal((2, 5, 256)), "e4m3fn", overflow="saturate")
    assert (evaluate(Fda(model), (a, b), "f32") == fda(a, b, 0.0, model)).all()
    promoted = np.zeros(5, np.float32)
    for i in range(0, 256, 128):
        promoted += fda(a[:, i : i + 128], b[:, i : i + 128], 0.0, model).astype(np.float32)
    found = evaluate(Promote(128, Fda(model)), (a, b), "f32")
    assert (found == promoted).all()
    assert (found != evaluate(Fda(model), (a, b), "f32")).any()
    assert (evaluate(Split(2, Fda(model)), (a, b), "f32") == promoted).all()
    with pytest.raises(FormatError, match="accumulates in f32, not in f16"):
        evaluate(Fda(model), (a, b), "f16")


def test_the_low_bits_of_tf32_operands_reach_the_model():
    model = ATOMS["sm_90", "wgmma", "tf32"]
    a = np.zeros((1, 8), np.float32)
    a.view(np.uint32)[0, 0] = 0x7F800001
    found = evaluate(Fda(model), (a, np.ones((1, 8), np.float32)), "f32")
    assert found.tolist() == [np.inf]


def test_a_promotion_changes_the_format():
    x = round_to(np.random.default_rng(0).random((3, 64)) + 1, "f16")
    atom = Promote(16, Seq(), "f16")
    assert differences(evaluate(atom, x, "f32"), expected(atom, x, FORMATS["f32"])) == 0
    assert (evaluate(atom, x, "f32") != evaluate(Promote(16, Seq()), x, "f32")).any()


CYCLIC = Split(3, Seq(), deal="cyclic")
PLANTED = {
    "wrong tree": (Tree(), lambda t, f: evaluate(Tree("halves"), t, f)),
    "chain for tree": (Tree(), lambda t, f: evaluate(Seq(), t, f)),
    "double rounding": (Seq(), lambda t, f: round_to(np.cumsum(t, axis=-1)[..., -1], f)),
    "towards zero": (Seq(), lambda t, f: evaluate(Seq(), t, f, "rz")),
    "ties away": (Seq(), lambda t, f: evaluate(Seq(), t, f, "rna")),
    "wider accumulator": (Seq(), lambda t, f: round_to(evaluate(Seq(), t, "f32"), f)),
    "fma split": (Fma(), lambda t, f: evaluate(Seq(), t, f)),
    "parts reversed": (Split(3, Seq()), lambda t, f: evaluate(Split(3, Seq()), t[..., ::-1], f)),
    "dealt otherwise": (Split(3, Seq()), lambda t, f: evaluate(CYCLIC, t, f)),
    "other part count": (Split(3, Seq()), lambda t, f: evaluate(Split(4, Seq()), t, f)),
    "promoted late": (Promote(8, Seq()), lambda t, f: evaluate(Promote(16, Seq()), t, f)),
    "never promoted": (Promote(8, Seq()), lambda t, f: evaluate(Seq(), t, f)),
    "partials in order": (Split(8, Seq(), Tree()), lambda t, f: evaluate(Split(8, Seq()), t, f)),
}  # fmt: skip


@pytest.mark.parametrize("fault", PLANTED, ids=lambda f: f.replace(" ", "-"))
def test_planted_faults_are_seen(fault):
    atom, wrong = PLANTED[fault]
    target = FORMATS["f16"]
    terms = terms_of(atom, target, 40, rows=40)
    wanted = expected(atom, terms, target)
    assert differences(evaluate(atom, terms, target), wanted) == 0
    assert differences(wrong(terms, target), wanted) > 0


def test_saturation_and_flushing_are_seen():
    x = np.full((1, 4), 60000.0)
    assert evaluate(Seq(), x, "f16").tolist() == [np.inf]
    assert evaluate(Seq(), x, "f16", overflow="saturate").tolist() == [65504.0]
    tiny = np.full((1, 4), 2.0**-24)
    assert evaluate(Seq(), tiny, "f16").tolist() == [2.0**-22]
    assert evaluate(Seq(), tiny, "f16", ftz=True).tolist() == [0.0]


@pytest.mark.parametrize("order", ORDERS, ids=lambda o: o.replace(" ", "-"))
def test_json_gives_the_same_object_back(order):
    data = json.loads(json.dumps(to_data(ORDERS[order])))
    assert from_data(data) == ORDERS[order]


def test_models_are_written_by_key_or_in_full():
    known = Fda(ATOMS["sm_90", "wgmma", "f16", "f16"])
    own = Fda(replace(ATOMS["sm_90", "wgmma", "bf16"], fraction=24))
    assert to_data(known)["model"] == ["sm_90", "wgmma", "f16", "f16"]
    for atom in (known, own, Promote(64, own), Split(2, known, Tree())):
        assert from_data(json.loads(json.dumps(to_data(atom)))) == atom


def test_one_line_describes_an_order():
    model = ATOMS["sm_90", "wgmma", "bf16"]
    assert describe(Split(4, Promote(64, Fda(model)), Tree())) == (
        "split(4 blocks, promote(64, fda sm_90 wgmma bf16); tree adjacent)"
    )
    assert describe(Promote(8, Seq(), "f16")) == "promote(8, seq in f16)"


BAD = {
    "kind 'sum' is none of seq": {"kind": "sum"},
    "an object with a kind": [1],
    "seq has no 'parts'": {"kind": "seq", "parts": 2},
    "split parts: an int of at least 1": {"kind": "split", "parts": 0, "inner": {"kind": "seq"}},
    "summation.inner: kind None": {"kind": "promote", "every": 4, "inner": {}},
    "promote needs all of": {"kind": "promote", "every": 4},
    "tree pairs: 'odd' is none of": {"kind": "tree", "pairs": "odd"},
    "unknown format 'f8'": {"kind": "promote", "every": 4, "partial": "f8",
                            "inner": {"kind": "seq"}},
    "order sums parts, not products": {"kind": "split", "parts": 2, "inner": {"kind": "fma"},
                                       "order": {"kind": "fma"}},
    "no tensor-core model": {"kind": "fda", "model": ["sm_90", "dot"]},
    "summation.model: the key": {"kind": "fda", "model": 7},
    "summation.deal: a string": {"kind": "split", "parts": 2, "deal": 3, "inner": {"kind": "seq"}},
}  # fmt: skip


@pytest.mark.parametrize("message", BAD, ids=lambda m: m.replace(" ", "-"))
def test_bad_json_is_refused_with_its_place(message):
    with pytest.raises(FormatError, match=message):
        from_data(BAD[message])


@pytest.mark.parametrize(("name", "part"), [
    ("k", 3.5), ("k", True), ("fraction", 2.5), ("floor", -1.5), ("floor", None), ("joined", 1),
    ("groups", 3), ("groups", [3]), ("groups", [[0.5]]), ("groups", [[True]]), ("operands", 3),
], ids=str)  # fmt: skip
def test_no_part_of_a_model_in_json_is_of_another_kind(name, part):
    model = asdict(replace(ATOMS["sm_90", "wgmma", "bf16"], fraction=None))
    assert from_data({"kind": "fda", "model": model}).model == FusedDot(**model)
    with pytest.raises(FormatError, match=rf"^summation\.model\.{name}: "):
        from_data({"kind": "fda", "model": model | {name: part}})


def test_terms_that_do_not_fit_are_refused():
    with pytest.raises(FormatError, match=r"x\[1\] = 1\.3 is no number of f16"):
        evaluate(Seq(), [1.0, 1.3], "f16")
    with pytest.raises(FormatError, match="sums products"):
        evaluate(Fma(), [1.0, 1.0], "f16")
    with pytest.raises(FormatError, match="last axis"):
        evaluate(Fma(), ([1.0, 2.0], [1.0]), "f16")
    with pytest.raises(FormatError, match="stochastic"):
        evaluate(Seq(), [1.0], "f16", "stochastic")
    with pytest.raises(FormatError, match="no infinity"):
        evaluate(Seq(), [1.0], "e4m3fn")
    check_summation(Seq())
