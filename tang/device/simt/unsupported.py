"""What of CUDA and MSL does not run on the CPU, found in a text by its line.

Defines `unsupported`. Relies on patterns over the text without comments, strings and regions that
only a device compiles; a table row is a pattern and its reason. What no row names may still be
refused by the compiler, with its own message.
"""

from __future__ import annotations

import re
from typing import Final

from tang.device.simt.prepare import BUILT_IN, PROVIDED, without_comments

_PTX: Final = "inline PTX"
_CUDA: Final = (
    (r"\basm\b|\b__asm(?:__)?\b", _PTX),
    (r"<<<", "a launch from within the text"),
    (r"\bcuda(?:Malloc|Memcpy|Free|Launch|Stream|Event|DeviceSynchronize)\w*\s*\(",
     "the CUDA runtime API"),
    (r"\bthis_grid\b|\bgrid_group\b|\bthis_multi_grid\b", "synchronisation of a grid"),
    (r"\bthis_cluster\b|\bcluster_group\b|\bcluster\.sync\b", "thread block clusters"),
    (r"\bcuda::(?:std::)?\w+", "libcu++"),
    (r"\bwmma::experimental\b|\bbmma_sync\b", "wmma fragments of 4 bits and of 1"),
    (r"\bfragment\s*<\s*(?:\w+\s*::\s*)*(?:matrix_[ab]|accumulator)\b[^;{}()>]*"
     r"\b(?:char|u?int8_t|int|double)\b", "wmma fragments of integers and f64"),
    (r"\bmemcpy_async\b", "asynchronous copies of groups"),
    (r"\btex(?:1D|2D|3D|Cubemap)\w*\s*[<(]|\bsurf\dD\w*\s*[<(]|\bcudaTextureObject_t\b",
     "textures and surfaces"),
    (r"\b__nv_fp(?:8|4|6)\w*|\b__nv_fp8x\d\w*", "8-bit floats of CUDA's headers"),
    (r"\b__\w+_r[zud]\s*\((?<!__float2int_rz\()(?<!__float2int_rd\()(?<!__float2int_ru\()"
     r"(?<!__float2uint_rz\()(?<!__float2uint_rd\()(?<!__float2uint_ru\()(?<!__half2int_rz\()",
     "rounding other than to nearest"),
    (r"\b__(?:vadd|vsub|vmax|vmin|vabs|vcmp|vset)\w*\s*\(", "SIMD-in-a-word intrinsics"),
    (r"\b(?:new|delete|malloc|free)\b\s*[(\w\[]", "memory allocation in a kernel"),
    (r"\btry\b\s*\{|\bthrow\b|\bdynamic_cast\b|\btypeid\b", "exceptions and type information"),
    (r"\bstd::\w+", "the C++ standard library"),
)  # fmt: skip

_METAL: Final = (
    (r"\btexture(?:1d|2d|3d|cube|_buffer)\w*\b|\bdepth(?:2d|cube)\w*\b|\bsampler\b",
     "textures and samplers"),
    (r"\bimageblock\b|\bthreadgroup_imageblock\b", "image blocks"),
    (r"\bintersector\b|\braytracing\b", "ray tracing"),
    (r"\bvisible_function_table\b|\bintersection_function_table\b", "function tables"),
    (r"\[\[\s*(?:function_constant|vertex|fragment|object|mesh|stitchable)\b",
     "functions other than kernels, and function constants"),
    (r"\bthread_elements\b", "the layout of simdgroup matrices"),
    (r"\.(?:[xyzw]{2,4}|[rgba]{2,4})\b(?!\s*\()", "swizzles of several components"),
    (r"\batomic_thread_fence\b", "fences"),
    (r"\bsimdgroup_async_copy\b|\btensor_ops\b|\bmpp::", "asynchronous copies and tensors"),
)  # fmt: skip

_DEVICE_ONLY: Final = re.compile(
    r"^[ \t]*#[ \t]*ifndef[ \t]+__SIMT_HOST__\b.*?^[ \t]*#[ \t]*(?:else|endif)\b",
    re.DOTALL | re.MULTILINE,
)
_MATRIX_PTX: Final = re.compile(r"\bw?mma\.(?:\w+\.)*sync\b")
_CURE: Final = "inline PTX: nvcuda::wmma of <mma.h> computes here what mma.sync does"
_STRING: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_INCLUDE: Final = re.compile(r"^[ \t]*#[ \t]*include[ \t]*(\S+)", re.MULTILINE)


def unsupported(text: str, language: str) -> tuple[int, str] | None:
    """The first line of a text that cannot run here and why; None when no row matches."""
    plain = _DEVICE_ONLY.sub(_blank, without_comments(text))
    found = list(_includes(plain))
    cured = _MATRIX_PTX.search(plain) is not None
    plain = _STRING.sub(_blank, plain)
    for pattern, reason in _CUDA if language == "cuda" else _METAL:
        match = re.search(pattern, plain)
        if match is not None:
            told = _CURE if reason == _PTX and cured else reason
            found.append((plain.count("\n", 0, match.start()) + 1, told))
    return min(found, default=None)


def _includes(text: str) -> list[tuple[int, str]]:
    found = []
    for m in _INCLUDE.finditer(text):
        name = m[1].strip('<>"')
        if name not in BUILT_IN | PROVIDED:
            found.append((text.count("\n", 0, m.start()) + 1, f"the header {name}"))
    return found


def _blank(m: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", m[0])
