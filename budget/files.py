"""Inputs of programs from files: NumPy's .npz and .safetensors.

Defines `load_inputs`, `read_npz` and `read_safetensors`. Relies on NumPy alone: nothing in a file
is ever executed or unpickled, and every length is checked before it is used. It knows no weights of
models by name: arrays are called as the program calls its inputs.

The format of .safetensors: 8 bytes with the length of a header, the header as JSON (name → dtype,
shape, data_offsets), then the data without holes (github.com/huggingface/safetensors, Format).
"""

from __future__ import annotations

import json
import math
import zipfile
import zlib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.emulator.formats_codes import decode
from tang.errors import BudgetError
from tang.ir.expr import Sort
from tang.ir.graph import Graph, require_graph

Array = npt.NDArray[Any]

MAX_HEADER: Final = 100_000_000
"""Bytes of a header: the limit of the reference implementation."""
MAX_RANK: Final = 64

_PLAIN: Final = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2",
    "I8": "<i1", "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "<u1", "BOOL": "|b1",
}  # fmt: skip
_CODED: Final = {"BF16": ("<u2", "bf16"), "F8_E4M3": ("<u1", "e4m3fn"), "F8_E5M2": ("<u1", "e5m2")}
DTYPES: Final = (*_PLAIN, *_CODED)


def load_inputs(path: str | Path, graph: Graph) -> dict[str, Array]:
    """The arrays that a program takes, from a file that holds exactly these.

    Raises BudgetError naming the file and the tensor: missing, unknown, of the wrong sort, rank or
    shape. Symbolic extents fit any size.
    """
    require_graph(graph)
    try:
        place = Path(path)
    except TypeError as e:
        raise BudgetError(f"inputs come from a file, whose path is no {type(path).__name__}") from e
    readers: dict[str, Callable[[Path], dict[str, Array]]] = {
        ".npz": read_npz, ".safetensors": read_safetensors,
    }  # fmt: skip
    reader = readers.get(place.suffix)
    if reader is None:
        raise BudgetError(f"{place}: inputs come as {' or '.join(readers)}, not {place.suffix!r}")
    if not place.is_file():
        raise BudgetError(f"no file {place}")
    try:
        found = reader(place)
    except OSError as e:
        raise BudgetError(f"{place} cannot be read: {e}") from e
    check_names(graph, found, str(place))
    for i in graph.inputs:
        _check_shape(str(place), i.name, found[i.name], tuple(i.shape))
        _check_sort(str(place), i.name, found[i.name], i.sort)
    return {i.name: found[i.name] for i in graph.inputs}


def check_names(graph: Graph, found: Collection[str], place: str) -> None:
    """Raise BudgetError unless the names are those of the program's inputs."""
    known = [i.name for i in graph.inputs]
    missing = [n for n in known if n not in found]
    unknown = sorted(set(found) - set(known))
    if missing:
        held = ", ".join(sorted(found)) or "nothing"
        raise BudgetError(f"{place}: no tensor {missing[0]!r}; the file holds {held}")
    if unknown:
        raise BudgetError(
            f"{place}: tensor {unknown[0]!r} is no input; the program takes {', '.join(known)}"
        )


def _check_shape(place: str, name: str, array: Array, shape: tuple[Any, ...]) -> None:
    wanted = [p.constant if p.is_constant else str(p) for p in shape]
    fits = len(wanted) == array.ndim and all(
        w == n or isinstance(w, str) for w, n in zip(wanted, array.shape, strict=False)
    )
    if not fits:
        listed = ", ".join(map(str, wanted))
        raise BudgetError(f"{place}: tensor {name!r} has shape {array.shape}, expected ({listed})")


def _check_sort(place: str, name: str, array: Array, sort: Sort) -> None:
    kinds = {Sort.REAL: "fiu", Sort.INDEX: "iu", Sort.BOOL: "b"}[sort]
    if array.dtype.kind not in kinds:
        raise BudgetError(f"{place}: tensor {name!r} is {sort.value}, and {array.dtype} is not")


# --- .npz -----------------------------------------------------------------------------------------


def read_npz(path: Path) -> dict[str, Array]:
    """Every array of an .npz file; pickled ones are refused."""
    with path.open("rb") as file:
        start = file.read(6)
    if start == b"\x93NUMPY":
        raise BudgetError(
            f"{path} holds one array without a name, as np.save writes it: save the inputs by "
            "their names with np.savez(path, NAME=array, …)"
        )
    if start[:4] not in (b"PK\x03\x04", b"PK\x05\x06"):
        raise BudgetError(
            f"{path} is no .npz file: {_begins(start)}, and an .npz file is a zip archive of "
            "arrays, as np.savez(path, NAME=array, …) writes it"
        )
    try:
        with zipfile.ZipFile(path) as archive:
            return {n.removesuffix(".npy"): _member(path, archive, n) for n in archive.namelist()}
    except (zipfile.BadZipFile, EOFError, zlib.error, NotImplementedError, RuntimeError) as e:
        raise BudgetError(f"{path} is no whole .npz file: its zip archive is damaged ({e})") from e


def _begins(start: bytes) -> str:
    return f"it begins with {start!r}" if start else "it is empty"


def _member(path: Path, archive: zipfile.ZipFile, member: str) -> Array:
    """One array of an archive; never anything that is pickled."""
    name = member.removesuffix(".npy")
    if name == member:
        raise BudgetError(f"{path}: {member!r} is no array: an .npz file holds .npy files alone")
    with archive.open(member) as file:
        try:
            found = np.lib.format.read_array(file, allow_pickle=False)
        except (ValueError, MemoryError) as e:
            objects = "Object arrays" in str(e)
            reason = "holds Python objects, which are not read: save numbers" if objects else (
                f"is no whole array of NumPy ({e})"
            )  # fmt: skip
            raise BudgetError(f"{path}: tensor {name!r} {reason}") from e
    return _kept(path, name, np.asarray(found))


def _kept(path: Path, name: str, array: Array) -> Array:
    if array.dtype.kind not in "fiub":
        raise BudgetError(f"{path}: tensor {name!r} holds {array.dtype}, which is no number")
    return array


# --- .safetensors ---------------------------------------------------------------------------------


def read_safetensors(path: Path) -> dict[str, Array]:
    """Every tensor of a .safetensors file; bf16 and fp8 as the f32 that they stand for."""
    data = path.read_bytes()
    header, body = _header(path, data)
    found, spans = {}, []
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        dtype, shape, start, stop = _entry(path, name, entry, len(body))
        spans.append((start, stop, name))
        found[name] = _array(path, name, dtype, shape, body[start:stop])
    _check_spans(path, spans, len(body))
    return found


def _header(path: Path, data: bytes) -> tuple[dict[str, Any], memoryview]:
    if len(data) < 8:
        raise BudgetError(
            f"{path} is no .safetensors file: {len(data)} bytes are too few, it begins with the "
            "length of its header in 8 bytes"
        )
    length = int.from_bytes(data[:8], "little")
    if length > MAX_HEADER or length > len(data) - 8:
        raise BudgetError(
            f"{path} is no .safetensors file: its first 8 bytes stand for a header of {length} "
            f"bytes, in a file of {len(data)}"
        )
    try:
        found = json.loads(data[8 : 8 + length].decode("utf-8"), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as e:
        raise BudgetError(f"{path}: its header is no JSON: {e}") from e
    if not isinstance(found, dict):
        raise BudgetError(f"{path}: its header is no JSON object")
    return found, memoryview(data)[8 + length :]


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice")
    return found


def _entry(path: Path, name: str, entry: object, size: int) -> tuple[str, list[int], int, int]:
    """The dtype, shape and place of a tensor, each checked."""
    where = f"{path}: tensor {name!r}"
    if not isinstance(entry, Mapping) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise BudgetError(f"{where} needs dtype, shape and data_offsets, and nothing else")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise BudgetError(f"{where} has dtype {dtype!r}: one of {', '.join(DTYPES)}")
    if not _naturals(shape) or len(shape) > MAX_RANK:
        raise BudgetError(f"{where} has shape {shape!r}, which is no list of sizes")
    if not _naturals(offsets) or len(offsets) != 2:
        raise BudgetError(f"{where} has data_offsets {offsets!r}, which is no pair of places")
    start, stop = offsets
    if not start <= stop <= size:
        raise BudgetError(f"{where} lies at {start} … {stop} of {size} bytes of data")
    kind = _PLAIN[dtype] if dtype in _PLAIN else _CODED[dtype][0]
    needed = math.prod(shape) * np.dtype(kind).itemsize
    if stop - start != needed:
        raise BudgetError(f"{where} of shape {shape} takes {needed} bytes, not {stop - start}")
    return dtype, shape, start, stop


def _naturals(value: object) -> bool:
    return isinstance(value, list) and all(type(n) is int and 0 <= n < 2**63 for n in value)


def _array(path: Path, name: str, dtype: str, shape: list[int], data: memoryview) -> Array:
    if dtype in _PLAIN:
        if dtype == "BOOL" and np.any(np.frombuffer(data, np.uint8) > 1):
            raise BudgetError(f"{path}: tensor {name!r} is BOOL and holds bytes other than 0 and 1")
        return np.frombuffer(data, np.dtype(_PLAIN[dtype])).reshape(shape).copy()
    kind, format_ = _CODED[dtype]
    codes = np.frombuffer(data, np.dtype(kind)).astype(np.uint32)
    if dtype == "BF16":
        return (codes << 16).view(np.float32).reshape(shape)
    return np.asarray(decode(codes, format_), np.float32).reshape(shape)


def _check_spans(path: Path, spans: list[tuple[int, int, str]], size: int) -> None:
    """The data is covered once, without holes, as the format demands."""
    at = 0
    for start, stop, name in sorted(spans):
        if start != at:
            what = "overlaps another" if start < at else f"leaves a hole of {start - at} bytes"
            raise BudgetError(f"{path}: tensor {name!r} {what}")
        at = stop
    if at != size:
        raise BudgetError(f"{path}: {size - at} bytes behind the last tensor belong to none")
