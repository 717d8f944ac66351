"""tang: a verification-first tensor compiler; `import tang as tg`.

Offers the language (`tang.frontend`), the errors, and, loaded on first use, the packages around
it and the compiler. Relies on nothing outside tang at import time but NumPy. It holds no code but
for finding these packages: in a checkout, which hides an installed tang from whatever is run there,
some lie beside this folder.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tang import errors, frontend
from tang.errors import (
    BudgetError,
    DeviceError,
    FormatError,
    GraphError,
    LimitError,
    ProofError,
    RewriteError,
    ScheduleError,
    TangError,
)
from tang.frontend import *  # noqa: F403 - the language is this package's surface

if TYPE_CHECKING:
    from tang.api import Program, compile
    from tang.autodiff import grad
    from tang.rewrite import rewrite

_ON_USE: Final = {
    "compile": "tang.api",
    "Program": "tang.api",
    "grad": "tang.autodiff",
    "certify": "tang.budget",
    "emulate": "tang.budget",
    "from_torch": "tang.budget",
    "tune_precision": "tang.budget",
}
_PACKAGES: Final = frozenset(
    {
        "api",
        "autodiff",
        "budget",
        "emulator",
        "fuzz",
        "interpreter",
        "ir",
        "kernel",
        "models",
        "proofs",
        "rewrite",
        "schedule",
        "testing",
        "verify",
    }
)

__all__ = [
    "BudgetError",
    "DeviceError",
    "FormatError",
    "GraphError",
    "LimitError",
    "Program",
    "ProofError",
    "RewriteError",
    "ScheduleError",
    "TangError",
    "compile",
    "errors",
    "grad",
    "rewrite",
    *frontend.__all__,
]


def _beside() -> list[str]:
    """The folder that holds this one where packages lie in it, as in a checkout."""
    here = Path(__file__).parent
    apart = not (here / "verify").exists() and (here.parent / "verify" / "__init__.py").exists()
    return [str(here.parent)] if apart else []


__path__ += _beside()  # noqa: F405 - every package has one


def __getattr__(name: str) -> Any:  # noqa: ANN401 - modules and functions alike
    """Load a package of tang, or a function of the compiler, when it is first named."""
    if name in _PACKAGES:
        return import_module(f"tang.{name}")
    if name in _ON_USE:
        return getattr(import_module(_ON_USE[name]), name)
    raise AttributeError(f"module 'tang' has no attribute {name!r}")
