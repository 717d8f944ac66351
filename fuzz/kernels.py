"""The kernels of a case as text, for findings.

Defines `kernel_texts`. Relies on lowering, expand-math and the C emitter, any of which may be the
culprit: what cannot be made is left out with the reason in its place. It runs nothing.
"""

from __future__ import annotations

from tang.emit.unit import emit
from tang.fuzz.case import Case
from tang.ir.bind import bind
from tang.kernel.expand import expand_math, pack_codes
from tang.kernel.lower import lower
from tang.kernel.text import kernel_text


def kernel_texts(case: Case) -> dict[str, str]:
    """File name → text: every kernel as IR and as C, or why there is none."""
    texts: dict[str, str] = {}
    try:
        plan = pack_codes(expand_math(lower(bind(case.graph, case.sizes), case.schedule)))
        for launch in plan.launches:
            texts[f"{launch.kernel.name}.kernel.txt"] = kernel_text(launch.kernel)
            texts[f"{launch.kernel.name}.c"] = emit(launch.kernel, "c")
    except Exception as e:  # noqa: BLE001 - the suspect itself runs here; its failure is the text
        texts["no_kernels.txt"] = f"{type(e).__name__}: {e}\n"
    return texts
