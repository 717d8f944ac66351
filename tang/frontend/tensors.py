"""Tensors: inputs, results of computations, and how they are subscripted.

Defines `Tensor`, `input`, and the records `InputNode` and `Node` behind them. Relies on
subscripts and values. Nodes carry tokens instead of names, so that names may be chosen, or made
unique, when a graph is assembled; nothing here evaluates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from tang.frontend.dims import as_extent
from tang.frontend.leaves import SERIALS, Dim, TensorRead
from tang.frontend.site import call_site, failure
from tang.frontend.subscripts import subscript_list
from tang.frontend.values import Operand, Value, as_value, placeholder
from tang.ir import expr
from tang.ir.expr import Expr, Sort
from tang.ir.extent import Poly, PolyLike
from tang.ir.graph import Comprehension


@dataclass(frozen=True, slots=True, eq=False)
class InputNode:
    """A declared input."""

    name: str
    shape: tuple[Poly, ...]
    sort: Sort
    serial: int
    site: str


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A comprehension whose reads name their sources by token.

    auto  the name was made up by a helper, and may be changed when it is taken
    """

    name: str
    auto: bool
    comprehension: Comprehension
    sources: tuple[Node | InputNode, ...]
    serial: int
    site: str


def token(node: Node | InputNode) -> str:
    """The unique stand-in for the node's name inside comprehensions."""
    return f"${node.serial}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tensor:
    """An input, or one result of a computation; subscript it with dims."""

    node: Node | InputNode
    output_name: str
    shape: tuple[Poly, ...]
    sort: Sort

    __array_ufunc__ = None

    @property
    def name(self) -> str:
        """The name of the input or of the computation."""
        return self.node.name

    @property
    def rank(self) -> int:
        return len(self.shape)

    def output(self, name: str) -> Tensor:
        """Another output, or a state component, of the same computation."""
        if isinstance(self.node, InputNode):
            raise failure(f"{self.name!r} is an input: only computed tensors have outputs")
        return result(self.node, name)

    def __getitem__(self, key: object) -> Value:
        return self.subscript(key, None)

    def at(self, *subscripts: object, fill: Operand) -> Value:
        """A guarded read: `fill` where a coordinate leaves the tensor.

        Only coordinates that can leave it are guarded: those that are not a dim of the same
        extent, and whose range is not known to stay inside.
        """
        value = as_value(fill, self.sort)
        if value.sort is not self.sort or not expr.is_constant(value.expr):
            raise failure(
                f"{self.name}.at(…, fill={fill!r}): the fill is a constant of sort "
                f"{self.sort.value}; use tg.select for a fill that varies"
            )
        return self.subscript(subscripts, value.expr)

    def subscript(self, key: object, fill: Expr | None) -> Value:
        """The element at the subscripts, guarded when a fill is given."""
        parts = subscript_list(self.name, self.rank, key)
        free = frozenset[Dim]().union(*(p.free for p in parts))
        leaf = TensorRead(self, parts, fill, call_site(), free)
        return placeholder(expr.arg(next(SERIALS), self.sort), leaf)

    def __repr__(self) -> str:
        shape = ", ".join(map(str, self.shape))
        return f"Tensor({self.name!r}, ({shape}), {self.sort.value})"

    def __iter__(self) -> Iterator[Value]:
        raise failure(f"tensor {self.name!r} cannot be iterated: subscript it with a dim")

    def __len__(self) -> NoReturn:
        raise failure(f"tensor {self.name!r} has no len(): see {self.name}.shape")

    def __bool__(self) -> NoReturn:
        raise failure(f"tensor {self.name!r} is symbolic and has no truth value")

    def _unsubscripted(self, other: object) -> NoReturn:
        raise failure(
            f"tensor {self.name!r} is used without subscripts: write {self.name}[i, …], or "
            "tg.elementwise(lambda a, b: a + b, x, y) for whole tensors"
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _unsubscripted
    __truediv__ = __rtruediv__ = __pow__ = __mod__ = __floordiv__ = _unsubscripted
    __and__ = __rand__ = __or__ = __ror__ = _unsubscripted
    __lt__ = __le__ = __gt__ = __ge__ = __xor__ = __rxor__ = _unsubscripted

    def _alone(self) -> NoReturn:
        self._unsubscripted(None)

    __neg__ = __pos__ = __abs__ = __invert__ = _alone

    def __matmul__(self, other: object) -> NoReturn:
        raise failure(f"{self.name!r} @ …: write tg.matmul(x, y)")

    __rmatmul__ = __matmul__


def input(name: str, shape: Sequence[PolyLike] | PolyLike, sort: str | Sort = "real") -> Tensor:
    """Declare an input under any name; extents are ints, symbol names or polynomials of them."""
    if not isinstance(name, str) or not name:
        raise failure(f"an input needs a non-empty name, not {name!r}")
    if not isinstance(sort, Sort) and sort not in [s.value for s in Sort]:
        raise failure(f"input {name!r}: the sort is real, index or bool, not {sort!r}")
    extents = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    sizes = tuple(as_extent(e, f"input {name!r}") for e in extents)
    node = InputNode(name, sizes, Sort(sort), next(SERIALS), call_site())
    return Tensor(node, "", sizes, node.sort)


def result(node: Node, output: str) -> Tensor:
    """The tensor that is one result of a node; raises GraphError naming the known ones."""
    names = node.comprehension.output_names()
    if output not in names:
        raise failure(f"{node.name!r} has no output {output!r}: one of {', '.join(names)}")
    found = node.comprehension.tensor(output)
    return Tensor(node, output, found.shape, found.sort)
