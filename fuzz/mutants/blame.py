"""Blame: which kernels of a case a mutant harms.

Defines `emitted` and `harmed`. Relies on lowering, which mutants of emitters and devices leave
alone, and on texts that a worker with the mutant emitted. It reads no finding.
"""

from __future__ import annotations

from collections.abc import Mapping

from tang.emit.unit import emit
from tang.errors import DeviceError, LimitError
from tang.fuzz.case import Case
from tang.fuzz.mutants.apply import Mutant
from tang.kernel.expand import expand_math, pack_codes
from tang.kernel.ir import Kernel
from tang.kernel.lower import lower


def kernels(case: Case) -> list[Kernel]:
    """The kernels of a case, as devices are given them."""
    plan = pack_codes(expand_math(lower(case.graph, case.schedule)))
    return [launch.kernel for launch in plan.launches]


def emitted(case: Case, language: str) -> dict[str, str]:
    """Kernel name → its text in a language, "" where that cannot say it."""
    return {k.name: _text(k, language) for k in kernels(case)}


def harmed(mutant: Mutant, case: Case, language: str, texts: Mapping[str, str]) -> set[str]:
    """Names of the kernels that the mutant can harm in this case.

    texts  what `emitted` gave where the mutant was planted
    """
    able = {k.name for k in kernels(case) if mutant.where is None or mutant.where(k)}
    right = emitted(case, language)
    changed = {name for name, text in right.items() if texts.get(name) != text}
    return able & changed if changed else able


def _text(kernel: Kernel, language: str) -> str:
    try:
        return emit(kernel, language)
    except (DeviceError, LimitError):
        return ""
