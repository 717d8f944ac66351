prelude
import Tang.Logic
import Tang.Algebra
import Tang.Ring
import Tang.Sum
import Tang.Field
import Tang.Fold
import Tang.LP
import Tang.Softmax
import Tang.Views
import Tang.Core
import Tang.Syntax
/-! # Tang.Audit — every theorem, its statement and its axioms.

Written by `python -m tang.proofs.snapshot`; the gate compares it with the sources. -/
#check @Tang.and_intro
#print axioms Tang.and_intro
#check @Tang.if_pos
#print axioms Tang.if_pos
#check @Tang.if_neg
#print axioms Tang.if_neg
#check @Tang.if_same
#print axioms Tang.if_same
#check @Tang.if_congr
#print axioms Tang.if_congr
#check @Tang.apply_if
#print axioms Tang.apply_if
#check @Tang.not_not
#print axioms Tang.not_not
#check @Tang.Nat.add_zero
#print axioms Tang.Nat.add_zero
#check @Tang.Nat.add_succ
#print axioms Tang.Nat.add_succ
#check @Tang.Nat.zero_add
#print axioms Tang.Nat.zero_add
#check @Tang.Nat.succ_add
#print axioms Tang.Nat.succ_add
#check @Tang.Nat.add_comm
#print axioms Tang.Nat.add_comm
#check @Tang.Nat.add_assoc
#print axioms Tang.Nat.add_assoc
#check @Tang.Nat.mul_succ
#print axioms Tang.Nat.mul_succ
#check @Tang.Nat.mul_zero
#print axioms Tang.Nat.mul_zero
#check @Tang.Nat.succ_mul
#print axioms Tang.Nat.succ_mul
#check @Tang.Nat.zero_mul
#print axioms Tang.Nat.zero_mul
#check @Tang.Nat.mul_comm
#print axioms Tang.Nat.mul_comm
#check @Tang.Nat.mul_add
#print axioms Tang.Nat.mul_add
#check @Tang.Nat.mul_assoc
#print axioms Tang.Nat.mul_assoc
#check @Tang.Nat.mul_one
#print axioms Tang.Nat.mul_one
#check @Tang.Nat.succ_inj
#print axioms Tang.Nat.succ_inj
#check @Tang.Nat.succ_ne_zero
#print axioms Tang.Nat.succ_ne_zero
#check @Tang.Nat.add_right_cancel
#print axioms Tang.Nat.add_right_cancel
#check @Tang.Nat.eq_zero_of_add
#print axioms Tang.Nat.eq_zero_of_add
#check @Tang.Nat.le_refl
#print axioms Tang.Nat.le_refl
#check @Tang.Nat.le_trans
#print axioms Tang.Nat.le_trans
#check @Tang.Nat.zero_le
#print axioms Tang.Nat.zero_le
#check @Tang.Nat.succ_le_succ
#print axioms Tang.Nat.succ_le_succ
#check @Tang.Nat.le_of_succ_le_succ
#print axioms Tang.Nat.le_of_succ_le_succ
#check @Tang.Nat.not_succ_le_zero
#print axioms Tang.Nat.not_succ_le_zero
#check @Tang.Nat.le_add_right
#print axioms Tang.Nat.le_add_right
#check @Tang.Nat.le_add_left
#print axioms Tang.Nat.le_add_left
#check @Tang.Nat.le_succ
#print axioms Tang.Nat.le_succ
#check @Tang.Nat.lt_succ_self
#print axioms Tang.Nat.lt_succ_self
#check @Tang.Nat.lt_succ_of_lt
#print axioms Tang.Nat.lt_succ_of_lt
#check @Tang.Nat.le_of_lt
#print axioms Tang.Nat.le_of_lt
#check @Tang.Nat.not_lt_zero
#print axioms Tang.Nat.not_lt_zero
#check @Tang.Nat.lt_irrefl
#print axioms Tang.Nat.lt_irrefl
#check @Tang.Nat.le_antisymm
#print axioms Tang.Nat.le_antisymm
#check @Tang.Nat.le_total
#print axioms Tang.Nat.le_total
#check @Tang.Nat.lt_or_ge
#print axioms Tang.Nat.lt_or_ge
#check @Tang.Nat.lt_of_le_of_ne
#print axioms Tang.Nat.lt_of_le_of_ne
#check @Tang.Nat.le_of_not_lt
#print axioms Tang.Nat.le_of_not_lt
#check @Tang.Nat.not_le_of_lt
#print axioms Tang.Nat.not_le_of_lt
#check @Tang.Nat.ne_of_lt
#print axioms Tang.Nat.ne_of_lt
#check @Tang.Nat.le_of_lt_succ
#print axioms Tang.Nat.le_of_lt_succ
#check @Tang.Nat.add_le_add_left
#print axioms Tang.Nat.add_le_add_left
#check @Tang.Nat.add_lt_add_left
#print axioms Tang.Nat.add_lt_add_left
#check @Tang.zero_add
#print axioms Tang.zero_add
#check @Tang.one_mul
#print axioms Tang.one_mul
#check @Tang.zero_mul
#print axioms Tang.zero_mul
#check @Tang.add_mul
#print axioms Tang.add_mul
#check @Tang.add_left_comm
#print axioms Tang.add_left_comm
#check @Tang.mul_left_comm
#print axioms Tang.mul_left_comm
#check @Tang.sub_eq
#print axioms Tang.sub_eq
#check @Tang.neg_add
#print axioms Tang.neg_add
#check @Tang.add_cancel
#print axioms Tang.add_cancel
#check @Tang.neg_unique
#print axioms Tang.neg_unique
#check @Tang.neg_mul
#print axioms Tang.neg_mul
#check @Tang.sub_self
#print axioms Tang.sub_self
#check @Tang.sub_add_sub
#print axioms Tang.sub_add_sub
#check @Tang.sub_zero
#print axioms Tang.sub_zero
#check @Tang.eq_of_sub_eq_zero
#print axioms Tang.eq_of_sub_eq_zero
#check @Tang.not_le
#print axioms Tang.not_le
#check @Tang.le_max_left
#print axioms Tang.le_max_left
#check @Tang.le_max_right
#print axioms Tang.le_max_right
#check @Tang.max_le
#print axioms Tang.max_le
#check @Tang.max_comm
#print axioms Tang.max_comm
#check @Tang.max_assoc
#print axioms Tang.max_assoc
#check @Tang.max_idem
#print axioms Tang.max_idem
#check @Tang.max_eq_right
#print axioms Tang.max_eq_right
#check @Tang.max_eq_left
#print axioms Tang.max_eq_left
#check @Tang.min_le_left
#print axioms Tang.min_le_left
#check @Tang.min_le_right
#print axioms Tang.min_le_right
#check @Tang.le_min
#print axioms Tang.le_min
#check @Tang.min_comm
#print axioms Tang.min_comm
#check @Tang.min_assoc
#print axioms Tang.min_assoc
#check @Tang.lt_irrefl
#print axioms Tang.lt_irrefl
#check @Tang.le_of_lt
#print axioms Tang.le_of_lt
#check @Tang.lt_of_lt_of_le
#print axioms Tang.lt_of_lt_of_le
#check @Tang.lt_of_le_of_lt
#print axioms Tang.lt_of_le_of_lt
#check @Tang.lt_trans
#print axioms Tang.lt_trans
#check @Tang.ne_of_lt
#print axioms Tang.ne_of_lt
#check @Tang.lt_of_le_of_ne
#print axioms Tang.lt_of_le_of_ne
#check @Tang.add_le_add
#print axioms Tang.add_le_add
#check @Tang.sub_nonneg
#print axioms Tang.sub_nonneg
#check @Tang.le_of_sub_nonneg
#print axioms Tang.le_of_sub_nonneg
#check @Tang.le_of_add_le_add_right
#print axioms Tang.le_of_add_le_add_right
#check @Tang.mul_le_mul_right
#print axioms Tang.mul_le_mul_right
#check @Tang.mul_le_mul_left
#print axioms Tang.mul_le_mul_left
#check @Tang.max_add
#print axioms Tang.max_add
#check @Tang.add_max
#print axioms Tang.add_max
#check @Tang.mul_cancel
#print axioms Tang.mul_cancel
#check @Tang.exp_ne_zero
#print axioms Tang.exp_ne_zero
#check @Tang.exp_zero
#print axioms Tang.exp_zero
#check @Tang.exp_chain
#print axioms Tang.exp_chain
#check @Tang.exp_neg
#print axioms Tang.exp_neg
#check @Tang.Ring.cond_elim
#print axioms Tang.Ring.cond_elim
#check @Tang.Ring.evM_insVar
#print axioms Tang.Ring.evM_insVar
#check @Tang.Ring.evM_mul
#print axioms Tang.Ring.evM_mul
#check @Tang.Ring.evP_insMono
#print axioms Tang.Ring.evP_insMono
#check @Tang.Ring.evP_add
#print axioms Tang.Ring.evP_add
#check @Tang.Ring.evP_mulMono
#print axioms Tang.Ring.evP_mulMono
#check @Tang.Ring.evP_mul
#print axioms Tang.Ring.evP_mul
#check @Tang.Ring.neg_add_distrib
#print axioms Tang.Ring.neg_add_distrib
#check @Tang.Ring.neg_neg
#print axioms Tang.Ring.neg_neg
#check @Tang.Ring.mul_neg
#print axioms Tang.Ring.mul_neg
#check @Tang.Ring.sub_add_comm
#print axioms Tang.Ring.sub_add_comm
#check @Tang.Ring.sub_mul_sub
#print axioms Tang.Ring.sub_mul_sub
#check @Tang.Ring.sub_eq_neg_sub
#print axioms Tang.Ring.sub_eq_neg_sub
#check @Tang.Ring.sound
#print axioms Tang.Ring.sound
#check @Tang.Ring.natEq
#print axioms Tang.Ring.natEq
#check @Tang.Ring.cond_and
#print axioms Tang.Ring.cond_and
#check @Tang.Ring.eqL_sound
#print axioms Tang.Ring.eqL_sound
#check @Tang.Ring.eqP_sound
#print axioms Tang.Ring.eqP_sound
#check @Tang.Ring.sub_eq_sub
#print axioms Tang.Ring.sub_eq_sub
#check @Tang.Ring.check_sound
#print axioms Tang.Ring.check_sound
#check @Tang.Ring.soundS
#print axioms Tang.Ring.soundS
#check @Tang.ring_eq
#print axioms Tang.ring_eq
#check @Tang.semiring_eq
#print axioms Tang.semiring_eq
#check @Tang.sum_zero
#print axioms Tang.sum_zero
#check @Tang.sum_succ
#print axioms Tang.sum_succ
#check @Tang.sum_congr
#print axioms Tang.sum_congr
#check @Tang.sum_map_map
#print axioms Tang.sum_map_map
#check @Tang.sum_const_zero
#print axioms Tang.sum_const_zero
#check @Tang.sum_add
#print axioms Tang.sum_add
#check @Tang.sum_mul_left
#print axioms Tang.sum_mul_left
#check @Tang.sum_mul_right
#print axioms Tang.sum_mul_right
#check @Tang.sum_linear
#print axioms Tang.sum_linear
#check @Tang.sum_split
#print axioms Tang.sum_split
#check @Tang.sum_comm
#print axioms Tang.sum_comm
#check @Tang.sum_tile
#print axioms Tang.sum_tile
#check @Tang.matmul_tile
#print axioms Tang.matmul_tile
#check @Tang.sum_if_lt
#print axioms Tang.sum_if_lt
#check @Tang.sum_single
#print axioms Tang.sum_single
#check @Tang.sum_neg
#print axioms Tang.sum_neg
#check @Tang.sum_sub
#print axioms Tang.sum_sub
#check @Tang.div_eq
#print axioms Tang.div_eq
#check @Tang.mul_ne_zero
#print axioms Tang.mul_ne_zero
#check @Tang.div_mul_cancel
#print axioms Tang.div_mul_cancel
#check @Tang.div_unique
#print axioms Tang.div_unique
#check @Tang.div_common
#print axioms Tang.div_common
#check @Tang.add_div
#print axioms Tang.add_div
#check @Tang.mul_div
#print axioms Tang.mul_div
#check @Tang.div_self
#print axioms Tang.div_self
#check @Tang.mul_pos
#print axioms Tang.mul_pos
#check @Tang.add_pos
#print axioms Tang.add_pos
#check @Tang.sum_nonneg
#print axioms Tang.sum_nonneg
#check @Tang.sum_pos
#print axioms Tang.sum_pos
#check @Tang.sum_div
#print axioms Tang.sum_div
#check @Tang.neg_le_neg
#print axioms Tang.neg_le_neg
#check @Tang.zero_le_one
#print axioms Tang.zero_le_one
#check @Tang.square_nonneg
#print axioms Tang.square_nonneg
#check @Tang.sum_rescale
#print axioms Tang.sum_rescale
#check @Tang.sum_exp_rescale
#print axioms Tang.sum_exp_rescale
#check @Tang.sum_exp_ne_zero
#print axioms Tang.sum_exp_ne_zero
#check @Tang.fold_zero
#print axioms Tang.fold_zero
#check @Tang.fold_succ
#print axioms Tang.fold_succ
#check @Tang.fold_congr
#print axioms Tang.fold_congr
#check @Tang.sum_eq_fold
#print axioms Tang.sum_eq_fold
#check @Tang.fold_append
#print axioms Tang.fold_append
#check @Tang.fold_start
#print axioms Tang.fold_start
#check @Tang.fold_split
#print axioms Tang.fold_split
#check @Tang.fold_split_semigroup
#print axioms Tang.fold_split_semigroup
#check @Tang.fold_tile
#print axioms Tang.fold_tile
#check @Tang.fold_pair
#print axioms Tang.fold_pair
#check @Tang.fold_identity
#print axioms Tang.fold_identity
#check @Tang.fold_comm
#print axioms Tang.fold_comm
#check @Tang.fold_perm
#print axioms Tang.fold_perm
#check @Tang.fold_where
#print axioms Tang.fold_where
#check @Tang.foldWhere_congr
#print axioms Tang.foldWhere_congr
#check @Tang.fold_hom
#print axioms Tang.fold_hom
#check @Tang.pair_eq
#print axioms Tang.pair_eq
#check @Tang.both_assoc
#print axioms Tang.both_assoc
#check @Tang.both_comm
#print axioms Tang.both_comm
#check @Tang.both_identity
#print axioms Tang.both_identity
#check @Tang.fold_both
#print axioms Tang.fold_both
#check @Tang.tree_fold
#print axioms Tang.tree_fold
#check @Tang.orElse_assoc
#print axioms Tang.orElse_assoc
#check @Tang.orElse_comm
#print axioms Tang.orElse_comm
#check @Tang.orElse_identity
#print axioms Tang.orElse_identity
#check @Tang.sum_le_sum
#print axioms Tang.sum_le_sum
#check @Tang.weak_duality
#print axioms Tang.weak_duality
#check @Tang.optimal_of_equal
#print axioms Tang.optimal_of_equal
#check @Tang.Soft.ext
#print axioms Tang.Soft.ext
#check @Tang.softmax_comm
#print axioms Tang.softmax_comm
#check @Tang.rescale_assoc
#print axioms Tang.rescale_assoc
#check @Tang.softmax_assoc
#print axioms Tang.softmax_assoc
#check @Tang.top_ge
#print axioms Tang.top_ge
#check @Tang.top_le
#print axioms Tang.top_le
#check @Tang.online_m
#print axioms Tang.online_m
#check @Tang.online_a
#print axioms Tang.online_a
#check @Tang.online_l
#print axioms Tang.online_l
#check @Tang.weighted_shift
#print axioms Tang.weighted_shift
#check @Tang.online_two_pass
#print axioms Tang.online_two_pass
#check @Tang.online_naive
#print axioms Tang.online_naive
#check @Tang.logSum_of_softmax
#print axioms Tang.logSum_of_softmax
#check @Tang.logSum_assoc
#print axioms Tang.logSum_assoc
#check @Tang.logSum_comm
#print axioms Tang.logSum_comm
#check @Tang.logsumexp_shift
#print axioms Tang.logsumexp_shift
#check @Tang.online_logsumexp
#print axioms Tang.online_logsumexp
#check @Tang.view_comp
#print axioms Tang.view_comp
#check @Tang.view_comp_assoc
#print axioms Tang.view_comp_assoc
#check @Tang.read_copy
#print axioms Tang.read_copy
#check @Tang.guarded_comp
#print axioms Tang.guarded_comp
#check @Tang.guarded_map
#print axioms Tang.guarded_map
#check @Tang.guarded_inside
#print axioms Tang.guarded_inside
#check @Tang.gather_map
#print axioms Tang.gather_map
#check @Tang.sum_padded
#print axioms Tang.sum_padded
