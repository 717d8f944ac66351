"""Reverse-mode automatic differentiation: gradients are programs.

Re-exports `grad`, `gradient` and `Gradient`. Relies on `tang.ir` alone. The derivatives are checked
elsewhere: against dual numbers by `tang.verify.gradient`, against mpmath in the tests.
"""

from tang.autodiff.reverse import Gradient, grad, gradient

__all__ = ["Gradient", "grad", "gradient"]
