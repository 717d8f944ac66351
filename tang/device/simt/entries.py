"""Entries: the functions through which a worker calls the kernels of a text.

Defines `Binding` and `entry_lines`. Relies on the order of parameters in CUDA and on the text's
own attributes in MSL, so that a wrong `[[buffer(n)]]` reaches the wrong buffer here as on a
device. Types are the compiler's business: it takes them from the kernel itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tang.device.simt.prepare import without_comments
from tang.errors import DeviceError
from tang.kernel.ir import Kernel

_INDICES: Final[Mapping[str, str]] = {
    "thread_position_in_grid": "GLOBAL_ID",
    "threadgroup_position_in_grid": "BLOCK_ID",
    "thread_position_in_threadgroup": "THREAD_ID",
    "thread_index_in_threadgroup": "LINEAR_ID",
    "simdgroup_index_in_threadgroup": "WARP_ID",
    "thread_index_in_simdgroup": "LANE_ID",
    "threads_per_threadgroup": "BLOCK_SIZE",
    "dispatch_threads_per_threadgroup": "BLOCK_SIZE",
    "threadgroups_per_grid": "GRID_BLOCKS",
    "threads_per_grid": "GRID_THREADS",
    "threads_per_simdgroup": "WARP_SIZE",
    "thread_execution_width": "WARP_SIZE",
    "simdgroups_per_threadgroup": "WARPS",
    "dispatch_simdgroups_per_threadgroup": "WARPS",
}
"""MSL's indices that a kernel may ask for, by attribute."""

_ATTRIBUTE: Final = re.compile(r"\[\[\s*(\w+)\s*(?:\(\s*(\d+)\s*\))?\s*\]\]\s*$")


@dataclass(frozen=True, slots=True)
class Binding:
    """How a text's kernel meets the buffers and scalars of a `Kernel`.

    symbol       the kernel in the text, template arguments included
    parameters   names of buffers and scalars in the text's order: CUDA's positions, MSL's
                 `[[buffer(n)]]` numbers; empty is the kernel's own order, buffers first
    threadgroup  where each `[[threadgroup(n)]]` starts in dynamic memory, in bytes
    """

    symbol: str
    parameters: tuple[str, ...] = ()
    threadgroup: tuple[int, ...] = (0,)

    @property
    def export(self) -> str:
        """The name of the entry in the library."""
        return "simt_entry_" + re.sub(r"\W", lambda m: f"_{ord(m[0]):x}_", self.symbol)


def scalar_offsets(kernel: Kernel) -> tuple[tuple[int, ...], int]:
    """Where each scalar lies among the scalars' bytes (as in a C struct), and their size."""
    offsets, at = [], 0
    for s in kernel.scalars:
        at = -(-at // s.type.bytes) * s.type.bytes
        offsets.append(at)
        at += s.type.bytes
    return tuple(offsets), -(-at // 16) * 16


def entry_lines(kernel: Kernel, binding: Binding, text: str, language: str) -> Iterator[str]:
    """The C++ of one entry; raises DeviceError when the text does not fit the kernel."""
    named = _named_sources(kernel)
    order = binding.parameters or tuple(named)
    unknown = [name for name in order if name not in named]
    if unknown:
        raise DeviceError(f"kernel {kernel.name!r} has no parameter {unknown[0]!r} to bind")
    numbered = [named[name] for name in order]
    sources = numbered if language == "cuda" else _metal_sources(text, binding, numbered)
    declared = " ".join(f"void* b{i}," for i in range(len(kernel.params)))
    pointers = " ".join(f"b{i}," for i in range(len(kernel.params)))
    listed = ", ".join([*sources, "{SIMT_BUFFER, 0}"])
    yield f"SIMT_ENTRY({binding.export}, (&{binding.symbol}),"
    yield f"           ({declared}), ({pointers}),"
    yield f"           ({listed}))"


def _named_sources(kernel: Kernel) -> dict[str, str]:
    offsets, _ = scalar_offsets(kernel)
    buffers = {p.name: f"{{SIMT_BUFFER, {i}}}" for i, p in enumerate(kernel.params)}
    pairs = zip(kernel.scalars, offsets, strict=True)
    return buffers | {s.name: f"{{SIMT_SCALAR, {at}}}" for s, at in pairs}


def _metal_sources(text: str, binding: Binding, numbered: Sequence[str]) -> list[str]:
    """One source per parameter of the MSL kernel, from its attributes."""
    sources, taken = [], set[str]()
    for parameter in metal_parameters(text, binding.symbol):
        found = _ATTRIBUTE.search(parameter)
        if found is None:
            raise DeviceError(f"parameter `{parameter}` of {binding.symbol} has no attribute")
        kind, number = found[1], found[2]
        if found[0] in taken and number is not None:
            raise DeviceError(f"two parameters of {binding.symbol} are {found[0].strip()}")
        taken.add(found[0])
        sources.append(_metal_source(binding, kind, number, numbered))
    return sources


def _metal_source(binding: Binding, kind: str, number: str | None, numbered: Sequence[str]) -> str:
    if kind == "buffer" and number is not None:
        if int(number) >= len(numbered):
            raise DeviceError(
                f"{binding.symbol} wants buffer({number}), but {len(numbered)} are bound"
            )
        return numbered[int(number)]
    if kind == "threadgroup" and number is not None:
        if int(number) >= len(binding.threadgroup):
            raise DeviceError(f"the launch of {binding.symbol} gives no threadgroup({number})")
        return f"{{SIMT_DYNAMIC, {binding.threadgroup[int(number)]}}}"
    if kind in _INDICES:
        return f"{{SIMT_{_INDICES[kind]}, 0}}"
    raise DeviceError(f"{binding.symbol} wants [[{kind}]], which SIMT does not provide")


def metal_parameters(text: str, symbol: str) -> list[str]:
    """The parameters of a kernel as written, blanks collapsed."""
    plain = without_comments(text)
    name = re.escape(symbol.split("<")[0])
    found = re.search(rf"\bkernel\b[^;{{}}()]*?\bvoid\s+{name}\s*\(", plain)
    if found is None:
        raise DeviceError(f"the text has no kernel named {symbol!r}")
    return _split(plain, found.end())


def _split(text: str, start: int) -> list[str]:
    """Parameters from after an opening parenthesis up to its partner."""
    parts, depth, begin = [], 0, start
    for at in range(start, len(text)):
        c = text[at]
        if c in "([{<":
            depth += 1
        elif c in ")]}>" and depth:
            depth -= 1
        elif not depth and c in ",)":
            parts.append(" ".join(text[begin:at].split()))
            begin = at + 1
            if c == ")":
                break
    return [p for p in parts if p]
