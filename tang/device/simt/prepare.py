"""Line-preserving edits that let g++ read CUDA and MSL text.

Defines `prepare`. Relies on regular expressions over the text as it stands: dynamic shared arrays
get the runtime's memory, threadgroup arrays become shared, includes of what is always there
disappear. Every line keeps its number; nothing is renamed and no statement changes.
"""

from __future__ import annotations

import re
from typing import Final

PROVIDED: Final = frozenset(
    {
        "cuda_fp16.h", "cuda_bf16.h", "cooperative_groups.h", "cooperative_groups/reduce.h",
        "cuda_pipeline.h", "cuda_pipeline_primitives.h", "mma.h",
    }
)  # fmt: skip
"""Headers that exist in `include/`."""

BUILT_IN: Final = frozenset(
    {
        "cuda.h", "cuda_runtime.h", "cuda_runtime_api.h", "device_launch_parameters.h",
        "vector_types.h", "vector_functions.h", "math_constants.h", "sm_30_intrinsics.h",
        "math.h", "cmath", "stdint.h", "cstdint", "stddef.h", "cstddef", "float.h", "cfloat",
        "limits.h", "climits", "stdio.h", "cstdio", "assert.h", "cassert",
        "metal_stdlib", "metal_math", "metal_atomic", "metal_compute", "metal_simdgroup",
        "metal_simdgroup_matrix", "metal_common", "metal_integer", "metal_types",
    }
)  # fmt: skip
"""Headers whose contents kernel text has without including anything."""

_INCLUDE: Final = re.compile(r"^([ \t]*)#[ \t]*include[ \t]*[<\"]([^>\"]+)[>\"]", re.MULTILINE)
_EXTERN_SHARED: Final = re.compile(r"\bextern\s+__shared__\s+([^;=]*?\[\s*\])\s*;")
_THREADGROUP_BUFFER: Final = re.compile(r"\[\[\s*threadgroup\s*\(")
_THREADGROUP_ARRAY: Final = re.compile(r"\bthreadgroup(?=\s+[\w\s<>,:]+?\s\w+\s*[\[;])")
_CONSTANT_CONST: Final = re.compile(r"\b(?:constant(\s+)const|const(\s+)constant)\b")


def prepare(text: str, language: str) -> str:
    """The text as the headers expect it, in ASCII, line for line."""
    text = text.encode("ascii", "replace").decode("ascii")
    text = _INCLUDE.sub(lambda m: m[1] if m[2] in BUILT_IN else m[0], text)
    return _cuda(text) if language == "cuda" else _metal(text)


def _cuda(text: str) -> str:
    return _EXTERN_SHARED.sub(r'extern \1 __asm__("simt_dynamic_memory");', text)


def _metal(text: str) -> str:
    text = _THREADGROUP_BUFFER.sub("[[simt_threadgroup(", text)
    text = _THREADGROUP_ARRAY.sub("SIMT_SHARED", text)
    return _CONSTANT_CONST.sub(lambda m: f"constant{m[1] or m[2]}", text)


def without_comments(text: str) -> str:
    """The text with comments replaced by spaces, line for line."""
    pattern = r"//[^\n]*|/\*.*?\*/"
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.DOTALL)
