"""The IR: what a tang program is.

Gathers the public names of its modules: expressions, views, extents, monoids, graphs, and what
checks, binds, prints and stores them. It defines nothing itself.
"""

from tang.ir.bind import bind, infer_sizes
from tang.ir.bounds import form_range, magnitude
from tang.ir.expr import BOOL, INDEX, REAL, Expr, Sort
from tang.ir.extent import Poly, poly
from tang.ir.graph import Comprehension, Dim, Fact, Graph, Input, Output
from tang.ir.laws import check_laws
from tang.ir.monoid import Axis, Component, Monoid
from tang.ir.serial import from_json, to_json
from tang.ir.text import to_text
from tang.ir.validate import validate
from tang.ir.view import Affine, Interval, Read, Ref, View

__all__ = [
    "BOOL",
    "INDEX",
    "REAL",
    "Affine",
    "Axis",
    "Component",
    "Comprehension",
    "Dim",
    "Expr",
    "Fact",
    "Graph",
    "Input",
    "Interval",
    "Monoid",
    "Output",
    "Poly",
    "Read",
    "Ref",
    "Sort",
    "View",
    "bind",
    "check_laws",
    "form_range",
    "from_json",
    "infer_sizes",
    "magnitude",
    "poly",
    "to_json",
    "to_text",
    "validate",
]
