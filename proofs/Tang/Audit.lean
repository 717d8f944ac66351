prelude
import Tang.Logic
import Tang.Algebra
import Tang.Ring
import Tang.Sum
import Tang.Field
import Tang.Fold
import Tang.Softmax
import Tang.Argmax
import Tang.LP
import Tang.Views
import Tang.Cone
import Tang.Gradient
import Tang.Integers
import Tang.Rationals
import Tang.Scan
import Tang.TopK
import Tang.Traffic
import Tang.Welford
import Tang.Lattice
import Tang.Segment
import Tang.Ranks
import Tang.Rules
import Tang.Logarithm
import Tang.Means
import Tang.Cover
import Tang.Merge
import Tang.Polynomial
import Tang.Digits
import Tang.Blocks
import Tang.Core
import Tang.Syntax
/-! # Tang.Audit — every theorem: its statement, its axioms, its explicit form.

Written by `python -m tang.proofs.snapshot`; the gate compares it with the sources. -/
set_option pp.deepTerms true
set_option pp.proofs true
set_option pp.maxSteps 1000000000
set_option pp.rawOnError true
#check @Tang.and_intro
#print axioms Tang.and_intro
#check @Tang.if_pos
#print axioms Tang.if_pos
#check @Tang.if_neg
#print axioms Tang.if_neg
#check @Tang.dif_pos
#print axioms Tang.dif_pos
#check @Tang.dif_neg
#print axioms Tang.dif_neg
#check @Tang.if_same
#print axioms Tang.if_same
#check @Tang.if_congr
#print axioms Tang.if_congr
#check @Tang.apply_if
#print axioms Tang.apply_if
#check @Tang.not_not
#print axioms Tang.not_not
#check @Tang.decide_true
#print axioms Tang.decide_true
#check @Tang.decide_false
#print axioms Tang.decide_false
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
#check @Tang.map_reduce
#print axioms Tang.map_reduce
#check @Tang.epilogue
#print axioms Tang.epilogue
#check @Tang.add_assoc_law
#print axioms Tang.add_assoc_law
#check @Tang.mul_assoc_law
#print axioms Tang.mul_assoc_law
#check @Tang.max_assoc_law
#print axioms Tang.max_assoc_law
#check @Tang.min_assoc_law
#print axioms Tang.min_assoc_law
#check @Tang.or_assoc_law
#print axioms Tang.or_assoc_law
#check @Tang.and_assoc_law
#print axioms Tang.and_assoc_law
#check @Tang.add_comm_law
#print axioms Tang.add_comm_law
#check @Tang.mul_comm_law
#print axioms Tang.mul_comm_law
#check @Tang.max_comm_law
#print axioms Tang.max_comm_law
#check @Tang.min_comm_law
#print axioms Tang.min_comm_law
#check @Tang.or_comm_law
#print axioms Tang.or_comm_law
#check @Tang.and_comm_law
#print axioms Tang.and_comm_law
#check @Tang.tree_fold
#print axioms Tang.tree_fold
#check @Tang.orElse_assoc
#print axioms Tang.orElse_assoc
#check @Tang.orElse_comm
#print axioms Tang.orElse_comm
#check @Tang.orElse_identity
#print axioms Tang.orElse_identity
#check @Tang.optional_right
#print axioms Tang.optional_right
#check @Tang.optional_left
#print axioms Tang.optional_left
#check @Tang.optional_both
#print axioms Tang.optional_both
#check @Tang.optional_assoc
#print axioms Tang.optional_assoc
#check @Tang.optional_comm
#print axioms Tang.optional_comm
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
#check @Tang.Best.ext
#print axioms Tang.Best.ext
#check @Tang.argBest_best
#print axioms Tang.argBest_best
#check @Tang.argBest_at'
#print axioms Tang.argBest_at'
#check @Tang.argBest_max
#print axioms Tang.argBest_max
#check @Tang.argBest_assoc
#print axioms Tang.argBest_assoc
#check @Tang.argBest_comm
#print axioms Tang.argBest_comm
#check @Tang.argmax_assoc
#print axioms Tang.argmax_assoc
#check @Tang.argmax_comm
#print axioms Tang.argmax_comm
#check @Tang.neg_injective
#print axioms Tang.neg_injective
#check @Tang.argmin_assoc
#print axioms Tang.argmin_assoc
#check @Tang.argmin_comm
#print axioms Tang.argmin_comm
#check @Tang.argOrNone_best
#print axioms Tang.argOrNone_best
#check @Tang.argOrNone_at'
#print axioms Tang.argOrNone_at'
#check @Tang.argOrNone_assoc
#print axioms Tang.argOrNone_assoc
#check @Tang.argOrNone_present
#print axioms Tang.argOrNone_present
#check @Tang.argOrNone_comm
#print axioms Tang.argOrNone_comm
#check @Tang.argmax_or_none_comm
#print axioms Tang.argmax_or_none_comm
#check @Tang.argmin_or_none_comm
#print axioms Tang.argmin_or_none_comm
#check @Tang.argmax_or_none_assoc
#print axioms Tang.argmax_or_none_assoc
#check @Tang.argmin_or_none_assoc
#print axioms Tang.argmin_or_none_assoc
#check @Tang.argFold_best
#print axioms Tang.argFold_best
#check @Tang.argFold_le
#print axioms Tang.argFold_le
#check @Tang.argFold_first
#print axioms Tang.argFold_first
#check @Tang.argFold_least
#print axioms Tang.argFold_least
#check @Tang.argFold_top
#print axioms Tang.argFold_top
#check @Tang.sum_le_sum
#print axioms Tang.sum_le_sum
#check @Tang.weak_duality
#print axioms Tang.weak_duality
#check @Tang.optimal_of_equal
#print axioms Tang.optimal_of_equal
#check @Tang.numeral_add
#print axioms Tang.numeral_add
#check @Tang.numeral_mul
#print axioms Tang.numeral_mul
#check @Tang.add_nonneg
#print axioms Tang.add_nonneg
#check @Tang.numeral_nonneg
#print axioms Tang.numeral_nonneg
#check @Tang.le_of_slack
#print axioms Tang.le_of_slack
#check @Tang.le_of_ble
#print axioms Tang.le_of_ble
#check @Tang.and_left
#print axioms Tang.and_left
#check @Tang.and_right
#print axioms Tang.and_right
#check @Tang.value_plus
#print axioms Tang.value_plus
#check @Tang.value_times
#print axioms Tang.value_times
#check @Tang.value_zero
#print axioms Tang.value_zero
#check @Tang.numeral_le
#print axioms Tang.numeral_le
#check @Tang.value_below
#print axioms Tang.value_below
#check @Tang.along_none
#print axioms Tang.along_none
#check @Tang.along_plus
#print axioms Tang.along_plus
#check @Tang.along_times
#print axioms Tang.along_times
#check @Tang.combined_holds
#print axioms Tang.combined_holds
#check @Tang.along_below
#print axioms Tang.along_below
#check @Tang.certificate_dual
#print axioms Tang.certificate_dual
#check @Tang.numeral_succ_pos
#print axioms Tang.numeral_succ_pos
#check @Tang.numeral_succ_ne
#print axioms Tang.numeral_succ_ne
#check @Tang.inv_nonneg_of
#print axioms Tang.inv_nonneg_of
#check @Tang.pointOf_nonneg
#print axioms Tang.pointOf_nonneg
#check @Tang.along_pointOf
#print axioms Tang.along_pointOf
#check @Tang.le_of_scaled
#print axioms Tang.le_of_scaled
#check @Tang.certificate_primal
#print axioms Tang.certificate_primal
#check @Tang.certificate
#print axioms Tang.certificate
#check @Tang.certificate_value
#print axioms Tang.certificate_value
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
#check @Tang.related
#print axioms Tang.related
#check @Tang.Dual.ext
#print axioms Tang.Dual.ext
#check @Tang.dual_add
#print axioms Tang.dual_add
#check @Tang.dual_mul
#print axioms Tang.dual_mul
#check @Tang.dual_sum_re
#print axioms Tang.dual_sum_re
#check @Tang.dual_sum
#print axioms Tang.dual_sum
#check @Tang.dual_linear
#print axioms Tang.dual_linear
#check @Tang.grad_sum
#print axioms Tang.grad_sum
#check @Tang.grad_gather
#print axioms Tang.grad_gather
#check @Tang.grad_gather_segment
#print axioms Tang.grad_gather_segment
#check @Tang.degree_quotient
#print axioms Tang.degree_quotient
#check @Tang.cotangent_cancels
#print axioms Tang.cotangent_cancels
#check @Tang.shift_gradient
#print axioms Tang.shift_gradient
#check @Tang.shift_stop
#print axioms Tang.shift_stop
#check @Tang.degree_const
#print axioms Tang.degree_const
#check @Tang.degree_add
#print axioms Tang.degree_add
#check @Tang.degree_mul
#print axioms Tang.degree_mul
#check @Tang.degree_sum
#print axioms Tang.degree_sum
#check @Tang.degree_none
#print axioms Tang.degree_none
#check @Tang.flash_backward
#print axioms Tang.flash_backward
#check @Tang.dualDiv_mul
#print axioms Tang.dualDiv_mul
#check @Tang.dual_cancel
#print axioms Tang.dual_cancel
#check @Tang.dualDiv_common
#print axioms Tang.dualDiv_common
#check @Tang.degree_div
#print axioms Tang.degree_div
#check @Tang.dualExp_add
#print axioms Tang.dualExp_add
#check @Tang.degree_exp
#print axioms Tang.degree_exp
#check @Tang.softmax_shift
#print axioms Tang.softmax_shift
#check @Tang.reference_gradient
#print axioms Tang.reference_gradient
#check @Tang.softmax_tangent
#print axioms Tang.softmax_tangent
#check @Tang.softmax_backward
#print axioms Tang.softmax_backward
#check @Tang.softmax_backward_entry
#print axioms Tang.softmax_backward_entry
#check @Tang.attention_backward
#print axioms Tang.attention_backward
#check @Tang.attention_delta
#print axioms Tang.attention_delta
#check @Tang.Diff.ext
#print axioms Tang.Diff.ext
#check @Tang.Diff.refl
#print axioms Tang.Diff.refl
#check @Tang.Diff.symm
#print axioms Tang.Diff.symm
#check @Tang.Diff.trans
#print axioms Tang.Diff.trans
#check @Tang.Diff.add_same
#print axioms Tang.Diff.add_same
#check @Tang.Diff.mul_comm
#print axioms Tang.Diff.mul_comm
#check @Tang.Diff.mul_left_same
#print axioms Tang.Diff.mul_left_same
#check @Tang.Diff.mul_same
#print axioms Tang.Diff.mul_same
#check @Tang.Diff.neg_same
#print axioms Tang.Diff.neg_same
#check @Tang.Z.exact
#print axioms Tang.Z.exact
#check @Tang.Z.ind
#print axioms Tang.Z.ind
#check @Tang.Z.ofNat_add
#print axioms Tang.Z.ofNat_add
#check @Tang.Z.ofNat_mul
#print axioms Tang.Z.ofNat_mul
#check @Tang.Z.ofNat_inj
#print axioms Tang.Z.ofNat_inj
#check @Tang.Z.nonNeg_mk
#print axioms Tang.Z.nonNeg_mk
#check @Tang.Z.total
#print axioms Tang.Z.total
#check @Tang.Z.test_iff
#print axioms Tang.Z.test_iff
#check @Tang.Z.test_false
#print axioms Tang.Z.test_false
#check @Tang.Z.ofNat_pointed
#print axioms Tang.Z.ofNat_pointed
#check @Tang.Z.pos_mul
#print axioms Tang.Z.pos_mul
#check @Tang.Z.pos_one
#print axioms Tang.Z.pos_one
#check @Tang.Z.nat_mul_cancel
#print axioms Tang.Z.nat_mul_cancel
#check @Tang.Z.mul_cancel
#print axioms Tang.Z.mul_cancel
#check @Tang.Z.square_pos
#print axioms Tang.Z.square_pos
#check @Tang.Frac.ext
#print axioms Tang.Frac.ext
#check @Tang.Frac.refl
#print axioms Tang.Frac.refl
#check @Tang.Frac.symm
#print axioms Tang.Frac.symm
#check @Tang.Frac.trans
#print axioms Tang.Frac.trans
#check @Tang.Frac.add_same
#print axioms Tang.Frac.add_same
#check @Tang.Frac.mul_same
#print axioms Tang.Frac.mul_same
#check @Tang.Frac.neg_same
#print axioms Tang.Frac.neg_same
#check @Tang.Frac.zero_same
#print axioms Tang.Frac.zero_same
#check @Tang.Frac.inv_same
#print axioms Tang.Frac.inv_same
#check @Tang.Q.exact
#print axioms Tang.Q.exact
#check @Tang.Q.ind
#print axioms Tang.Q.ind
#check @Tang.Q.nonNeg_mk
#print axioms Tang.Q.nonNeg_mk
#check @Tang.Q.two_add
#print axioms Tang.Q.two_add
#check @Tang.Q.two_pos
#print axioms Tang.Q.two_pos
#check @Tang.scan_chunk
#print axioms Tang.scan_chunk
#check @Tang.Step.ext
#print axioms Tang.Step.ext
#check @Tang.affine_assoc
#print axioms Tang.affine_assoc
#check @Tang.affine_identity
#print axioms Tang.affine_identity
#check @Tang.affine_fold
#print axioms Tang.affine_fold
#check @Tang.affine_chunk
#print axioms Tang.affine_chunk
#check @Tang.between_self
#print axioms Tang.between_self
#check @Tang.between_succ
#print axioms Tang.between_succ
#check @Tang.sum_recurrence
#print axioms Tang.sum_recurrence
#check @Tang.append_assoc
#print axioms Tang.append_assoc
#check @Tang.take_cons
#print axioms Tang.take_cons
#check @Tang.take_idem
#print axioms Tang.take_idem
#check @Tang.insert_le
#print axioms Tang.insert_le
#check @Tang.insert_gt
#print axioms Tang.insert_gt
#check @Tang.insert_comm
#print axioms Tang.insert_comm
#check @Tang.merge_insert
#print axioms Tang.merge_insert
#check @Tang.insert_merge
#print axioms Tang.insert_merge
#check @Tang.sort_append
#print axioms Tang.sort_append
#check @Tang.merge_sort
#print axioms Tang.merge_sort
#check @Tang.merge_comm_sort
#print axioms Tang.merge_comm_sort
#check @Tang.descending_insert
#print axioms Tang.descending_insert
#check @Tang.descending_sort
#print axioms Tang.descending_sort
#check @Tang.insert_head
#print axioms Tang.insert_head
#check @Tang.sort_descending
#print axioms Tang.sort_descending
#check @Tang.descending_take
#print axioms Tang.descending_take
#check @Tang.take_insert
#print axioms Tang.take_insert
#check @Tang.take_merge
#print axioms Tang.take_merge
#check @Tang.topMerge_append
#print axioms Tang.topMerge_append
#check @Tang.topMerge_assoc
#print axioms Tang.topMerge_assoc
#check @Tang.topMerge_comm
#print axioms Tang.topMerge_comm
#check @Tang.perm_refl
#print axioms Tang.perm_refl
#check @Tang.perm_insert
#print axioms Tang.perm_insert
#check @Tang.perm_sort
#print axioms Tang.perm_sort
#check @Tang.mem_le
#print axioms Tang.mem_le
#check @Tang.mem_drop
#print axioms Tang.mem_drop
#check @Tang.topK_largest
#print axioms Tang.topK_largest
#check @Tang.append_take
#print axioms Tang.append_take
#check @Tang.take_full
#print axioms Tang.take_full
#check @Tang.topMerge_largest
#print axioms Tang.topMerge_largest
#check @Tang.nonneg_of_double
#print axioms Tang.nonneg_of_double
#check @Tang.cauchy_schwarz
#print axioms Tang.cauchy_schwarz
#check @Tang.cauchy_schwarz_sum
#print axioms Tang.cauchy_schwarz_sum
#check @Tang.cauchy_schwarz_box
#print axioms Tang.cauchy_schwarz_box
#check @Tang.loomis_whitney_weighted
#print axioms Tang.loomis_whitney_weighted
#check @Tang.one_if_square
#print axioms Tang.one_if_square
#check @Tang.one_if_nonneg
#print axioms Tang.one_if_nonneg
#check @Tang.one_if_le
#print axioms Tang.one_if_le
#check @Tang.card_nonneg
#print axioms Tang.card_nonneg
#check @Tang.card_le
#print axioms Tang.card_le
#check @Tang.squares_le
#print axioms Tang.squares_le
#check @Tang.loomis_whitney
#print axioms Tang.loomis_whitney
#check @Tang.product_bound
#print axioms Tang.product_bound
#check @Tang.box_bound
#print axioms Tang.box_bound
#check @Tang.traffic_bound
#print axioms Tang.traffic_bound
#check @Tang.traffic_loomis_whitney
#print axioms Tang.traffic_loomis_whitney
#check @Tang.Moments.ext
#print axioms Tang.Moments.ext
#check @Tang.welford_left
#print axioms Tang.welford_left
#check @Tang.welford_right
#print axioms Tang.welford_right
#check @Tang.moments_of_sums
#print axioms Tang.moments_of_sums
#check @Tang.welford_total
#print axioms Tang.welford_total
#check @Tang.welford_squares
#print axioms Tang.welford_squares
#check @Tang.add_ne_zero
#print axioms Tang.add_ne_zero
#check @Tang.welford_assoc
#print axioms Tang.welford_assoc
#check @Tang.count_sum
#print axioms Tang.count_sum
#check @Tang.welford_counts
#print axioms Tang.welford_counts
#check @Tang.counted_nothing
#print axioms Tang.counted_nothing
#check @Tang.counted_some
#print axioms Tang.counted_some
#check @Tang.welford_counted
#print axioms Tang.welford_counted
#check @Tang.counted_empty
#print axioms Tang.counted_empty
#check @Tang.welford_comm
#print axioms Tang.welford_comm
#check @Tang.welford_identity
#print axioms Tang.welford_identity
#check @Tang.one_ne_zero
#print axioms Tang.one_ne_zero
#check @Tang.count_nonneg
#print axioms Tang.count_nonneg
#check @Tang.welfordFold_n
#print axioms Tang.welfordFold_n
#check @Tang.count_ne_zero
#print axioms Tang.count_ne_zero
#check @Tang.welfordFold_sums
#print axioms Tang.welfordFold_sums
#check @Tang.welford_mean
#print axioms Tang.welford_mean
#check @Tang.welford_m2
#print axioms Tang.welford_m2
#check @Tang.Lattice.evalL_cons
#print axioms Tang.Lattice.evalL_cons
#check @Tang.Lattice.push_push
#print axioms Tang.Lattice.push_push
#check @Tang.Lattice.push_self
#print axioms Tang.Lattice.push_self
#check @Tang.Lattice.evalL_ins
#print axioms Tang.Lattice.evalL_ins
#check @Tang.Lattice.push_append
#print axioms Tang.Lattice.push_append
#check @Tang.Lattice.evalL_norm
#print axioms Tang.Lattice.evalL_norm
#check @Tang.Lattice.sound
#print axioms Tang.Lattice.sound
#check @Tang.max_eq
#print axioms Tang.max_eq
#check @Tang.min_idem
#print axioms Tang.min_idem
#check @Tang.min_eq
#print axioms Tang.min_eq
#check @Tang.min_add
#print axioms Tang.min_add
#check @Tang.add_min
#print axioms Tang.add_min
#check @Tang.cofactor
#print axioms Tang.cofactor
#check @Tang.eq_of_cofactors
#print axioms Tang.eq_of_cofactors
#check @Tang.add_zeros
#print axioms Tang.add_zeros
#check @Tang.sign_add
#print axioms Tang.sign_add
#check @Tang.sign_max_left
#print axioms Tang.sign_max_left
#check @Tang.sign_max_right
#print axioms Tang.sign_max_right
#check @Tang.sign_if
#print axioms Tang.sign_if
#check @Tang.sign_neg
#print axioms Tang.sign_neg
#check @Tang.sign_abs
#print axioms Tang.sign_abs
#check @Tang.sign_square
#print axioms Tang.sign_square
#check @Tang.sign_one
#print axioms Tang.sign_one
#check @Tang.positive_one
#print axioms Tang.positive_one
#check @Tang.positive_add
#print axioms Tang.positive_add
#check @Tang.foldWhere_until
#print axioms Tang.foldWhere_until
#check @Tang.foldWhere_true
#print axioms Tang.foldWhere_true
#check @Tang.foldWhere_le
#print axioms Tang.foldWhere_le
#check @Tang.foldWhere_lt
#print axioms Tang.foldWhere_lt
#check @Tang.divided_last
#print axioms Tang.divided_last
#check @Tang.divided_inside
#print axioms Tang.divided_inside
#check @Tang.quotient_inside
#print axioms Tang.quotient_inside
#check @Tang.remainder_inside
#print axioms Tang.remainder_inside
#check @Tang.quotient_spec
#print axioms Tang.quotient_spec
#check @Tang.quotient_succ
#print axioms Tang.quotient_succ
#check @Tang.add_sub_self
#print axioms Tang.add_sub_self
#check @Tang.lt_of_mul_lt
#print axioms Tang.lt_of_mul_lt
#check @Tang.scan_at
#print axioms Tang.scan_at
#check @Tang.sorted_le
#print axioms Tang.sorted_le
#check @Tang.sorted_lt
#print axioms Tang.sorted_lt
#check @Tang.ends_in
#print axioms Tang.ends_in
#check @Tang.ends_out
#print axioms Tang.ends_out
#check @Tang.ends_spec
#print axioms Tang.ends_spec
#check @Tang.restarted
#print axioms Tang.restarted
#check @Tang.segment_at
#print axioms Tang.segment_at
#check @Tang.beats_iff
#print axioms Tang.beats_iff
#check @Tang.listSum_append
#print axioms Tang.listSum_append
#check @Tang.listSum_perm
#print axioms Tang.listSum_perm
#check @Tang.listSum_congr
#print axioms Tang.listSum_congr
#check @Tang.listSum_zero
#print axioms Tang.listSum_zero
#check @Tang.atRank_take
#print axioms Tang.atRank_take
#check @Tang.take_nil
#print axioms Tang.take_nil
#check @Tang.listSum_entries
#print axioms Tang.listSum_entries
#check @Tang.mem_insert
#print axioms Tang.mem_insert
#check @Tang.strict_insert
#print axioms Tang.strict_insert
#check @Tang.listSum_rank
#print axioms Tang.listSum_rank
#check @Tang.perm_merge
#print axioms Tang.perm_merge
#check @Tang.above_append
#print axioms Tang.above_append
#check @Tang.merge_rank
#print axioms Tang.merge_rank
#check @Tang.sort_entries
#print axioms Tang.sort_entries
#check @Tang.mem_entries
#print axioms Tang.mem_entries
#check @Tang.strict_entries
#print axioms Tang.strict_entries
#check @Tang.earlier_iff
#print axioms Tang.earlier_iff
#check @Tang.topK_one
#print axioms Tang.topK_one
#check @Tang.topFold_sort
#print axioms Tang.topFold_sort
#check @Tang.rank_topFold
#print axioms Tang.rank_topFold
#check @Tang.simplify_expr
#print axioms Tang.simplify_expr
#check @Tang.common_subexpression
#print axioms Tang.common_subexpression
#check @Tang.compose_views
#print axioms Tang.compose_views
#check @Tang.substitute_maps
#print axioms Tang.substitute_maps
#check @Tang.dead_node
#print axioms Tang.dead_node
#check @Tang.dead_output
#print axioms Tang.dead_output
#check @Tang.merge_siblings
#print axioms Tang.merge_siblings
#check @Tang.dead_part
#print axioms Tang.dead_part
#check @Tang.gate_to_where
#print axioms Tang.gate_to_where
#check @Tang.zero_gate_to_where
#print axioms Tang.zero_gate_to_where
#check @Tang.chunk_scan
#print axioms Tang.chunk_scan
#check @Tang.add_identity
#print axioms Tang.add_identity
#check @Tang.mul_identity
#print axioms Tang.mul_identity
#check @Tang.hoist_invariant_factors
#print axioms Tang.hoist_invariant_factors
#check @Tang.merge_dims
#print axioms Tang.merge_dims
#check @Tang.recognise_scan
#print axioms Tang.recognise_scan
#check @Tang.segment_sum
#print axioms Tang.segment_sum
#check @Tang.welford
#print axioms Tang.welford
#check @Tang.read_back_mean
#print axioms Tang.read_back_mean
#check @Tang.stop_max_gradient
#print axioms Tang.stop_max_gradient
#check @Tang.stabilize_softmax
#print axioms Tang.stabilize_softmax
#check @Tang.shift_softmax
#print axioms Tang.shift_softmax
#check @Tang.shift_softmax_zero
#print axioms Tang.shift_softmax_zero
#check @Tang.logFold_online
#print axioms Tang.logFold_online
#check @Tang.read_back_mass
#print axioms Tang.read_back_mass
#check @Tang.read_back_mass_softmax
#print axioms Tang.read_back_mass_softmax
#check @Tang.logsumexp
#print axioms Tang.logsumexp
#check @Tang.logsumexp_plain
#print axioms Tang.logsumexp_plain
#check @Tang.bottom_le
#print axioms Tang.bottom_le
#check @Tang.le_bottom
#print axioms Tang.le_bottom
#check @Tang.argmax
#print axioms Tang.argmax
#check @Tang.gather_at_argmax
#print axioms Tang.gather_at_argmax
#check @Tang.read_back
#print axioms Tang.read_back
#check @Tang.read_back_softmax
#print axioms Tang.read_back_softmax
#check @Tang.top_k
#print axioms Tang.top_k
#check @Tang.Two.double_succ
#print axioms Tang.Two.double_succ
#check @Tang.Two.odd_ne_even
#print axioms Tang.Two.odd_ne_even
#check @Tang.Two.double_inj
#print axioms Tang.Two.double_inj
#check @Tang.Two.form_unique
#print axioms Tang.Two.form_unique
#check @Tang.Two.form_mul
#print axioms Tang.Two.form_mul
#check @Tang.Two.form_halvings
#print axioms Tang.Two.form_halvings
#check @Tang.Two.valuation_form
#print axioms Tang.Two.valuation_form
#check @Tang.Two.valuation_mul
#print axioms Tang.Two.valuation_mul
#check @Tang.Two.valuation_two
#print axioms Tang.Two.valuation_two
#check @Tang.Two.sub_succ_succ
#print axioms Tang.Two.sub_succ_succ
#check @Tang.Two.sub_add
#print axioms Tang.Two.sub_add
#check @Tang.Two.sub_same
#print axioms Tang.Two.sub_same
#check @Tang.Two.zero_sub
#print axioms Tang.Two.zero_sub
#check @Tang.Two.size_nat
#print axioms Tang.Two.size_nat
#check @Tang.Two.size_neg
#print axioms Tang.Two.size_neg
#check @Tang.Two.size_mul_nat
#print axioms Tang.Two.size_mul_nat
#check @Tang.Two.size_mul
#print axioms Tang.Two.size_mul
#check @Tang.Two.size_zero
#print axioms Tang.Two.size_zero
#check @Tang.Two.size_pos
#print axioms Tang.Two.size_pos
#check @Tang.Two.size_ne
#print axioms Tang.Two.size_ne
#check @Tang.Two.mul_ne_zero
#print axioms Tang.Two.mul_ne_zero
#check @Tang.Two.valuation_size_mul
#print axioms Tang.Two.valuation_size_mul
#check @Tang.Two.ofFrac_zero
#print axioms Tang.Two.ofFrac_zero
#check @Tang.Two.ofFrac_some
#print axioms Tang.Two.ofFrac_some
#check @Tang.Two.ofFrac_same
#print axioms Tang.Two.ofFrac_same
#check @Tang.Two.log_mul
#print axioms Tang.Two.log_mul
#check @Tang.power_nonneg
#print axioms Tang.power_nonneg
#check @Tang.one_pos
#print axioms Tang.one_pos
#check @Tang.power_pos
#print axioms Tang.power_pos
#check @Tang.power_mul
#print axioms Tang.power_mul
#check @Tang.power_add
#print axioms Tang.power_add
#check @Tang.mul_le_mul
#print axioms Tang.mul_le_mul
#check @Tang.mul_lt_mul_left
#print axioms Tang.mul_lt_mul_left
#check @Tang.le_of_mul_le
#print axioms Tang.le_of_mul_le
#check @Tang.power_le
#print axioms Tang.power_le
#check @Tang.power_lt
#print axioms Tang.power_lt
#check @Tang.le_of_power
#print axioms Tang.le_of_power
#check @Tang.lt_of_power
#print axioms Tang.lt_of_power
#check @Tang.zero_of_power
#print axioms Tang.zero_of_power
#check @Tang.numeral_pos
#print axioms Tang.numeral_pos
#check @Tang.bernoulli
#print axioms Tang.bernoulli
#check @Tang.mean_step
#print axioms Tang.mean_step
#check @Tang.listTotal_nonneg
#print axioms Tang.listTotal_nonneg
#check @Tang.means
#print axioms Tang.means
#check @Tang.inv_nonneg
#print axioms Tang.inv_nonneg
#check @Tang.joint_nonneg
#print axioms Tang.joint_nonneg
#check @Tang.full_or_zero
#print axioms Tang.full_or_zero
#check @Tang.low_shares
#print axioms Tang.low_shares
#check @Tang.high_shares
#print axioms Tang.high_shares
#check @Tang.shares_total
#print axioms Tang.shares_total
#check @Tang.length_low
#print axioms Tang.length_low
#check @Tang.length_high
#print axioms Tang.length_high
#check @Tang.low_nonneg
#print axioms Tang.low_nonneg
#check @Tang.high_nonneg
#print axioms Tang.high_nonneg
#check @Tang.share_bound
#print axioms Tang.share_bound
#check @Tang.share_weak
#print axioms Tang.share_weak
#check @Tang.share_strict
#print axioms Tang.share_strict
#check @Tang.add_lt_add
#print axioms Tang.add_lt_add
#check @Tang.superadditive
#print axioms Tang.superadditive
#check @Tang.items_low
#print axioms Tang.items_low
#check @Tang.items_high
#print axioms Tang.items_high
#check @Tang.items_joint
#print axioms Tang.items_joint
#check @Tang.items_pairs
#print axioms Tang.items_pairs
#check @Tang.items_nonneg
#print axioms Tang.items_nonneg
#check @Tang.pieceSum_nonneg
#print axioms Tang.pieceSum_nonneg
#check @Tang.holder
#print axioms Tang.holder
#check @Tang.sums_nonneg
#print axioms Tang.sums_nonneg
#check @Tang.sumIf_nonneg
#print axioms Tang.sumIf_nonneg
#check @Tang.sumsOver_nonneg
#print axioms Tang.sumsOver_nonneg
#check @Tang.moved_agree
#print axioms Tang.moved_agree
#check @Tang.sumsOver_depends
#print axioms Tang.sumsOver_depends
#check @Tang.sumsOver_still
#print axioms Tang.sumsOver_still
#check @Tang.pieceOf_at
#print axioms Tang.pieceOf_at
#check @Tang.pieceOf_sum
#print axioms Tang.pieceOf_sum
#check @Tang.pieceOf_nonneg
#print axioms Tang.pieceOf_nonneg
#check @Tang.pieceOf_count
#print axioms Tang.pieceOf_count
#check @Tang.pieces_at
#print axioms Tang.pieces_at
#check @Tang.pieces_sum
#print axioms Tang.pieces_sum
#check @Tang.pieces_nonneg
#print axioms Tang.pieces_nonneg
#check @Tang.pieces_count
#print axioms Tang.pieces_count
#check @Tang.weighted_cover
#print axioms Tang.weighted_cover
#check @Tang.power_one_if
#print axioms Tang.power_one_if
#check @Tang.holds_product
#print axioms Tang.holds_product
#check @Tang.product_nonneg
#print axioms Tang.product_nonneg
#check @Tang.loomis_whitney_cover
#print axioms Tang.loomis_whitney_cover
#check @Tang.product_le
#print axioms Tang.product_le
#check @Tang.ones_at
#print axioms Tang.ones_at
#check @Tang.ones_sum
#print axioms Tang.ones_sum
#check @Tang.ones_count
#print axioms Tang.ones_count
#check @Tang.ones_nonneg
#print axioms Tang.ones_nonneg
#check @Tang.traffic_cover
#print axioms Tang.traffic_cover
#check @Tang.or_iff
#print axioms Tang.or_iff
#check @Tang.one_if_or
#print axioms Tang.one_if_or
#check @Tang.sumIf_le
#print axioms Tang.sumIf_le
#check @Tang.sumsOver_le
#print axioms Tang.sumsOver_le
#check @Tang.available_most
#print axioms Tang.available_most
#check @Tang.traffic_loads
#print axioms Tang.traffic_loads
#check @Tang.firsts_succ
#print axioms Tang.firsts_succ
#check @Tang.firsts_place
#print axioms Tang.firsts_place
#check @Tang.concat_left
#print axioms Tang.concat_left
#check @Tang.not_add_lt
#print axioms Tang.not_add_lt
#check @Tang.concat_right
#print axioms Tang.concat_right
#check @Tang.firsts_congr
#print axioms Tang.firsts_congr
#check @Tang.firsts_concat
#print axioms Tang.firsts_concat
#check @Tang.untag_append
#print axioms Tang.untag_append
#check @Tang.untag_entries
#print axioms Tang.untag_entries
#check @Tang.untag_le
#print axioms Tang.untag_le
#check @Tang.descending_untag
#print axioms Tang.descending_untag
#check @Tang.untag_insert
#print axioms Tang.untag_insert
#check @Tang.untag_sort
#print axioms Tang.untag_sort
#check @Tang.atRank_untag
#print axioms Tang.atRank_untag
#check @Tang.rank_firsts
#print axioms Tang.rank_firsts
#check @Tang.count_all
#print axioms Tang.count_all
#check @Tang.count_below
#print axioms Tang.count_below
#check @Tang.own_rank
#print axioms Tang.own_rank
#check @Tang.left_rank
#print axioms Tang.left_rank
#check @Tang.right_rank
#print axioms Tang.right_rank
#check @Tang.merged_rank
#print axioms Tang.merged_rank
#check @Tang.none_counted
#print axioms Tang.none_counted
#check @Tang.found_or
#print axioms Tang.found_or
#check @Tang.atRank_one
#print axioms Tang.atRank_one
#check @Tang.size_perm
#print axioms Tang.size_perm
#check @Tang.size_append
#print axioms Tang.size_append
#check @Tang.size_firsts
#print axioms Tang.size_firsts
#check @Tang.chosen_rank
#print axioms Tang.chosen_rank
#check @Tang.minus_one
#print axioms Tang.minus_one
#check @Tang.present_some
#print axioms Tang.present_some
#check @Tang.rightFirst_iff
#print axioms Tang.rightFirst_iff
#check @Tang.leftFirst_iff
#print axioms Tang.leftFirst_iff
#check @Tang.rankPick_sorted
#print axioms Tang.rankPick_sorted
#check @Tang.place_mem
#print axioms Tang.place_mem
#check @Tang.place_far
#print axioms Tang.place_far
#check @Tang.place_falls
#print axioms Tang.place_falls
#check @Tang.atRank_place
#print axioms Tang.atRank_place
#check @Tang.size_take
#print axioms Tang.size_take
#check @Tang.take_all
#print axioms Tang.take_all
#check @Tang.mem_take
#print axioms Tang.mem_take
#check @Tang.mem_merge
#print axioms Tang.mem_merge
#check @Tang.present_place
#print axioms Tang.present_place
#check @Tang.apart_none
#print axioms Tang.apart_none
#check @Tang.apart_place
#print axioms Tang.apart_place
#check @Tang.topK_held
#print axioms Tang.topK_held
#check @Tang.rankPick_merge
#print axioms Tang.rankPick_merge
#check @Tang.merge_held
#print axioms Tang.merge_held
#check @Tang.held_assoc
#print axioms Tang.held_assoc
#check @Tang.held_comm
#print axioms Tang.held_comm
#check @Tang.mem_nothing
#print axioms Tang.mem_nothing
#check @Tang.nothing_falls
#print axioms Tang.nothing_falls
#check @Tang.nothing_size
#print axioms Tang.nothing_size
#check @Tang.nothing_held
#print axioms Tang.nothing_held
#check @Tang.take_nones
#print axioms Tang.take_nones
#check @Tang.take_insert_none
#print axioms Tang.take_insert_none
#check @Tang.size_insert
#print axioms Tang.size_insert
#check @Tang.take_merge_nothing
#print axioms Tang.take_merge_nothing
#check @Tang.held_identity
#print axioms Tang.held_identity
#check @Tang.alone_held
#print axioms Tang.alone_held
#check @Tang.place_nothing
#print axioms Tang.place_nothing
#check @Tang.place_alone
#print axioms Tang.place_alone
#check @Tang.Polynomial.nope
#print axioms Tang.Polynomial.nope
#check @Tang.Polynomial.either
#print axioms Tang.Polynomial.either
#check @Tang.Polynomial.placed
#print axioms Tang.Polynomial.placed
#check @Tang.Polynomial.both_true
#print axioms Tang.Polynomial.both_true
#check @Tang.Polynomial.order_head
#print axioms Tang.Polynomial.order_head
#check @Tang.Polynomial.order_same
#print axioms Tang.Polynomial.order_same
#check @Tang.Polynomial.compare_same
#print axioms Tang.Polynomial.compare_same
#check @Tang.Polynomial.evM_insert
#print axioms Tang.Polynomial.evM_insert
#check @Tang.Polynomial.evM_times
#print axioms Tang.Polynomial.evM_times
#check @Tang.Polynomial.evT_join
#print axioms Tang.Polynomial.evT_join
#check @Tang.Polynomial.evT_multiply
#print axioms Tang.Polynomial.evT_multiply
#check @Tang.Polynomial.evP_merge
#print axioms Tang.Polynomial.evP_merge
#check @Tang.Polynomial.evP_scale
#print axioms Tang.Polynomial.evP_scale
#check @Tang.Polynomial.evP_product
#print axioms Tang.Polynomial.evP_product
#check @Tang.Polynomial.evP_negate
#print axioms Tang.Polynomial.evP_negate
#check @Tang.Polynomial.evP_cancels
#print axioms Tang.Polynomial.evP_cancels
#check @Tang.Polynomial.same_sound
#print axioms Tang.Polynomial.same_sound
#check @Tang.Polynomial.evP_alone
#print axioms Tang.Polynomial.evP_alone
#check @Tang.Polynomial.evP_absent
#print axioms Tang.Polynomial.evP_absent
#check @Tang.Polynomial.norm_sound
#print axioms Tang.Polynomial.norm_sound
#check @Tang.Polynomial.mix_first
#print axioms Tang.Polynomial.mix_first
#check @Tang.Polynomial.evP_first
#print axioms Tang.Polynomial.evP_first
#check @Tang.Polynomial.evP_second
#print axioms Tang.Polynomial.evP_second
#check @Tang.Polynomial.evP_third
#print axioms Tang.Polynomial.evP_third
#check @Tang.Polynomial.every_sound
#print axioms Tang.Polynomial.every_sound
#check @Tang.Polynomial.below_sound
#print axioms Tang.Polynomial.below_sound
#check @Tang.Polynomial.nth_values
#print axioms Tang.Polynomial.nth_values
#check @Tang.Polynomial.balanced_sound
#print axioms Tang.Polynomial.balanced_sound
#check @Tang.Polynomial.combineBy_eval
#print axioms Tang.Polynomial.combineBy_eval
#check @Tang.Polynomial.associatesAt_sound
#print axioms Tang.Polynomial.associatesAt_sound
#check @Tang.Polynomial.associative_at
#print axioms Tang.Polynomial.associative_at
#check @Tang.Polynomial.associative
#print axioms Tang.Polynomial.associative
#check @Tang.Polynomial.commutative
#print axioms Tang.Polynomial.commutative
#check @Tang.Polynomial.constant_means
#print axioms Tang.Polynomial.constant_means
#check @Tang.Polynomial.identity
#print axioms Tang.Polynomial.identity
#check @Tang.Polynomial.ble_of_le
#print axioms Tang.Polynomial.ble_of_le
#check @Tang.Polynomial.lt_of_not_ble
#print axioms Tang.Polynomial.lt_of_not_ble
#check @Tang.Polynomial.power_add
#print axioms Tang.Polynomial.power_add
#check @Tang.Polynomial.power_mul
#print axioms Tang.Polynomial.power_mul
#check @Tang.Polynomial.digit
#print axioms Tang.Polynomial.digit
#check @Tang.Polynomial.weigh_lower
#print axioms Tang.Polynomial.weigh_lower
#check @Tang.Polynomial.count_lower
#print axioms Tang.Polynomial.count_lower
#check @Tang.Polynomial.height_lower
#print axioms Tang.Polynomial.height_lower
#check @Tang.Polynomial.height_less
#print axioms Tang.Polynomial.height_less
#check @Tang.Polynomial.sumOf_lower
#print axioms Tang.Polynomial.sumOf_lower
#check @Tang.Polynomial.no_height
#print axioms Tang.Polynomial.no_height
#check @Tang.Polynomial.digits
#print axioms Tang.Polynomial.digits
#check @Tang.Polynomial.code_times
#print axioms Tang.Polynomial.code_times
#check @Tang.Polynomial.count_plus
#print axioms Tang.Polynomial.count_plus
#check @Tang.Polynomial.count_each
#print axioms Tang.Polynomial.count_each
#check @Tang.Polynomial.count_times
#print axioms Tang.Polynomial.count_times
#check @Tang.Polynomial.weigh_plus
#print axioms Tang.Polynomial.weigh_plus
#check @Tang.Polynomial.weigh_each
#print axioms Tang.Polynomial.weigh_each
#check @Tang.Polynomial.weigh_times
#print axioms Tang.Polynomial.weigh_times
#check @Tang.Polynomial.apart
#print axioms Tang.Polynomial.apart
#check @Tang.Polynomial.present
#print axioms Tang.Polynomial.present
#check @Tang.Polynomial.within
#print axioms Tang.Polynomial.within
#check @Tang.Polynomial.weaker
#print axioms Tang.Polynomial.weaker
#check @Tang.Polynomial.fits_plus
#print axioms Tang.Polynomial.fits_plus
#check @Tang.Polynomial.fits_each
#print axioms Tang.Polynomial.fits_each
#check @Tang.Polynomial.fits_times
#print axioms Tang.Polynomial.fits_times
#check @Tang.Polynomial.single
#print axioms Tang.Polynomial.single
#check @Tang.Polynomial.worth_plus
#print axioms Tang.Polynomial.worth_plus
#check @Tang.Polynomial.value_times
#print axioms Tang.Polynomial.value_times
#check @Tang.Polynomial.worth_each
#print axioms Tang.Polynomial.worth_each
#check @Tang.Polynomial.worth_times
#print axioms Tang.Polynomial.worth_times
#check @Tang.Polynomial.stands_zero
#print axioms Tang.Polynomial.stands_zero
#check @Tang.Polynomial.stands_one
#print axioms Tang.Polynomial.stands_one
#check @Tang.Polynomial.stands_weaker
#print axioms Tang.Polynomial.stands_weaker
#check @Tang.Polynomial.stands_add
#print axioms Tang.Polynomial.stands_add
#check @Tang.Polynomial.none_counted
#print axioms Tang.Polynomial.none_counted
#check @Tang.Polynomial.le_times
#print axioms Tang.Polynomial.le_times
#check @Tang.Polynomial.stands_nothing
#print axioms Tang.Polynomial.stands_nothing
#check @Tang.Polynomial.stands_mul
#print axioms Tang.Polynomial.stands_mul
#check @Tang.Polynomial.larger_left
#print axioms Tang.Polynomial.larger_left
#check @Tang.Polynomial.larger_right
#print axioms Tang.Polynomial.larger_right
#check @Tang.Polynomial.stands_if
#print axioms Tang.Polynomial.stands_if
#check @Tang.Polynomial.stands_single
#print axioms Tang.Polynomial.stands_single
#check @Tang.Polynomial.ones
#print axioms Tang.Polynomial.ones
#check @Tang.Polynomial.stands_first
#print axioms Tang.Polynomial.stands_first
#check @Tang.Polynomial.stands_second
#print axioms Tang.Polynomial.stands_second
#check @Tang.Polynomial.stands_third
#print axioms Tang.Polynomial.stands_third
#check @Tang.Polynomial.scaled
#print axioms Tang.Polynomial.scaled
#check @Tang.Polynomial.shared
#print axioms Tang.Polynomial.shared
#check @Tang.Polynomial.summed
#print axioms Tang.Polynomial.summed
#check @Tang.Polynomial.whole_degree
#print axioms Tang.Polynomial.whole_degree
#check @Tang.Polynomial.number_stands
#print axioms Tang.Polynomial.number_stands
#check @Tang.Polynomial.number_stands_whole
#print axioms Tang.Polynomial.number_stands_whole
#check @Tang.Polynomial.parted
#print axioms Tang.Polynomial.parted
#check @Tang.Polynomial.sumOf_decoded
#print axioms Tang.Polynomial.sumOf_decoded
#check @Tang.Polynomial.stands_same
#print axioms Tang.Polynomial.stands_same
#check @Tang.Polynomial.split_ble
#print axioms Tang.Polynomial.split_ble
#check @Tang.Polynomial.walk_spec
#print axioms Tang.Polynomial.walk_spec
#check @Tang.Polynomial.locate_spec
#print axioms Tang.Polynomial.locate_spec
#check @Tang.Polynomial.moved_down
#print axioms Tang.Polynomial.moved_down
#check @Tang.Polynomial.moved_right
#print axioms Tang.Polynomial.moved_right
#check @Tang.Polynomial.all_sound
#print axioms Tang.Polynomial.all_sound
#check @Tang.Polynomial.has_inside
#print axioms Tang.Polynomial.has_inside
#check @Tang.Polynomial.first_only
#print axioms Tang.Polynomial.first_only
#check @Tang.Polynomial.nth_row
#print axioms Tang.Polynomial.nth_row
#check @Tang.Polynomial.nth_after_row
#print axioms Tang.Polynomial.nth_after_row
#check @Tang.Polynomial.nth_rows
#print axioms Tang.Polynomial.nth_rows
#check @Tang.Polynomial.nth_after_rows
#print axioms Tang.Polynomial.nth_after_rows
#check @Tang.Polynomial.nth_piece
#print axioms Tang.Polynomial.nth_piece
#check @Tang.Polynomial.nth_beyond
#print axioms Tang.Polynomial.nth_beyond
#check @Tang.Polynomial.variables_sound
#print axioms Tang.Polynomial.variables_sound
#check @Tang.Polynomial.combineBy_piece
#print axioms Tang.Polynomial.combineBy_piece
#check @Tang.Polynomial.combineBy_beyond
#print axioms Tang.Polynomial.combineBy_beyond
#check @Tang.Polynomial.formAt_sound
#print axioms Tang.Polynomial.formAt_sound
#check @Tang.Polynomial.linear_degrees
#print axioms Tang.Polynomial.linear_degrees
#check @Tang.Polynomial.numberAt_stands
#print axioms Tang.Polynomial.numberAt_stands
#check @Tang.Polynomial.linearly_sound
#print axioms Tang.Polynomial.linearly_sound
#check @Tang.Polynomial.downward_sound
#print axioms Tang.Polynomial.downward_sound
#check @Tang.Polynomial.rightward_sound
#print axioms Tang.Polynomial.rightward_sound
#check @Tang.Polynomial.row_of
#print axioms Tang.Polynomial.row_of
#check @Tang.Polynomial.column_of
#print axioms Tang.Polynomial.column_of
#check @Tang.Polynomial.associative_by
#print axioms Tang.Polynomial.associative_by
#check @Tang.Polynomial.nth_repeated
#print axioms Tang.Polynomial.nth_repeated
#check @Tang.Polynomial.nth_after_repeated
#print axioms Tang.Polynomial.nth_after_repeated
#check @Tang.Polynomial.held_sound
#print axioms Tang.Polynomial.held_sound
#check @Tang.Polynomial.keeps_sound
#print axioms Tang.Polynomial.keeps_sound
#check @Tang.Polynomial.identity_by
#print axioms Tang.Polynomial.identity_by
set_option pp.raw true
#check @Tang.and_intro
#check @Tang.if_pos
#check @Tang.if_neg
#check @Tang.dif_pos
#check @Tang.dif_neg
#check @Tang.if_same
#check @Tang.if_congr
#check @Tang.apply_if
#check @Tang.not_not
#check @Tang.decide_true
#check @Tang.decide_false
#check @Tang.Nat.add_zero
#check @Tang.Nat.add_succ
#check @Tang.Nat.zero_add
#check @Tang.Nat.succ_add
#check @Tang.Nat.add_comm
#check @Tang.Nat.add_assoc
#check @Tang.Nat.mul_succ
#check @Tang.Nat.mul_zero
#check @Tang.Nat.succ_mul
#check @Tang.Nat.zero_mul
#check @Tang.Nat.mul_comm
#check @Tang.Nat.mul_add
#check @Tang.Nat.mul_assoc
#check @Tang.Nat.mul_one
#check @Tang.Nat.succ_inj
#check @Tang.Nat.succ_ne_zero
#check @Tang.Nat.add_right_cancel
#check @Tang.Nat.eq_zero_of_add
#check @Tang.Nat.le_refl
#check @Tang.Nat.le_trans
#check @Tang.Nat.zero_le
#check @Tang.Nat.succ_le_succ
#check @Tang.Nat.le_of_succ_le_succ
#check @Tang.Nat.not_succ_le_zero
#check @Tang.Nat.le_add_right
#check @Tang.Nat.le_add_left
#check @Tang.Nat.le_succ
#check @Tang.Nat.lt_succ_self
#check @Tang.Nat.lt_succ_of_lt
#check @Tang.Nat.le_of_lt
#check @Tang.Nat.not_lt_zero
#check @Tang.Nat.lt_irrefl
#check @Tang.Nat.le_antisymm
#check @Tang.Nat.le_total
#check @Tang.Nat.lt_or_ge
#check @Tang.Nat.lt_of_le_of_ne
#check @Tang.Nat.le_of_not_lt
#check @Tang.Nat.not_le_of_lt
#check @Tang.Nat.ne_of_lt
#check @Tang.Nat.le_of_lt_succ
#check @Tang.Nat.add_le_add_left
#check @Tang.Nat.add_lt_add_left
#check @Tang.zero_add
#check @Tang.one_mul
#check @Tang.zero_mul
#check @Tang.add_mul
#check @Tang.add_left_comm
#check @Tang.mul_left_comm
#check @Tang.sub_eq
#check @Tang.neg_add
#check @Tang.add_cancel
#check @Tang.neg_unique
#check @Tang.neg_mul
#check @Tang.sub_self
#check @Tang.sub_add_sub
#check @Tang.sub_zero
#check @Tang.eq_of_sub_eq_zero
#check @Tang.not_le
#check @Tang.le_max_left
#check @Tang.le_max_right
#check @Tang.max_le
#check @Tang.max_comm
#check @Tang.max_assoc
#check @Tang.max_idem
#check @Tang.max_eq_right
#check @Tang.max_eq_left
#check @Tang.min_le_left
#check @Tang.min_le_right
#check @Tang.le_min
#check @Tang.min_comm
#check @Tang.min_assoc
#check @Tang.lt_irrefl
#check @Tang.le_of_lt
#check @Tang.lt_of_lt_of_le
#check @Tang.lt_of_le_of_lt
#check @Tang.lt_trans
#check @Tang.ne_of_lt
#check @Tang.lt_of_le_of_ne
#check @Tang.add_le_add
#check @Tang.sub_nonneg
#check @Tang.le_of_sub_nonneg
#check @Tang.le_of_add_le_add_right
#check @Tang.mul_le_mul_right
#check @Tang.mul_le_mul_left
#check @Tang.max_add
#check @Tang.add_max
#check @Tang.mul_cancel
#check @Tang.exp_ne_zero
#check @Tang.exp_zero
#check @Tang.exp_chain
#check @Tang.exp_neg
#check @Tang.Ring.cond_elim
#check @Tang.Ring.evM_insVar
#check @Tang.Ring.evM_mul
#check @Tang.Ring.evP_insMono
#check @Tang.Ring.evP_add
#check @Tang.Ring.evP_mulMono
#check @Tang.Ring.evP_mul
#check @Tang.Ring.neg_add_distrib
#check @Tang.Ring.neg_neg
#check @Tang.Ring.mul_neg
#check @Tang.Ring.sub_add_comm
#check @Tang.Ring.sub_mul_sub
#check @Tang.Ring.sub_eq_neg_sub
#check @Tang.Ring.sound
#check @Tang.Ring.natEq
#check @Tang.Ring.cond_and
#check @Tang.Ring.eqL_sound
#check @Tang.Ring.eqP_sound
#check @Tang.Ring.sub_eq_sub
#check @Tang.Ring.check_sound
#check @Tang.Ring.soundS
#check @Tang.ring_eq
#check @Tang.semiring_eq
#check @Tang.sum_zero
#check @Tang.sum_succ
#check @Tang.sum_congr
#check @Tang.sum_map_map
#check @Tang.sum_const_zero
#check @Tang.sum_add
#check @Tang.sum_mul_left
#check @Tang.sum_mul_right
#check @Tang.sum_linear
#check @Tang.sum_split
#check @Tang.sum_comm
#check @Tang.sum_tile
#check @Tang.matmul_tile
#check @Tang.sum_if_lt
#check @Tang.sum_single
#check @Tang.sum_neg
#check @Tang.sum_sub
#check @Tang.div_eq
#check @Tang.mul_ne_zero
#check @Tang.div_mul_cancel
#check @Tang.div_unique
#check @Tang.div_common
#check @Tang.add_div
#check @Tang.mul_div
#check @Tang.div_self
#check @Tang.mul_pos
#check @Tang.add_pos
#check @Tang.sum_nonneg
#check @Tang.sum_pos
#check @Tang.sum_div
#check @Tang.neg_le_neg
#check @Tang.zero_le_one
#check @Tang.square_nonneg
#check @Tang.sum_rescale
#check @Tang.sum_exp_rescale
#check @Tang.sum_exp_ne_zero
#check @Tang.fold_zero
#check @Tang.fold_succ
#check @Tang.fold_congr
#check @Tang.sum_eq_fold
#check @Tang.fold_append
#check @Tang.fold_start
#check @Tang.fold_split
#check @Tang.fold_split_semigroup
#check @Tang.fold_tile
#check @Tang.fold_pair
#check @Tang.fold_identity
#check @Tang.fold_comm
#check @Tang.fold_perm
#check @Tang.fold_where
#check @Tang.foldWhere_congr
#check @Tang.fold_hom
#check @Tang.pair_eq
#check @Tang.both_assoc
#check @Tang.both_comm
#check @Tang.both_identity
#check @Tang.fold_both
#check @Tang.map_reduce
#check @Tang.epilogue
#check @Tang.add_assoc_law
#check @Tang.mul_assoc_law
#check @Tang.max_assoc_law
#check @Tang.min_assoc_law
#check @Tang.or_assoc_law
#check @Tang.and_assoc_law
#check @Tang.add_comm_law
#check @Tang.mul_comm_law
#check @Tang.max_comm_law
#check @Tang.min_comm_law
#check @Tang.or_comm_law
#check @Tang.and_comm_law
#check @Tang.tree_fold
#check @Tang.orElse_assoc
#check @Tang.orElse_comm
#check @Tang.orElse_identity
#check @Tang.optional_right
#check @Tang.optional_left
#check @Tang.optional_both
#check @Tang.optional_assoc
#check @Tang.optional_comm
#check @Tang.Soft.ext
#check @Tang.softmax_comm
#check @Tang.rescale_assoc
#check @Tang.softmax_assoc
#check @Tang.top_ge
#check @Tang.top_le
#check @Tang.online_m
#check @Tang.online_a
#check @Tang.online_l
#check @Tang.weighted_shift
#check @Tang.online_two_pass
#check @Tang.online_naive
#check @Tang.logSum_of_softmax
#check @Tang.logSum_assoc
#check @Tang.logSum_comm
#check @Tang.logsumexp_shift
#check @Tang.online_logsumexp
#check @Tang.Best.ext
#check @Tang.argBest_best
#check @Tang.argBest_at'
#check @Tang.argBest_max
#check @Tang.argBest_assoc
#check @Tang.argBest_comm
#check @Tang.argmax_assoc
#check @Tang.argmax_comm
#check @Tang.neg_injective
#check @Tang.argmin_assoc
#check @Tang.argmin_comm
#check @Tang.argOrNone_best
#check @Tang.argOrNone_at'
#check @Tang.argOrNone_assoc
#check @Tang.argOrNone_present
#check @Tang.argOrNone_comm
#check @Tang.argmax_or_none_comm
#check @Tang.argmin_or_none_comm
#check @Tang.argmax_or_none_assoc
#check @Tang.argmin_or_none_assoc
#check @Tang.argFold_best
#check @Tang.argFold_le
#check @Tang.argFold_first
#check @Tang.argFold_least
#check @Tang.argFold_top
#check @Tang.sum_le_sum
#check @Tang.weak_duality
#check @Tang.optimal_of_equal
#check @Tang.numeral_add
#check @Tang.numeral_mul
#check @Tang.add_nonneg
#check @Tang.numeral_nonneg
#check @Tang.le_of_slack
#check @Tang.le_of_ble
#check @Tang.and_left
#check @Tang.and_right
#check @Tang.value_plus
#check @Tang.value_times
#check @Tang.value_zero
#check @Tang.numeral_le
#check @Tang.value_below
#check @Tang.along_none
#check @Tang.along_plus
#check @Tang.along_times
#check @Tang.combined_holds
#check @Tang.along_below
#check @Tang.certificate_dual
#check @Tang.numeral_succ_pos
#check @Tang.numeral_succ_ne
#check @Tang.inv_nonneg_of
#check @Tang.pointOf_nonneg
#check @Tang.along_pointOf
#check @Tang.le_of_scaled
#check @Tang.certificate_primal
#check @Tang.certificate
#check @Tang.certificate_value
#check @Tang.view_comp
#check @Tang.view_comp_assoc
#check @Tang.read_copy
#check @Tang.guarded_comp
#check @Tang.guarded_map
#check @Tang.guarded_inside
#check @Tang.gather_map
#check @Tang.sum_padded
#check @Tang.related
#check @Tang.Dual.ext
#check @Tang.dual_add
#check @Tang.dual_mul
#check @Tang.dual_sum_re
#check @Tang.dual_sum
#check @Tang.dual_linear
#check @Tang.grad_sum
#check @Tang.grad_gather
#check @Tang.grad_gather_segment
#check @Tang.degree_quotient
#check @Tang.cotangent_cancels
#check @Tang.shift_gradient
#check @Tang.shift_stop
#check @Tang.degree_const
#check @Tang.degree_add
#check @Tang.degree_mul
#check @Tang.degree_sum
#check @Tang.degree_none
#check @Tang.flash_backward
#check @Tang.dualDiv_mul
#check @Tang.dual_cancel
#check @Tang.dualDiv_common
#check @Tang.degree_div
#check @Tang.dualExp_add
#check @Tang.degree_exp
#check @Tang.softmax_shift
#check @Tang.reference_gradient
#check @Tang.softmax_tangent
#check @Tang.softmax_backward
#check @Tang.softmax_backward_entry
#check @Tang.attention_backward
#check @Tang.attention_delta
#check @Tang.Diff.ext
#check @Tang.Diff.refl
#check @Tang.Diff.symm
#check @Tang.Diff.trans
#check @Tang.Diff.add_same
#check @Tang.Diff.mul_comm
#check @Tang.Diff.mul_left_same
#check @Tang.Diff.mul_same
#check @Tang.Diff.neg_same
#check @Tang.Z.exact
#check @Tang.Z.ind
#check @Tang.Z.ofNat_add
#check @Tang.Z.ofNat_mul
#check @Tang.Z.ofNat_inj
#check @Tang.Z.nonNeg_mk
#check @Tang.Z.total
#check @Tang.Z.test_iff
#check @Tang.Z.test_false
#check @Tang.Z.ofNat_pointed
#check @Tang.Z.pos_mul
#check @Tang.Z.pos_one
#check @Tang.Z.nat_mul_cancel
#check @Tang.Z.mul_cancel
#check @Tang.Z.square_pos
#check @Tang.Frac.ext
#check @Tang.Frac.refl
#check @Tang.Frac.symm
#check @Tang.Frac.trans
#check @Tang.Frac.add_same
#check @Tang.Frac.mul_same
#check @Tang.Frac.neg_same
#check @Tang.Frac.zero_same
#check @Tang.Frac.inv_same
#check @Tang.Q.exact
#check @Tang.Q.ind
#check @Tang.Q.nonNeg_mk
#check @Tang.Q.two_add
#check @Tang.Q.two_pos
#check @Tang.scan_chunk
#check @Tang.Step.ext
#check @Tang.affine_assoc
#check @Tang.affine_identity
#check @Tang.affine_fold
#check @Tang.affine_chunk
#check @Tang.between_self
#check @Tang.between_succ
#check @Tang.sum_recurrence
#check @Tang.append_assoc
#check @Tang.take_cons
#check @Tang.take_idem
#check @Tang.insert_le
#check @Tang.insert_gt
#check @Tang.insert_comm
#check @Tang.merge_insert
#check @Tang.insert_merge
#check @Tang.sort_append
#check @Tang.merge_sort
#check @Tang.merge_comm_sort
#check @Tang.descending_insert
#check @Tang.descending_sort
#check @Tang.insert_head
#check @Tang.sort_descending
#check @Tang.descending_take
#check @Tang.take_insert
#check @Tang.take_merge
#check @Tang.topMerge_append
#check @Tang.topMerge_assoc
#check @Tang.topMerge_comm
#check @Tang.perm_refl
#check @Tang.perm_insert
#check @Tang.perm_sort
#check @Tang.mem_le
#check @Tang.mem_drop
#check @Tang.topK_largest
#check @Tang.append_take
#check @Tang.take_full
#check @Tang.topMerge_largest
#check @Tang.nonneg_of_double
#check @Tang.cauchy_schwarz
#check @Tang.cauchy_schwarz_sum
#check @Tang.cauchy_schwarz_box
#check @Tang.loomis_whitney_weighted
#check @Tang.one_if_square
#check @Tang.one_if_nonneg
#check @Tang.one_if_le
#check @Tang.card_nonneg
#check @Tang.card_le
#check @Tang.squares_le
#check @Tang.loomis_whitney
#check @Tang.product_bound
#check @Tang.box_bound
#check @Tang.traffic_bound
#check @Tang.traffic_loomis_whitney
#check @Tang.Moments.ext
#check @Tang.welford_left
#check @Tang.welford_right
#check @Tang.moments_of_sums
#check @Tang.welford_total
#check @Tang.welford_squares
#check @Tang.add_ne_zero
#check @Tang.welford_assoc
#check @Tang.count_sum
#check @Tang.welford_counts
#check @Tang.counted_nothing
#check @Tang.counted_some
#check @Tang.welford_counted
#check @Tang.counted_empty
#check @Tang.welford_comm
#check @Tang.welford_identity
#check @Tang.one_ne_zero
#check @Tang.count_nonneg
#check @Tang.welfordFold_n
#check @Tang.count_ne_zero
#check @Tang.welfordFold_sums
#check @Tang.welford_mean
#check @Tang.welford_m2
#check @Tang.Lattice.evalL_cons
#check @Tang.Lattice.push_push
#check @Tang.Lattice.push_self
#check @Tang.Lattice.evalL_ins
#check @Tang.Lattice.push_append
#check @Tang.Lattice.evalL_norm
#check @Tang.Lattice.sound
#check @Tang.max_eq
#check @Tang.min_idem
#check @Tang.min_eq
#check @Tang.min_add
#check @Tang.add_min
#check @Tang.cofactor
#check @Tang.eq_of_cofactors
#check @Tang.add_zeros
#check @Tang.sign_add
#check @Tang.sign_max_left
#check @Tang.sign_max_right
#check @Tang.sign_if
#check @Tang.sign_neg
#check @Tang.sign_abs
#check @Tang.sign_square
#check @Tang.sign_one
#check @Tang.positive_one
#check @Tang.positive_add
#check @Tang.foldWhere_until
#check @Tang.foldWhere_true
#check @Tang.foldWhere_le
#check @Tang.foldWhere_lt
#check @Tang.divided_last
#check @Tang.divided_inside
#check @Tang.quotient_inside
#check @Tang.remainder_inside
#check @Tang.quotient_spec
#check @Tang.quotient_succ
#check @Tang.add_sub_self
#check @Tang.lt_of_mul_lt
#check @Tang.scan_at
#check @Tang.sorted_le
#check @Tang.sorted_lt
#check @Tang.ends_in
#check @Tang.ends_out
#check @Tang.ends_spec
#check @Tang.restarted
#check @Tang.segment_at
#check @Tang.beats_iff
#check @Tang.listSum_append
#check @Tang.listSum_perm
#check @Tang.listSum_congr
#check @Tang.listSum_zero
#check @Tang.atRank_take
#check @Tang.take_nil
#check @Tang.listSum_entries
#check @Tang.mem_insert
#check @Tang.strict_insert
#check @Tang.listSum_rank
#check @Tang.perm_merge
#check @Tang.above_append
#check @Tang.merge_rank
#check @Tang.sort_entries
#check @Tang.mem_entries
#check @Tang.strict_entries
#check @Tang.earlier_iff
#check @Tang.topK_one
#check @Tang.topFold_sort
#check @Tang.rank_topFold
#check @Tang.simplify_expr
#check @Tang.common_subexpression
#check @Tang.compose_views
#check @Tang.substitute_maps
#check @Tang.dead_node
#check @Tang.dead_output
#check @Tang.merge_siblings
#check @Tang.dead_part
#check @Tang.gate_to_where
#check @Tang.zero_gate_to_where
#check @Tang.chunk_scan
#check @Tang.add_identity
#check @Tang.mul_identity
#check @Tang.hoist_invariant_factors
#check @Tang.merge_dims
#check @Tang.recognise_scan
#check @Tang.segment_sum
#check @Tang.welford
#check @Tang.read_back_mean
#check @Tang.stop_max_gradient
#check @Tang.stabilize_softmax
#check @Tang.shift_softmax
#check @Tang.shift_softmax_zero
#check @Tang.logFold_online
#check @Tang.read_back_mass
#check @Tang.read_back_mass_softmax
#check @Tang.logsumexp
#check @Tang.logsumexp_plain
#check @Tang.bottom_le
#check @Tang.le_bottom
#check @Tang.argmax
#check @Tang.gather_at_argmax
#check @Tang.read_back
#check @Tang.read_back_softmax
#check @Tang.top_k
#check @Tang.Two.double_succ
#check @Tang.Two.odd_ne_even
#check @Tang.Two.double_inj
#check @Tang.Two.form_unique
#check @Tang.Two.form_mul
#check @Tang.Two.form_halvings
#check @Tang.Two.valuation_form
#check @Tang.Two.valuation_mul
#check @Tang.Two.valuation_two
#check @Tang.Two.sub_succ_succ
#check @Tang.Two.sub_add
#check @Tang.Two.sub_same
#check @Tang.Two.zero_sub
#check @Tang.Two.size_nat
#check @Tang.Two.size_neg
#check @Tang.Two.size_mul_nat
#check @Tang.Two.size_mul
#check @Tang.Two.size_zero
#check @Tang.Two.size_pos
#check @Tang.Two.size_ne
#check @Tang.Two.mul_ne_zero
#check @Tang.Two.valuation_size_mul
#check @Tang.Two.ofFrac_zero
#check @Tang.Two.ofFrac_some
#check @Tang.Two.ofFrac_same
#check @Tang.Two.log_mul
#check @Tang.power_nonneg
#check @Tang.one_pos
#check @Tang.power_pos
#check @Tang.power_mul
#check @Tang.power_add
#check @Tang.mul_le_mul
#check @Tang.mul_lt_mul_left
#check @Tang.le_of_mul_le
#check @Tang.power_le
#check @Tang.power_lt
#check @Tang.le_of_power
#check @Tang.lt_of_power
#check @Tang.zero_of_power
#check @Tang.numeral_pos
#check @Tang.bernoulli
#check @Tang.mean_step
#check @Tang.listTotal_nonneg
#check @Tang.means
#check @Tang.inv_nonneg
#check @Tang.joint_nonneg
#check @Tang.full_or_zero
#check @Tang.low_shares
#check @Tang.high_shares
#check @Tang.shares_total
#check @Tang.length_low
#check @Tang.length_high
#check @Tang.low_nonneg
#check @Tang.high_nonneg
#check @Tang.share_bound
#check @Tang.share_weak
#check @Tang.share_strict
#check @Tang.add_lt_add
#check @Tang.superadditive
#check @Tang.items_low
#check @Tang.items_high
#check @Tang.items_joint
#check @Tang.items_pairs
#check @Tang.items_nonneg
#check @Tang.pieceSum_nonneg
#check @Tang.holder
#check @Tang.sums_nonneg
#check @Tang.sumIf_nonneg
#check @Tang.sumsOver_nonneg
#check @Tang.moved_agree
#check @Tang.sumsOver_depends
#check @Tang.sumsOver_still
#check @Tang.pieceOf_at
#check @Tang.pieceOf_sum
#check @Tang.pieceOf_nonneg
#check @Tang.pieceOf_count
#check @Tang.pieces_at
#check @Tang.pieces_sum
#check @Tang.pieces_nonneg
#check @Tang.pieces_count
#check @Tang.weighted_cover
#check @Tang.power_one_if
#check @Tang.holds_product
#check @Tang.product_nonneg
#check @Tang.loomis_whitney_cover
#check @Tang.product_le
#check @Tang.ones_at
#check @Tang.ones_sum
#check @Tang.ones_count
#check @Tang.ones_nonneg
#check @Tang.traffic_cover
#check @Tang.or_iff
#check @Tang.one_if_or
#check @Tang.sumIf_le
#check @Tang.sumsOver_le
#check @Tang.available_most
#check @Tang.traffic_loads
#check @Tang.firsts_succ
#check @Tang.firsts_place
#check @Tang.concat_left
#check @Tang.not_add_lt
#check @Tang.concat_right
#check @Tang.firsts_congr
#check @Tang.firsts_concat
#check @Tang.untag_append
#check @Tang.untag_entries
#check @Tang.untag_le
#check @Tang.descending_untag
#check @Tang.untag_insert
#check @Tang.untag_sort
#check @Tang.atRank_untag
#check @Tang.rank_firsts
#check @Tang.count_all
#check @Tang.count_below
#check @Tang.own_rank
#check @Tang.left_rank
#check @Tang.right_rank
#check @Tang.merged_rank
#check @Tang.none_counted
#check @Tang.found_or
#check @Tang.atRank_one
#check @Tang.size_perm
#check @Tang.size_append
#check @Tang.size_firsts
#check @Tang.chosen_rank
#check @Tang.minus_one
#check @Tang.present_some
#check @Tang.rightFirst_iff
#check @Tang.leftFirst_iff
#check @Tang.rankPick_sorted
#check @Tang.place_mem
#check @Tang.place_far
#check @Tang.place_falls
#check @Tang.atRank_place
#check @Tang.size_take
#check @Tang.take_all
#check @Tang.mem_take
#check @Tang.mem_merge
#check @Tang.present_place
#check @Tang.apart_none
#check @Tang.apart_place
#check @Tang.topK_held
#check @Tang.rankPick_merge
#check @Tang.merge_held
#check @Tang.held_assoc
#check @Tang.held_comm
#check @Tang.mem_nothing
#check @Tang.nothing_falls
#check @Tang.nothing_size
#check @Tang.nothing_held
#check @Tang.take_nones
#check @Tang.take_insert_none
#check @Tang.size_insert
#check @Tang.take_merge_nothing
#check @Tang.held_identity
#check @Tang.alone_held
#check @Tang.place_nothing
#check @Tang.place_alone
#check @Tang.Polynomial.nope
#check @Tang.Polynomial.either
#check @Tang.Polynomial.placed
#check @Tang.Polynomial.both_true
#check @Tang.Polynomial.order_head
#check @Tang.Polynomial.order_same
#check @Tang.Polynomial.compare_same
#check @Tang.Polynomial.evM_insert
#check @Tang.Polynomial.evM_times
#check @Tang.Polynomial.evT_join
#check @Tang.Polynomial.evT_multiply
#check @Tang.Polynomial.evP_merge
#check @Tang.Polynomial.evP_scale
#check @Tang.Polynomial.evP_product
#check @Tang.Polynomial.evP_negate
#check @Tang.Polynomial.evP_cancels
#check @Tang.Polynomial.same_sound
#check @Tang.Polynomial.evP_alone
#check @Tang.Polynomial.evP_absent
#check @Tang.Polynomial.norm_sound
#check @Tang.Polynomial.mix_first
#check @Tang.Polynomial.evP_first
#check @Tang.Polynomial.evP_second
#check @Tang.Polynomial.evP_third
#check @Tang.Polynomial.every_sound
#check @Tang.Polynomial.below_sound
#check @Tang.Polynomial.nth_values
#check @Tang.Polynomial.balanced_sound
#check @Tang.Polynomial.combineBy_eval
#check @Tang.Polynomial.associatesAt_sound
#check @Tang.Polynomial.associative_at
#check @Tang.Polynomial.associative
#check @Tang.Polynomial.commutative
#check @Tang.Polynomial.constant_means
#check @Tang.Polynomial.identity
#check @Tang.Polynomial.ble_of_le
#check @Tang.Polynomial.lt_of_not_ble
#check @Tang.Polynomial.power_add
#check @Tang.Polynomial.power_mul
#check @Tang.Polynomial.digit
#check @Tang.Polynomial.weigh_lower
#check @Tang.Polynomial.count_lower
#check @Tang.Polynomial.height_lower
#check @Tang.Polynomial.height_less
#check @Tang.Polynomial.sumOf_lower
#check @Tang.Polynomial.no_height
#check @Tang.Polynomial.digits
#check @Tang.Polynomial.code_times
#check @Tang.Polynomial.count_plus
#check @Tang.Polynomial.count_each
#check @Tang.Polynomial.count_times
#check @Tang.Polynomial.weigh_plus
#check @Tang.Polynomial.weigh_each
#check @Tang.Polynomial.weigh_times
#check @Tang.Polynomial.apart
#check @Tang.Polynomial.present
#check @Tang.Polynomial.within
#check @Tang.Polynomial.weaker
#check @Tang.Polynomial.fits_plus
#check @Tang.Polynomial.fits_each
#check @Tang.Polynomial.fits_times
#check @Tang.Polynomial.single
#check @Tang.Polynomial.worth_plus
#check @Tang.Polynomial.value_times
#check @Tang.Polynomial.worth_each
#check @Tang.Polynomial.worth_times
#check @Tang.Polynomial.stands_zero
#check @Tang.Polynomial.stands_one
#check @Tang.Polynomial.stands_weaker
#check @Tang.Polynomial.stands_add
#check @Tang.Polynomial.none_counted
#check @Tang.Polynomial.le_times
#check @Tang.Polynomial.stands_nothing
#check @Tang.Polynomial.stands_mul
#check @Tang.Polynomial.larger_left
#check @Tang.Polynomial.larger_right
#check @Tang.Polynomial.stands_if
#check @Tang.Polynomial.stands_single
#check @Tang.Polynomial.ones
#check @Tang.Polynomial.stands_first
#check @Tang.Polynomial.stands_second
#check @Tang.Polynomial.stands_third
#check @Tang.Polynomial.scaled
#check @Tang.Polynomial.shared
#check @Tang.Polynomial.summed
#check @Tang.Polynomial.whole_degree
#check @Tang.Polynomial.number_stands
#check @Tang.Polynomial.number_stands_whole
#check @Tang.Polynomial.parted
#check @Tang.Polynomial.sumOf_decoded
#check @Tang.Polynomial.stands_same
#check @Tang.Polynomial.split_ble
#check @Tang.Polynomial.walk_spec
#check @Tang.Polynomial.locate_spec
#check @Tang.Polynomial.moved_down
#check @Tang.Polynomial.moved_right
#check @Tang.Polynomial.all_sound
#check @Tang.Polynomial.has_inside
#check @Tang.Polynomial.first_only
#check @Tang.Polynomial.nth_row
#check @Tang.Polynomial.nth_after_row
#check @Tang.Polynomial.nth_rows
#check @Tang.Polynomial.nth_after_rows
#check @Tang.Polynomial.nth_piece
#check @Tang.Polynomial.nth_beyond
#check @Tang.Polynomial.variables_sound
#check @Tang.Polynomial.combineBy_piece
#check @Tang.Polynomial.combineBy_beyond
#check @Tang.Polynomial.formAt_sound
#check @Tang.Polynomial.linear_degrees
#check @Tang.Polynomial.numberAt_stands
#check @Tang.Polynomial.linearly_sound
#check @Tang.Polynomial.downward_sound
#check @Tang.Polynomial.rightward_sound
#check @Tang.Polynomial.row_of
#check @Tang.Polynomial.column_of
#check @Tang.Polynomial.associative_by
#check @Tang.Polynomial.nth_repeated
#check @Tang.Polynomial.nth_after_repeated
#check @Tang.Polynomial.held_sound
#check @Tang.Polynomial.keeps_sound
#check @Tang.Polynomial.identity_by
