"""What SIMT's `<mma.h>` computes, written from the models of tensor cores.

Defines `matrix_lines`. Relies on `tang.ir.tensorcore`, whose numbers it hands to
`include/simt_fused_dot.h` as one macro, so that they are written down once. It knows no shapes of
fragments and no memory: `include/mma.h` does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from tang.device.simt.prepare import without_comments
from tang.errors import FormatError
from tang.ir.format import any_format
from tang.ir.tensorcore import WMMA, FusedDot

_OPERANDS: Final = {
    "f16": "__half",
    "bf16": "__nv_bfloat16",
    "tf32": "nvcuda::wmma::precision::tf32",
}
_RESULTS: Final = {"f32": ("float", "rz"), "f16": ("__half", "rne")}
_INCLUDE: Final = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]mma\.h[>\"]", re.MULTILINE)


def matrix_lines(text: str, models: Mapping[tuple[str, str], FusedDot] = WMMA) -> str:
    """The macro that `<mma.h>` expects before it; nothing for a text that does not include it."""
    if _INCLUDE.search(without_comments(text)) is None:
        return ""
    rows = " ".join(f"ROW({', '.join(_row(model))})" for model in models.values())
    return f"#define SIMT_FUSED_DOTS(ROW) {rows}\n"


def _row(model: FusedDot) -> Iterator[str]:
    """The columns of SIMT_FUSED_DOT; raises FormatError for what the header does not compute."""
    result, rounding = _RESULTS.get(model.output, ("", ""))
    terms = len(model.groups[0])
    runs = tuple(tuple(range(i, i + terms)) for i in range(0, model.k, terms))
    if model.operands not in _OPERANDS or model.rounding != rounding or not model.joined:
        raise FormatError(f"SIMT has no fragments for {' '.join(model.key)}")
    if model.fraction is None or model.groups != runs or model.computed != model.operands:
        raise FormatError(f"SIMT adds runs of truncated terms, unlike {' '.join(model.key)}")
    yield _OPERANDS[model.operands]
    yield result
    yield f"{terms}, {model.fraction}, {model.floor}"
    yield f"{any_format(model.computed).emin}, {any_format(model.result).emin}"
    yield f"{int(model.truncated)}, {model.nan:#x}"
