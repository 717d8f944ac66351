"""Products of tensors and rows picked from tables.

Defines matmul, embedding and one_hot. Relies on `compute`; batch dims broadcast as in NumPy.
Nothing here chooses an algorithm: a contraction is one comprehension.
"""

from __future__ import annotations

from tang.frontend.build import make
from tang.frontend.dims import dim, index
from tang.frontend.elementwise import broadcast_shapes, dims_of, read_broadcast
from tang.frontend.functions import select
from tang.frontend.reductions import sum as total
from tang.frontend.site import failure
from tang.frontend.tensors import Tensor
from tang.frontend.values import Operand, Value
from tang.ir.expr import INDEX, Sort
from tang.ir.extent import PolyLike


def matmul(a: Tensor, b: Tensor, name: str | None = None) -> Tensor:
    """a @ b as in NumPy: (…, n, k) by (…, k, m), batch dims broadcast; vectors lose their axis."""
    if a.rank < 1 or b.rank < 1:
        raise failure(f"matmul of {a.name!r} and {b.name!r} needs rank 1 or more")
    inner = b.shape[max(0, b.rank - 2)]
    if a.shape[-1] != inner:
        raise failure(f"matmul: {a!r} has {a.shape[-1]} columns, {b!r} has {inner} rows")
    batch = broadcast_shapes(a.shape[:-2], b.shape[: max(0, b.rank - 2)])
    dims = dims_of(batch, "b")
    k = dim("k", inner)
    rows = (dim("i", a.shape[-2]),) if a.rank > 1 else ()
    columns = (dim("j", b.shape[-1]),) if b.rank > 1 else ()
    left = _element(a, dims, batch, (*rows, k))
    right = _element(b, dims, batch, (k, *columns))
    return make(name or "matmul", [*dims, *rows, *columns], total(left * right, k), auto=True)


def _element(
    x: Tensor, dims: tuple[Value, ...], batch: tuple[PolyLike, ...], last: tuple[Value, ...]
) -> Value:
    own = x.shape[: x.rank - len(last)]
    shape = (*batch, *x.shape[x.rank - len(last) :])
    padded = [*dims[len(dims) - len(own) :], *last]
    return read_broadcast(x, padded, shape[len(batch) - len(own) :])  # type: ignore[arg-type]


def embedding(
    table: Tensor, indices: Tensor, fill: Operand | None = None, name: str | None = None
) -> Tensor:
    """Rows of a table (n, …) by an index tensor; with a fill, rows out of range are filled."""
    if indices.sort is not INDEX:
        raise failure(f"embedding: {indices!r} does not hold indices: declare it with sort index")
    if table.rank < 1:
        raise failure(f"embedding: {table!r} has no rows")
    at, rest = dims_of(indices.shape), dims_of(table.shape[1:], "d")
    row = (indices[at], *rest)
    value = table[row] if fill is None else table.at(*row, fill=fill)
    return make(name or "embedding", [*at, *rest], value, auto=True)


def one_hot(indices: Tensor, classes: PolyLike, name: str | None = None) -> Tensor:
    """1.0 at the index of every element along a new last axis, else 0.0."""
    if indices.sort not in (INDEX, Sort.BOOL):
        raise failure(f"one_hot: {indices!r} does not hold indices")
    at, c = dims_of(indices.shape), dim("c", classes)
    hot = select(index(indices[at]) == c, 1.0, 0.0)
    return make(name or "one_hot", [*at, c], hot, auto=True)
