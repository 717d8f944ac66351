"""Arenas: tensors of a callable inside larger, guarded memory.

Defines `Arena`, and the arenas of NumPy, of any library that reads DLPack on the host, and of
PyTorch on a device. Relies on views: a tensor handed out shares the arena's memory, so that writes
beside it are seen. It runs nothing and judges nothing.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from tang.device.base import GUARD_BYTES, Memory
from tang.device.storage import Poison, dtype_of, poison_word
from tang.errors import DeviceError
from tang.kernel.ir import Type
from tang.verify.foreign.binding import Buffer
from tang.verify.foreign.memory import view

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Guarded:
    """A buffer with guard zones: host memory, the library's handle of it, the tensor inside."""

    host: Array
    handle: Any = field(repr=False)
    tensor: Any = field(repr=False)


class Arena(Protocol):
    """Where the tensors of a callable lie."""

    def place(self, buffer: Buffer, contents: Array, poison: Poison) -> Guarded:
        """A tensor of the library that holds the contents, with guard zones around it."""
        ...

    def read(self, guarded: Guarded) -> Array:
        """The memory, zones included, once everything launched has ended."""
        ...


class DLPackArena:
    """Tensors on the host, made by a library's `from_dlpack` out of views of NumPy arrays."""

    def __init__(self, from_dlpack: Callable[[Any], Any] | None = None) -> None:
        self._convert = from_dlpack or (lambda array: array)

    def place(self, buffer: Buffer, contents: Array, poison: Poison) -> Guarded:
        """A tensor that shares the memory."""
        host = with_zones(buffer.type, contents, poison)
        if buffer.type is Type.BF16:
            raise DeviceError(
                "NumPy has no bf16, so that such tensors need PyTorch: tensors='torch'"
            )
        inner = host[_zone(buffer.type) :]
        tensor = view(inner[: buffer.elements], buffer.slots[0])
        if buffer.type is Type.BOOL:
            tensor = tensor.view(np.bool_)
        return Guarded(host, None, self._convert(tensor))

    def read(self, guarded: Guarded) -> Array:
        """The memory itself."""
        return guarded.host


class TorchArena:
    """PyTorch tensors on a device, as strided views of one flat tensor."""

    def __init__(self, device: str) -> None:
        try:
            torch = importlib.import_module("torch")
        except ImportError as e:
            raise DeviceError(f"no PyTorch: {e}; pip install torch") from e
        self._torch: Any = torch
        self._device = device

    def place(self, buffer: Buffer, contents: Array, poison: Poison) -> Guarded:
        """A view of a flat tensor on the device."""
        host = with_zones(buffer.type, contents, poison)
        flat = self._torch.from_numpy(host.view(np.uint8)).to(self._device, copy=True)
        typed = flat.view(getattr(self._torch, _TORCH[buffer.type]))
        slot = buffer.slots[0]
        start = _zone(buffer.type) + slot.offset
        return Guarded(host, flat, typed.as_strided(slot.shape, slot.strides, start))

    def read(self, guarded: Guarded) -> Array:
        """A copy on the host."""
        if self._device.startswith("cuda"):
            self._torch.cuda.synchronize()
        raw: Array = guarded.handle.cpu().numpy()
        return raw.view(guarded.host.dtype)


_TORCH: Final = {
    Type.BOOL: "bool", Type.U8: "uint8", Type.I32: "int32", Type.U32: "uint32",
    Type.I64: "int64", Type.F16: "float16", Type.BF16: "bfloat16", Type.F32: "float32",
    Type.F64: "float64",
}  # fmt: skip


def open_arena(tensors: str | Callable[[Any], Any]) -> Arena:
    """The arena of "numpy", "torch", "torch:cuda", or of a library's `from_dlpack`."""
    if callable(tensors):
        return DLPackArena(tensors)
    if tensors == "numpy":
        return DLPackArena()
    library, _, device = tensors.partition(":")
    if library == "torch":
        return TorchArena(device or "cpu")
    raise DeviceError(f"tensors are 'numpy', 'torch', 'torch:cuda' or a function, not {tensors!r}")


def with_zones(t: Type, contents: Array, poison: Poison) -> Array:
    """The contents between two guard zones, in one array."""
    zone = np.frombuffer(poison_word(t, poison) * _zone(t), dtype_of(t))
    return np.concatenate([zone, contents, zone])


def memory_of(t: Type, whole: Array) -> Memory:
    """Memory with its zones, as a device reports it."""
    n = _zone(t)
    end = len(whole) - n
    return Memory(whole[n:end].copy(), whole[:n].tobytes(), whole[end:].tobytes())


def _zone(t: Type) -> int:
    """Elements of a guard zone."""
    return GUARD_BYTES // t.bytes
