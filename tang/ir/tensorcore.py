"""Tensor cores as data: what one matrix instruction does to one dot product.

Defines `FusedDot`, the tables `ATOMS` and `WMMA`, and `atom_named`. Relies on the names of formats.
It computes nothing: `emulator/fda.py` does, with the algorithm of its docstring.

Sources: Fasi, Higham, Mikaitis and Pranesh, PeerJ CS 7:e330 (2021); Khattak and Mikaitis, "Accurate
Models of NVIDIA Tensor Cores", arXiv 2512.07004, with the vectors of their repository; Xie et al.,
MMA-Sim, arXiv 2511.10909; probes of an H200. `evidence` says which of these an entry rests on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from tang.errors import FormatError

HARDWARE: Final = "agrees with an H200 on random bits and on vectors: tang atoms --selftest"
VECTORS: Final = "agrees with published vectors of the hardware; floor as on sm_90, not confirmed"
PUBLISHED: Final = "taken from a published model; floor as on sm_90, not confirmed"


@dataclass(frozen=True, slots=True, kw_only=True)
class FusedDot:
    """A matrix instruction, seen from one element of its result.

    operands  the format of a and b; computed: the one whose exponents their alignment sees
    output    the format of results, reached by `rounding`
    k         terms of one instruction
    groups    which of the k terms are added at once; the result of a group is an addend of the next
    fraction  bits kept below the largest exponent when aligned; None: the sum is exact
    floor     the least exponent that alignment uses
    joined    whether c is an addend of the first group; if not, groups start from +0 and c is added
              at the end, to nearest even in the output's format
    truncated whether operands are f32 numbers whose low 13 bits are dropped
    """

    architecture: str
    instruction: str
    operands: str
    computed: str
    output: str
    rounding: str
    k: int
    groups: tuple[tuple[int, ...], ...]
    fraction: int | None
    floor: int = -133
    joined: bool = True
    truncated: bool = False
    evidence: str = HARDWARE

    @property
    def key(self) -> tuple[str, ...]:
        """Its place in ATOMS; results in f16 are named there, others are in f32."""
        key = (self.architecture, self.instruction, self.operands)
        return (*key, "f16") if self.output == "f16" else key

    @property
    def result(self) -> str:
        """The format of registers that hold results and addends."""
        return "f32" if self.output == "fp22" else self.output

    @property
    def nan(self) -> int:
        """The bits of every NaN that it gives: payloads and signs are lost, except in f64.

        There these are the bits of a NaN that no operand was.
        """
        return {"f16": 0x7FFF, "f64": 0xFFF8000000000000}.get(self.output, 0x7FFFFFFF)


_FLOOR_F16: Final = -21
_FP8: Final = ("e4m3fn", "e5m2")


def _runs(k: int, terms: int) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(range(i, i + terms)) for i in range(0, k, terms))


def _fused(
    where: tuple[str, str],
    operands: str,
    shape: tuple[int, int],
    fraction: int,
    evidence: str,
    output: str = "f32",
) -> FusedDot:
    """An instruction of k terms in runs of so many; fp8 leaves 14 bits, f16 is to nearest."""
    narrow = operands in _FP8 and output != "f16"
    return FusedDot(
        architecture=where[0],
        instruction=where[1],
        operands=operands,
        computed=operands,
        output="fp22" if narrow else output,
        rounding="rne" if output == "f16" else "rz",
        k=shape[0],
        groups=_runs(*shape),
        fraction=fraction,
        floor=_FLOOR_F16 if output == "f16" else -133,
        truncated=operands == "tf32",
        evidence=evidence,
    )


def _unpacked_fp8(architecture: str, operands: str, output: str, evidence: str) -> FusedDot:
    """mma.sync of fp8 from sm_90 on: conversion to f16, two f16 instructions, one addition."""
    pairs = tuple(tuple(i for i in range(32) if (i % 4 < 2) == low) for low in (True, False))
    return FusedDot(
        architecture=architecture,
        instruction="mma",
        operands=operands,
        computed="f16",
        output=output,
        rounding="rne" if output == "f16" else "rz",
        k=32,
        groups=pairs,
        fraction=25,
        floor=_FLOOR_F16 if output == "f16" else -133,
        joined=False,
        evidence=evidence,
    )


def _sm_90() -> tuple[FusedDot, ...]:
    wide = [
        _fused(("sm_90", i), f, (k, k), 25, HARDWARE)
        for i in ("mma", "wgmma")
        for f, k in (("f16", 16), ("bf16", 16), ("tf32", 8))
    ]
    wide += [_fused(("sm_90", i), "f16", (16, 16), 25, HARDWARE, "f16") for i in ("mma", "wgmma")]
    short = _fused(("sm_90", "mma.k8"), "f16", (8, 8), 25, HARDWARE)
    narrow = [_fused(("sm_90", "wgmma"), f, (32, 32), 13, HARDWARE) for f in _FP8]
    narrow += [_fused(("sm_90", "wgmma"), f, (32, 32), 13, HARDWARE, "f16") for f in _FP8]
    software = [_unpacked_fp8("sm_90", f, r, HARDWARE) for r in ("f32", "f16") for f in _FP8]
    double = FusedDot(
        architecture="sm_90",
        instruction="mma",
        operands="f64",
        computed="f64",
        output="f64",
        rounding="rne",
        k=16,
        groups=_runs(16, 1),
        fraction=None,
    )
    return (*wide, short, *narrow, *software, double)


def _others() -> tuple[FusedDot, ...]:
    found = [
        _fused(("sm_70", "mma"), "f16", (4, 4), 23, VECTORS),
        _fused(("sm_70", "mma"), "f16", (4, 4), 23, VECTORS, "f16"),
        _fused(("sm_75", "mma"), "f16", (8, 8), 24, PUBLISHED),
        _fused(("sm_75", "mma"), "f16", (8, 8), 24, PUBLISHED, "f16"),
    ]
    for architecture in ("sm_80", "sm_89"):
        where = (architecture, "mma")
        found += [_fused(where, f, (16, 8), 24, VECTORS) for f in ("f16", "bf16")]
        found.append(_fused(where, "f16", (16, 8), 24, VECTORS, "f16"))
        found.append(_fused(where, "tf32", (8, 4), 24, VECTORS))
    for f in _FP8:
        found.append(_fused(("sm_89", "mma"), f, (32, 16), 13, VECTORS))
        found.append(_fused(("sm_89", "mma"), f, (32, 16), 13, VECTORS, "f16"))
        found.append(_unpacked_fp8("sm_100", f, "f16", VECTORS))
    found += [_fused(("sm_100", "mma"), f, (16, 16), 25, VECTORS) for f in ("f16", "bf16")]
    found.append(_fused(("sm_100", "mma"), "f16", (16, 16), 25, VECTORS, "f16"))
    return tuple(found)


ATOMS: Final[dict[tuple[str, ...], FusedDot]] = {a.key: a for a in (*_sm_90(), *_others())}
"""(architecture, instruction, operands[, "f16"]) → what it computes. On sm_90 "mma" is the longest
shape (k 16, 8, 32), "mma.k8" the shorter one of f16; a shorter one elsewhere is the same with
fewer terms."""


WMMA: Final[dict[tuple[str, str], FusedDot]] = {
    ("f16", "f32"): ATOMS["sm_90", "mma", "f16"],
    ("f16", "f16"): ATOMS["sm_90", "mma", "f16", "f16"],
    ("bf16", "f32"): ATOMS["sm_90", "mma", "bf16"],
    ("tf32", "f32"): replace(
        ATOMS["sm_90", "mma", "tf32"],
        instruction="wmma",
        groups=_runs(8, 4),
        evidence="agrees with an H200 on random bits: tests/device/wmma",
    ),
}
"""(operands, result) → one `nvcuda::wmma::mma_sync` on sm_90, seen from one element.

ptxas 13.0 makes two HMMA.16816 of each shape of k 16, side by side, so that each sum stays whole;
m16n16k8 of tf32 becomes four HMMA.1684, terms 0–3 before 4–7, unlike mma.sync's HMMA.1688. All of
it agrees with an H200 bit for bit: `tests/device/wmma`."""


def atom_named(*key: str) -> FusedDot:
    """The entry of ATOMS; raises FormatError that names those of the architecture."""
    found = ATOMS.get(key)
    if found is None:
        near = [k for k in ATOMS if k[:1] == key[:1]] or list(ATOMS)
        known = "; ".join(" ".join(k) for k in near)
        raise FormatError(f"no tensor-core model {' '.join(key)!r}: there are {known}")
    return found
