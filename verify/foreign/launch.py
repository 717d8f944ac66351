"""Launch descriptions: how a foreign kernel's parameters meet a specification.

Defines the JSON form (`LaunchFile`), its checked form (`LaunchSpec`) and `load_launch`. Relies on
msgspec for types and places of errors, and on `expression` for everything that depends on sizes.
It binds no sizes (see `binding`) and runs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from tang.errors import FormatError, TangError
from tang.ir.expr import Sort
from tang.ir.format import format_named
from tang.ir.graph import Graph
from tang.kernel.ir import Type
from tang.verify.foreign.expression import Expression, ExpressionError, parse

LANGUAGES: Final = ("c", "cuda", "msl", "opencl")
ACCESSES: Final = ("in", "out", "in-out")
Size = int | str
"""A number or an expression of the extents."""


class LaunchError(TangError):
    """A launch description that does not fit its grammar, its specification or its sizes."""


class PartFile(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A tensor of the specification inside a buffer.

    tensor   an input ("in", "in-out") or an output ("out") of the specification
    result   with "in-out": the output that it holds afterwards
    strides  in elements, one per dimension; row-major when absent
    offset   of the first element, in elements
    """

    tensor: str
    access: str = "in"
    result: str = ""
    strides: list[Size] | None = None
    offset: Size = 0


class ParameterFile(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One parameter: exactly one of tensor, pack, scalar, shared, scratch.

    pack      several tensors in one buffer
    scalar    the value, an expression of the extents
    shared    bytes of workgroup memory (OpenCL `__local`, MSL `[[threadgroup(n)]]`)
    scratch   elements of a buffer for the kernel's own use, which holds poison at first
    elements  of the whole buffer; as many as the tensors need when absent
    """

    name: str = ""
    index: int | None = None
    dtype: str = ""
    tensor: str = ""
    access: str = "in"
    result: str = ""
    strides: list[Size] | None = None
    offset: Size = 0
    pack: list[PartFile] | None = None
    scalar: Size | float | None = None
    shared: Size | None = None
    scratch: Size | None = None
    elements: Size | None = None


class LaunchFile(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The whole file; see `docs/foreign.md`."""

    kernel: str
    parameters: list[ParameterFile]
    language: str = ""
    grid: list[Size] = []
    workgroup: list[Size] = []
    shared: Size = 0
    compute: str = "f32"
    sizes: list[dict[str, int]] = []


@dataclass(frozen=True, slots=True)
class Part:
    """A tensor in a buffer; source and result are names of the specification, or ""."""

    source: str
    result: str
    strides: tuple[Expression, ...] | None
    offset: Expression


@dataclass(frozen=True, slots=True)
class BufferParameter:
    """A pointer to memory: tensors, or nothing but scratch."""

    name: str
    type: Type
    parts: tuple[Part, ...]
    elements: Expression | None
    writable: bool


@dataclass(frozen=True, slots=True)
class ScalarParameter:
    """A value."""

    name: str
    type: Type
    value: Expression


@dataclass(frozen=True, slots=True)
class SharedParameter:
    """Workgroup memory whose size the launch gives."""

    name: str
    bytes: Expression


Parameter = BufferParameter | ScalarParameter | SharedParameter


@dataclass(frozen=True, slots=True)
class LaunchSpec:
    """A checked launch description, for every size of its specification.

    compute  the format in which the kernel is expected to compute
    sizes    bindings of the symbolic extents to try; empty leaves the choice to the verifier
    """

    kernel: str
    language: str
    parameters: tuple[Parameter, ...]
    grid: tuple[Expression, ...]
    workgroup: tuple[Expression, ...]
    shared: Expression
    compute: str
    sizes: tuple[Mapping[str, int], ...]


def load_launch(source: str | Path | bytes | Mapping[str, Any], graph: Graph) -> LaunchSpec:
    """A description from a file, its bytes or plain data, checked against a specification.

    Raises LaunchError that names the place, such as `parameters[2].dtype`.
    """
    try:
        if isinstance(source, Mapping):
            return _checked(msgspec.convert(dict(source), LaunchFile), graph)
        data = source if isinstance(source, bytes) else _read(Path(source))
        return _checked(msgspec.json.decode(data, type=LaunchFile), graph)
    except msgspec.DecodeError as e:
        where = "" if isinstance(source, bytes | Mapping) else f"{source}: "
        raise LaunchError(f"{where}{e}".replace("`$.", "`")) from e


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as e:
        raise LaunchError(f"cannot read the launch description {path}: {e.strerror}") from e


def _checked(file: LaunchFile, graph: Graph) -> LaunchSpec:
    if file.language and file.language not in LANGUAGES:
        raise LaunchError(f"language: {file.language!r} is none of {', '.join(LANGUAGES)}")
    parameters = _ordered(file.parameters)
    found = tuple(_parameter(p, f"parameters[{i}]", graph) for i, p in parameters)
    _check_tensors(found, graph)
    try:
        format_named(file.compute)
    except FormatError as e:
        raise LaunchError(f"compute: {e}") from e
    return LaunchSpec(
        file.kernel,
        file.language,
        found,
        _extents(file.grid, "grid"),
        _extents(file.workgroup, "workgroup"),
        _expression(file.shared, "shared"),
        file.compute,
        tuple(_sizes(s, f"sizes[{i}]", graph) for i, s in enumerate(file.sizes)),
    )


def _ordered(parameters: list[ParameterFile]) -> list[tuple[int, ParameterFile]]:
    """With their places in the file, in the order of their indices where they have any."""
    numbered = list(enumerate(parameters))
    bound = [(i, p) for i, p in numbered if p.shared is None]
    indexed = [(i, p) for i, p in bound if p.index is not None]
    if not indexed:
        return numbered
    if len(indexed) != len(bound):
        raise LaunchError("parameters: give every buffer and scalar an index, or none")
    ordered = sorted(indexed, key=lambda pair: pair[1].index or 0)
    for want, (i, p) in enumerate(ordered):
        if p.index != want:
            raise LaunchError(f"parameters[{i}].index: {p.index}, but {want} is free or is taken")
    return ordered + [(i, p) for i, p in numbered if p.shared is not None]


def _parameter(p: ParameterFile, place: str, graph: Graph) -> Parameter:
    kinds = {
        "tensor": p.tensor or None, "pack": p.pack, "scalar": p.scalar, "shared": p.shared,
        "scratch": p.scratch,
    }  # fmt: skip
    given = [k for k, v in kinds.items() if v is not None]
    if len(given) != 1:
        came = ", ".join(given) or "none"
        raise LaunchError(f"{place}: give exactly one of {', '.join(kinds)}, not {came}")
    name = p.name or p.tensor or place.replace("[", "_").rstrip("]")
    if p.scalar is not None:
        type_ = _type(p.dtype or "i32", f"{place}.dtype")
        return ScalarParameter(name, type_, _expression(p.scalar, f"{place}.scalar"))
    if p.shared is not None:
        return SharedParameter(name, _expression(p.shared, f"{place}.shared"))
    if p.scratch is not None:
        elements = _expression(p.scratch, f"{place}.scratch")
        return BufferParameter(name, _type(p.dtype or "f32", f"{place}.dtype"), (), elements, True)
    return _buffer(p, name, place, graph)


def _buffer(p: ParameterFile, name: str, place: str, graph: Graph) -> BufferParameter:
    files = p.pack
    if files is None:
        files = [PartFile(p.tensor, p.access, p.result, p.strides, p.offset)]
        places = [place]
    else:
        places = [f"{place}.pack[{i}]" for i in range(len(files))]
    if not files:
        raise LaunchError(f"{place}.pack: holds no tensor")
    pairs = [_part(f, at, graph) for f, at in zip(files, places, strict=True)]
    sorts = {sort for _, sort in pairs}
    default = {Sort.REAL: "f32", Sort.INDEX: "i32", Sort.BOOL: "bool"}[pairs[0][1]]
    type_ = _type(p.dtype or default, f"{place}.dtype")
    for sort in sorts:
        if not _fits(type_, sort):
            raise LaunchError(f"{place}.dtype: {type_.value} holds no {sort.value} tensor")
    elements = None if p.elements is None else _expression(p.elements, f"{place}.elements")
    parts = tuple(part for part, _ in pairs)
    return BufferParameter(name, type_, parts, elements, any(q.result for q in parts))


def _fits(t: Type, sort: Sort) -> bool:
    if sort is Sort.REAL:
        return t.is_float
    return t.is_int or t is Type.BOOL if sort is Sort.BOOL else t.is_int


def _part(p: PartFile, place: str, graph: Graph) -> tuple[Part, Sort]:
    if p.access not in ACCESSES:
        raise LaunchError(f"{place}.access: {p.access!r} is none of {', '.join(ACCESSES)}")
    source = "" if p.access == "out" else p.tensor
    result = {"in": "", "out": p.tensor, "in-out": p.result}[p.access]
    if p.access == "in-out" and not p.result:
        raise LaunchError(f"{place}.result: an in-out tensor names the output that it becomes")
    if p.access != "in-out" and p.result:
        raise LaunchError(f"{place}.result: only an in-out tensor has one")
    shapes = []
    if source:
        known = {i.name: i for i in graph.inputs}
        shapes.append(known[_named(source, known, f"{place}.tensor", "input")])
    rank, sort = (len(shapes[0].shape), shapes[0].sort) if shapes else (-1, Sort.REAL)
    if result:
        field = "tensor" if p.access == "out" else "result"
        outputs = {o.name: o.ref for o in graph.outputs}
        ref = outputs[_named(result, outputs, f"{place}.{field}", "output")]
        if source and graph.shape(ref) != shapes[0].shape:
            raise LaunchError(f"{place}.result: {result!r} has another shape than {source!r}")
        rank, sort = len(graph.shape(ref)), graph.sort(ref)
    strides = None if p.strides is None else _extents(p.strides, f"{place}.strides")
    if strides is not None and len(strides) != rank:
        raise LaunchError(f"{place}.strides: {len(strides)} for a tensor of {rank} dimensions")
    return Part(source, result, strides, _expression(p.offset, f"{place}.offset")), sort


def _named(name: str, known: Mapping[str, object], place: str, kind: str) -> str:
    if name not in known:
        listed = ", ".join(known) or "none"
        raise LaunchError(f"{place}: the specification has no {kind} {name!r}: {listed}")
    return name


def _check_tensors(parameters: tuple[Parameter, ...], graph: Graph) -> None:
    """Every output has one place, every name of a parameter is its own."""
    names = [p.name for p in parameters]
    twice = [n for n in names if names.count(n) > 1]
    if twice:
        raise LaunchError(f"parameters: two are called {twice[0]!r}; give them names")
    parts = [q for p in parameters if isinstance(p, BufferParameter) for q in p.parts]
    results = [q.result for q in parts if q.result]
    for output in graph.outputs:
        if results.count(output.name) != 1:
            count = "no parameter" if output.name not in results else "more than one parameter"
            raise LaunchError(f"parameters: {count} holds the output {output.name!r}")


def _type(name: str, place: str) -> Type:
    try:
        return Type(name)
    except ValueError:
        known = ", ".join(t.value for t in Type)
        raise LaunchError(f"{place}: unknown dtype {name!r}: one of {known}") from None


def _extents(items: list[Size], place: str) -> tuple[Expression, ...]:
    if place in ("grid", "workgroup") and len(items) > 3:
        raise LaunchError(f"{place}: at most three dimensions, not {len(items)}")
    return tuple(_expression(s, f"{place}[{i}]") for i, s in enumerate(items))


def _expression(text: Size | float, place: str) -> Expression:
    try:
        return parse(text)
    except ExpressionError as e:
        raise LaunchError(f"{place}: {e}") from e


def _sizes(sizes: dict[str, int], place: str, graph: Graph) -> dict[str, int]:
    missing = sorted(graph.symbols - sizes.keys())
    if missing:
        raise LaunchError(f"{place}: no size for {missing[0]!r}")
    return sizes
