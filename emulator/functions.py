"""One kernel function on whole arrays.

Defines `call_function`, which evaluates a helper millions of elements at a time. Relies on the
compiled form of functions. It runs no statements, memory or sanitizer.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Final

import numpy as np

from tang.emulator import ints
from tang.emulator.compile import Body, Cache, Compiler, remember
from tang.emulator.domain import Domain
from tang.emulator.domains import domain_named
from tang.emulator.ints import STORED
from tang.emulator.machine import Array, Machine, Value
from tang.emulator.records import Journal
from tang.emulator.rounding import require_subnormals
from tang.kernel.ir import Function, Kernel, Type

_CHUNK: Final = 2**14
"""Lanes at a time: a few dozen intermediate arrays stay in cache."""

_CACHE: Final[Cache] = OrderedDict()


def call_function(
    function: Function,
    args: tuple[Any, ...],
    *,
    domain: str | Domain = "formats",
    functions: tuple[Function, ...] = (),
) -> Array:
    """The function of every element of the arrays, which broadcast to one shape.

    functions  those that it calls
    Floats are given and returned as values (bf16 as f32); of a domain with several planes the
    first one comes back.
    """
    require_subnormals()
    chosen = domain_named(domain) if isinstance(domain, str) else domain
    body = _compiled(function, functions, chosen)
    arrays = np.broadcast_arrays(*(np.asarray(a) for a in args))
    shape = arrays[0].shape if arrays else ()
    flat = [np.ascontiguousarray(a).reshape(-1) for a in arrays]
    lanes = flat[0].size if flat else 1
    kernel = _wrapper(function, functions)
    parts = []
    with np.errstate(all="ignore"):
        for start in range(0, max(lanes, 1), _CHUNK):
            piece = [a[start : start + _CHUNK] for a in flat]
            size = piece[0].size if piece else 1
            machine = Machine(kernel, size, 0, Journal(), sanitize=False, tracks=chosen.tracks)
            pairs = zip(function.params, piece, strict=True)
            given = [_given(chosen, param.type, data) for param, data in pairs]
            parts.append(_result(chosen, function.result.type, body(machine, *given), size))
    return np.concatenate(parts).reshape(shape)


def _compiled(function: Function, functions: tuple[Function, ...], domain: Domain) -> Body:
    key = (id(function), f"{domain.name}/{[id(f) for f in functions]}", False)
    found = _CACHE.get(key)
    if found is None:
        compiler = Compiler(_wrapper(function, functions), domain, abstracted=False)
        held = (function, functions)  # keeps the ids of the key unique
        found = remember(_CACHE, key, (compiler.body(function, domain), held))
    body: Body = found[0]
    return body


def _wrapper(function: Function, functions: tuple[Function, ...]) -> Kernel:
    return Kernel(f"call of {function.name}", (), (), (), 1, (*functions, function))


def _given(domain: Domain, type_: Type, data: Array) -> Value:
    if type_.is_float:
        return domain.unpack(type_, domain.read(type_, data))
    return ints.from_array(type_, data.astype(STORED[type_]))


def _result(domain: Domain, type_: Type, value: Value, size: int) -> Array:
    if not type_.is_float:
        plain = np.asarray(ints.to_array(value)).astype(STORED[type_])
    else:
        plain = _first(value)
    return np.array(np.broadcast_to(plain, (size,)))


def _first(value: Value) -> Array:
    if isinstance(value, tuple):
        return np.asarray(value[0])
    return np.asarray(getattr(value, "value", value))
