"""Reverse-mode automatic differentiation: gradients are programs.

Re-exports `grad`, `gradient`, `Gradient` and `gradient_name`. Relies on `tang.ir` alone. It is
checked elsewhere: against dual numbers by `tang.verify.gradient`, against differences in the tests.
"""

from tang.autodiff.reverse import Gradient, grad, gradient, gradient_name

__all__ = ["Gradient", "grad", "gradient", "gradient_name"]
