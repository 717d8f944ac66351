"""Blocks of narrow numbers that share a scale: the MX formats and NVFP4.

Defines `quantize_blocks` and its result, `Blocks`. Relies on the rounder. It packs nothing: codes
come from `emulator/formats_codes.py`.

Sources: OCP Microscaling Formats 1.0, section 6.3, for the MX scale 2^(⌊log₂ amax⌋ − emax); NVIDIA
Transformer Engine's reference quantiser for NVFP4, whose steps are each rounded to f32.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.emulator.rounding import as_f64, round_to
from tang.errors import FormatError
from tang.ir.format import BlockFormat, any_format, block_format

Array = npt.NDArray[Any]
F64Array = npt.NDArray[np.float64]

_LARGEST_F32: Final = np.float32(3.4028234663852886e38)


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """Scaled elements.

    elements      numbers of the element format, of the shape of the data
    scales        numbers of the scale format; the last axis counts blocks
    tensor_scale  an f32 number that multiplies everything (1 where the format has none)
    axis          along which elements lie in blocks
    """

    format: BlockFormat
    elements: F64Array
    scales: F64Array
    tensor_scale: float
    axis: int

    def values(self) -> F64Array:
        """What the blocks stand for, exactly: the products have at most 30 bits."""
        lines = np.moveaxis(self.elements, self.axis, -1)
        scales = _per_element(self.scales, self.format.size, lines.shape[-1])
        with np.errstate(invalid="ignore"):
            return np.moveaxis(lines * scales * self.tensor_scale, -1, self.axis)


def quantize_blocks(
    x: npt.ArrayLike,
    format: str | BlockFormat,
    axis: int = -1,
    rounding: str = "rne",
    *,
    seed: int | None = None,
) -> Blocks:
    """`x` in blocks along an axis, the last of which may be shorter; elements saturate.

    MX: a block that holds NaN or an infinity gets the scale NaN. NVFP4: the data is rounded to f32
    first and must be finite. Raises FormatError for unknown names and scalars.
    """
    layout = block_format(format)
    value = as_f64(x)
    if value.ndim == 0:
        raise FormatError(f"{layout.name} needs an axis of blocks, not a single number")
    lines = np.moveaxis(value, axis, -1)
    with np.errstate(all="ignore"):
        make = _nvfp4 if layout.tensor_scale else _mx
        scaled, scales, tensor_scale = make(lines, layout)
        elements = round_to(scaled, layout.element, rounding, "saturate", seed=seed)
    return Blocks(layout, np.moveaxis(elements, -1, axis), scales, tensor_scale, axis)


def _mx(lines: F64Array, layout: BlockFormat) -> tuple[F64Array, F64Array, float]:
    amax = _largest(lines, layout.size)
    finite = np.isfinite(amax)
    power = np.frexp(np.where(finite, amax, 1.0))[1] - 1 - any_format(layout.element).emax
    power = np.where(amax == 0, -127, np.clip(power, -127, 127)).astype(np.int32)
    each = _per_element(power, layout.size, lines.shape[-1])
    usable = _per_element(finite, layout.size, lines.shape[-1])
    scaled = np.where(usable, np.ldexp(np.where(usable, lines, 0.0), -each), 0.0)
    return scaled, np.where(finite, np.ldexp(1.0, power), np.nan), 1.0


def _nvfp4(lines: F64Array, layout: BlockFormat) -> tuple[F64Array, F64Array, float]:
    data = lines.astype(np.float32)
    if not np.isfinite(data).all():
        raise FormatError(f"{layout.name} has one scale for all data, which must be finite in f32")
    most = np.float32(any_format(layout.element).largest)
    top = np.float32(any_format(layout.scale).largest)
    whole = np.max(np.abs(data), initial=np.float32(0))
    encode = np.minimum(top * most / whole, _LARGEST_F32) if whole else np.float32(1)
    decode = np.float32(1) / encode
    wanted = np.minimum(_largest(data, layout.size) / most * encode, top)
    scales = round_to(wanted, layout.scale, "rne", "saturate")
    inverse = np.minimum(np.float32(1) / (scales.astype(np.float32) * decode), _LARGEST_F32)
    scaled = data * _per_element(inverse, layout.size, lines.shape[-1])
    return scaled.astype(np.float64), scales, float(decode)


def _largest(lines: Array, size: int) -> Array:
    """The largest magnitude of each block; NaN where there is one."""
    if lines.shape[-1] == 0:
        return np.zeros((*lines.shape[:-1], 0), lines.dtype)
    return np.maximum.reduceat(np.abs(lines), np.arange(0, lines.shape[-1], size), axis=-1)


def _per_element(blocks: Array, size: int, length: int) -> Array:
    return np.repeat(blocks, size, axis=-1)[..., :length]
