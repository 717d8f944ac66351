"""Memory of a launch: tensors laid out in poisoned buffers, and read back from them.

Defines `filled`, `view`, `covered` and `stored_values`. Relies on storage formats and NumPy's
strided views. It knows no device and judges nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tang.device.storage import Poison, pack, poisoned, unpack
from tang.ir.expr import Sort
from tang.kernel.ir import Type
from tang.verify.foreign.binding import Buffer, Slot

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


def filled(buffer: Buffer, inputs: Mapping[str, Array], poison: Poison) -> Array:
    """The buffer before the launch: its input tensors, poison everywhere else."""
    memory = poisoned(buffer.type, (buffer.elements,), poison)
    for slot in buffer.slots:
        if slot.source:
            view(memory, slot)[...] = pack(inputs[slot.source], buffer.type)
    return memory


def view(memory: Array, slot: Slot) -> Array:
    """A tensor inside a buffer, sharing its memory."""
    if 0 in slot.shape:
        return np.empty(slot.shape, memory.dtype)
    size = memory.dtype.itemsize
    strides = tuple(s * size for s in slot.strides)
    return np.lib.stride_tricks.as_strided(memory[slot.offset :], slot.shape, strides)


def covered(buffer: Buffer, results: bool) -> Mask:
    """Elements that belong to an output (results) or to any tensor of the buffer."""
    mask = np.zeros(buffer.elements, np.bool_)
    for slot in buffer.slots:
        if slot.result or not results:
            view(mask, slot)[...] = True
    return mask


def stored_values(array: Array, t: Type, sort: Sort) -> Array:
    """Values as a buffer of the type holds them: reals rounded once, others unchanged."""
    if sort is not Sort.REAL:
        return array
    kind = np.float64 if t is Type.F64 else np.float32
    shape = np.shape(array)
    return np.asarray(unpack(pack(np.asarray(array, np.float64), t), t), kind).reshape(shape)


def values(memory: Array, t: Type, sort: Sort) -> Array:
    """Memory as values of a sort: f64, int64 or bool."""
    found = unpack(memory, t, sort)
    if sort is Sort.BOOL:
        return np.asarray(found, np.bool_)
    with np.errstate(invalid="ignore"):  # of signalling NaNs
        return np.asarray(found).astype(np.float64 if sort is Sort.REAL else np.int64)
