"""One real before/after pair of every rule, whose equality Lean closes by the rule's theorem.

Defines `PAIRS` and `check_pairs`. Relies on the rewrite engine to make the pair, on `programs` to
write both sides, and on `session` to ask Lean. A pair shows one use of a rule, at small extents;
what holds in general is the theorem.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tang.errors import ProofError
from tang.ir.graph import Graph
from tang.proofs import session
from tang.proofs.examples import EXAMPLES
from tang.proofs.programs import Exporter
from tang.proofs.session import Claim
from tang.rewrite import rewrite

RING: Final = "variable {K : Type u} [CommRing K]"
FIELD: Final = "variable {K : Type u} [OrderedField K]"
ORDER: Final = "variable {K : Type u} [OrderedRing K]"
EXPONENTIAL: Final = (
    "variable {A : Type u} {K : Type v} [OrderedRing A] [OrderedField K] [Exponential A K]"
)


@dataclass(frozen=True, slots=True)
class Pair:
    """How one rule's pair is stated and closed.

    scope     the algebra
    binders   inputs, coordinates and hypotheses of the statement
    tactics   the proof, which names the rule's theorem
    type      of the result
    at        coordinates of the output
    applied   maps are written as functions applied to their points
    """

    scope: str
    binders: str
    tactics: tuple[str, ...]
    type: str = "K"
    at: tuple[str, ...] = ()
    applied: bool = False


_FIRST: Final = "(x : Nat → K)"
PAIRS: Final[Mapping[str, Pair]] = {
    "simplify-expr": Pair(RING, "(x : Nat → K) (i : Nat)",
        ("exact (simplify_expr (x i) True).left",), at=("i",)),
    "common-subexpression": Pair(RING, "(x y : Nat → K) (i : Nat)",
        ("exact common_subexpression (fun a b => a * b) (add_comm (y i) (x i))",), at=("i",)),
    "compose-views": Pair(
        RING, "(x : Nat → K) (i : Nat)",
        ("refine congrArg (fun y => -y) ((compose_views (fun j => j < 4) (fun i => i < 6) 0 x "
         "(fun i => i) i).trans ?_)", "exact if_congr (Iff.refl _) (fun _ => rfl) (fun _ => rfl)"),
        at=("i",), applied=True,
    ),
    "substitute-maps": Pair(RING, "(x : Nat → K) (i : Nat)",
        ("exact congrArg (fun y => -y) "
         "(substitute_maps (1 ≤ i ∧ i < 5) (fun a => a + 1) (x (i - 1)) 0 0)",),
        at=("i",), applied=True),
    "stop-max-gradient": Pair(EXPONENTIAL, "(x : Nat → A) (v : Nat → K)",
        ("exact stop_max_gradient 4 v (fun j => exp (x j + -(top 3 x))) "
         "(sum_exp_ne_zero 3 (fun j => x j + -(top 3 x)))",)),
    "stabilize-softmax": Pair(EXPONENTIAL, "(s : Nat → A) (v : Nat → K)",
        ("exact stabilize_softmax 3 s v",)),
    "shift-softmax": Pair(EXPONENTIAL, "(s : Nat → A) (v : Nat → K)",
        ("exact shift_softmax_zero 3 s v",)),
    "logsumexp": Pair(EXPONENTIAL, "(log : K → A) (x : Nat → A)",
        ("exact logsumexp log 3 x",), "A"),
    "welford": Pair(FIELD, _FIRST,
        ("exact welford 3 x (((1 + 1) + 1) + 1) (ring_eq [] (by rfl) : "
         "(((1 + 1) + 1) + 1 : K) = 0 + 1 + 1 + 1 + 1)",)),
    "gate-to-where": Pair(RING, "(x : Nat → K) (i : Nat)",
        ("rw [sum_eq_fold]",
         "exact gate_to_where add_identity (fun j => ¬ (i < j)) (fun j => j ≤ i) "
         "(fun j => ⟨Nat.le_of_not_lt, fun h k => Nat.not_le_of_lt k h⟩) 4 x"), at=("i",)),
    "zero-gate-to-where": Pair(RING, "(x w : Nat → K) (i : Nat)",
        ("rw [sum_eq_fold]",
         "exact zero_gate_to_where add_identity (fun j => j ≤ i) 4 "
         "(fun j => (if ¬ (i < j) then w j else 0) * x j) "
         "(fun j h => by rw [if_neg (fun k => h (Nat.le_of_not_lt k)), zero_mul])"), at=("i",)),
    "read-back-mass": Pair(EXPONENTIAL, "(s : Nat → A)",
        ("exact congrArg (fun y => -y) (read_back_mass 3 s)",)),
    "recognise-scan": Pair(RING, "(a b : Nat → K) (t : Nat) (ht : t < 4)",
        ("exact recognise_scan a b t 4 ht",), at=("t",)),
    "argmax": Pair(ORDER, _FIRST, ("exact argmax 3 x 4 ⟨1, rfl⟩",), "Nat"),
    "gather-at-argmax": Pair(ORDER, _FIRST, ("exact gather_at_argmax 3 x",)),
    "read-back": Pair(ORDER, "(s : Nat → K)", ("exact read_back 3 s",)),
    "read-back-mean": Pair(FIELD, _FIRST,
        ("rw [show sum 4 (fun j => x j) = _ from read_back_mean 3 x, welfordFold_n]",
         "show -((0 + 1 + 1 + 1 + 1) * (welfordFold 3 x).mean) = _",
         "exact ring_eq [(welfordFold 3 x).mean] (by rfl)")),
    "dead-node": Pair(RING, "(x : Nat → K) (i : Nat)",
        ("exact dead_node (-x i) ((fun i => x i + 1) i)",), at=("i",), applied=True),
    "dead-output": Pair(RING, "(x : Nat → K) (i : Nat)",
        ("exact dead_output (fun i => x i + 1) (fun i => -x i) i",), at=("i",), applied=True),
    "dead-part": Pair(RING, _FIRST,
        ("rw [sum_eq_fold]", "exact dead_part (fun a b => a + b) (fun a b => a * b) 0 1 4 x x")),
    "hoist-invariant-factors": Pair(RING, "(c x : Nat → K) (i : Nat)",
        ("exact hoist_invariant_factors 4 (c i) x",), at=("i",)),
    "merge-siblings": Pair(RING, _FIRST,
        ("rw [sum_eq_fold]",
         "exact merge_siblings (fun a b => a + b) (fun a b => a * b) 0 1 4 x x")),
    "merge-dims": Pair(RING, _FIRST, ("exact merge_dims 3 4 x",)),
    "top-k": Pair(ORDER, "(x : Nat → K) (r : Nat) (hr : r < 2)",
        ("exact top_k (fun s => s.at') 2 3 r hr x",), "Nat", at=("r",)),
    "chunk-scan": Pair(RING, "(a b : Nat → K) (t : Nat) (ht : t < 66)",
        ("exact congrArg (fun s => s.b) (chunk_scan affine_assoc affine_identity 2 33 t "
         "⟨32, rfl⟩ ht (fun s => ⟨a s, b s⟩))",), at=("t",)),
    "segment-sum": Pair(RING, "(x : Nat → K) (k : Nat)",
        ("exact segment_sum (fun i => quotient 2 i) (quotient_succ 2) k 6 x",), at=("k",)),
}  # fmt: skip


def check_pairs(
    names: tuple[str, ...] = tuple(PAIRS), *, fresh: bool = False
) -> session.Wrong | None:
    """Export the pairs of some rules and let Lean close them; what is wrong first, or None."""
    return session.check([claim(n) for n in names], fresh=fresh)


def claim(rule: str) -> Claim:
    """That the rule's example means the same before and after it."""
    pair, graph = PAIRS[rule], EXAMPLES[rule]()
    done = rewrite(graph, [rule])
    if [s.rule for s in done.trace][:1] != [rule]:
        raise ProofError(f"{rule} does not apply to its own example")
    before, after = (_side(g, pair) for g in (graph, done.graph))
    if rule == "dead-node":
        before = f"((fun _ => {before}) (-x i))"
    name = rule.replace("-", "_")
    return Claim(f"pair_{name}", pair.scope, pair.binders, before, pair.type, after,
                 (f"show {before} = {after}", *pair.tactics), rule, ("Tang.Rules",))  # fmt: skip


def _side(graph: Graph, pair: Pair) -> str:
    return Exporter(graph, pair.applied).output("o", pair.at)
