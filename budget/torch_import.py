"""Modules of PyTorch as programs, through `torch.export`.

Defines `from_torch`, `from_exported` and `Imported`. Relies on the interface of an ExportedProgram
(its graph of nodes, its signature, its state), and imports torch only when a module is exported.
It takes no dynamic shapes, no training behaviour and no operation without a row in `torch_ops`.

Every tensor of floats is a tensor of reals: which format it has on a device is the schedule's
choice. Nodes are called by the path of the module that they belong to, as in "attn.q.linear".
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.budget.torch_ops import OPS, Call
from tang.errors import GraphError, TangError
from tang.frontend.graph import Graph
from tang.frontend.tensors import Tensor, input
from tang.ir import graph as ir
from tang.ir.expr import BOOL, INDEX, REAL, Sort

Array = npt.NDArray[Any]

_SORTS: Final[Mapping[str, Sort]] = {
    **{f"torch.{n}": REAL for n in ("float64", "float32", "float16", "bfloat16")},
    **{f"torch.{n}": REAL for n in ("float8_e4m3fn", "float8_e5m2")},
    **{f"torch.{n}": INDEX for n in ("int64", "int32", "int16", "int8", "uint8")},
    "torch.bool": BOOL,
}


_PARTS: Final = ("graph", "graph_signature", "state_dict", "constants")
"""What is read of an ExportedProgram."""


@dataclass(frozen=True, slots=True, eq=False)
class Imported:
    """A module as a program, and the arrays that it was exported with.

    inputs  by input of the graph: parameters and buffers by their names in the module, then the
            example inputs
    """

    graph: ir.Graph
    inputs: Mapping[str, Array] = field(repr=False)


def from_torch(module: Any, example_inputs: Sequence[Any]) -> Imported:  # noqa: ANN401 - torch's
    """The program of a module in eval mode, for inputs of the shapes of the examples.

    Raises GraphError where torch is missing, where the module cannot be exported, and for an
    operation without a translation, naming it, its node and the line of the module.
    """
    try:
        torch = import_module("torch")
    except ImportError as e:
        raise GraphError(f"from_torch needs PyTorch: pip install torch ({e})") from e
    if not isinstance(module, torch.nn.Module):
        raise GraphError(f"from_torch takes a torch.nn.Module, not {type(module).__name__}")
    if module.training:
        raise GraphError("the module is in training mode: call module.eval() first")
    try:
        exported = torch.export.export(module, tuple(example_inputs))
    except Exception as e:
        reason = str(e).splitlines()[0] if str(e) else type(e).__name__
        raise GraphError(f"torch.export cannot export this module: {reason}") from e
    return from_exported(exported, example_inputs)


def from_exported(exported: Any, example_inputs: Sequence[Any]) -> Imported:  # noqa: ANN401 - torch's
    """The program of an ExportedProgram, whose inputs are the examples in order."""
    missing = [n for n in _PARTS if not hasattr(exported, n)]
    if missing:
        raise GraphError(
            "from_exported takes an ExportedProgram, as torch.export.export gives it, and "
            f"{type(exported).__name__} has no {missing[0]}"
        )
    if not isinstance(example_inputs, Iterable):
        raise GraphError(f"example inputs are a sequence of tensors, not {example_inputs!r}")
    reader = _Reader(exported, list(example_inputs))
    for node in exported.graph.nodes:
        reader.take(node)
    graph = Graph(reader.outputs)
    used = {i.name for i in graph.inputs}
    return Imported(graph, {n: a for n, a in reader.arrays.items() if n in used})


class _Reader:
    """What is known of an exported graph, node by node."""

    def __init__(self, exported: Any, examples: list[Any]) -> None:  # noqa: ANN401 - torch's
        self.known: dict[str, Any] = {}
        self.arrays: dict[str, Array] = {}
        self.outputs: dict[str, Tensor] = {}
        self.examples = examples
        self.state: dict[str, Any] = {**exported.state_dict, **exported.constants}
        specs = exported.graph_signature.input_specs
        self.specs = {spec.arg.name: spec for spec in specs}
        self.kinds = [s.kind.name for s in exported.graph_signature.output_specs]

    def take(self, node: Any) -> None:  # noqa: ANN401 - a node of torch.fx
        if node.op == "placeholder":
            self.known[node.name] = self._input(node)
        elif node.op == "output":
            self._finish(node)
        elif node.op == "call_function":
            self.known[node.name] = self._called(node)
        else:
            raise GraphError(f"{_place(node)}: nodes of kind {node.op!r} are not supported")

    # --- inputs and outputs -----------------------------------------------------------------------

    def _input(self, node: Any) -> Any:  # noqa: ANN401 - a tensor, or the constant that was given
        spec = self.specs[node.name]
        kind = spec.kind.name
        if kind == "USER_INPUT":
            if not self.examples:
                raise GraphError(f"no example for the input {node.name!r}")
            given, name = self.examples.pop(0), node.name
        elif kind in ("PARAMETER", "BUFFER", "CONSTANT_TENSOR"):
            name = spec.target
            if name not in self.state:
                raise GraphError(f"the exported program holds no {kind.lower()} {name!r}")
            given = self.state[name]
        else:
            raise GraphError(f"{_place(node)}: inputs of kind {kind} are not supported")
        if not hasattr(given, "detach"):
            return given
        if name in self.arrays:
            raise GraphError(f"{name!r} names an input and a parameter: rename one of them")
        self.arrays[name] = array_of(given, name)
        return input(name, self.arrays[name].shape, sort_of(given, name))

    def _finish(self, node: Any) -> None:  # noqa: ANN401 - torch's
        changed = [k for k in self.kinds if k != "USER_OUTPUT"]
        if changed:
            raise GraphError(
                f"the module has outputs of kind {changed[0]}: it must not change state"
            )
        found = self._values(node.args[0])
        for k, (value, source) in enumerate(zip(found, _flat(node.args[0]), strict=True)):
            if not isinstance(value, Tensor):
                raise GraphError(f"output {k} of the module is no tensor that it computes")
            name = getattr(source, "name", f"output_{k}")
            self.outputs["y" if len(found) == 1 else name] = value

    # --- operations -------------------------------------------------------------------------------

    def _called(self, node: Any) -> Any:  # noqa: ANN401 - a tensor, several, or a constant
        if not node.users:
            return None
        if node.target is operator.getitem:
            return self._item(node)
        op = str(node.target)
        row = OPS.get(op.removeprefix("aten."))
        if row is None:
            raise GraphError(
                f"{_place(node)}: operation {op} is not supported; the supported ones are in "
                "tang.budget.torch_ops.OPS"
            )
        call = Call(_name(node), self._values(node.args), self._keywords(node.kwargs))
        try:
            return row(call)
        except TangError as e:
            raise GraphError(f"{_place(node)}: {op}: {e}") from e
        except (TypeError, IndexError, KeyError, AttributeError) as e:
            raise GraphError(
                f"{_place(node)}: {op} with these arguments is not supported: {e}"
            ) from e

    def _item(self, node: Any) -> Any:  # noqa: ANN401 - a tensor
        whole, key = self._values(node.args)
        if not isinstance(whole, list) or not 0 <= key < len(whole):
            raise GraphError(f"{_place(node)}: result {key} of {node.args[0]} is not supported")
        return whole[key]

    def _values(self, args: Iterable[Any]) -> list[Any]:
        return [self._value(a) for a in args]

    def _keywords(self, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        return {k: self._value(v) for k, v in kwargs.items()}

    def _value(self, a: Any) -> Any:  # noqa: ANN401 - whatever stands in an argument
        if isinstance(a, (list, tuple)):
            return [self._value(x) for x in a]
        if hasattr(a, "op") and hasattr(a, "name"):
            return self.known[a.name]
        return a


def _flat(args: Iterable[Any]) -> list[Any]:
    return list(args)


def _name(node: Any) -> str:  # noqa: ANN401 - torch's
    """The path of the module and the operation: "mlp.0.linear"."""
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    path = str(stack[-1][0]) if stack else ""
    op = str(node.target).removeprefix("aten.").split(".")[0]
    return f"{path}.{op}" if path else op


def _place(node: Any) -> str:  # noqa: ANN401 - torch's
    """A node and, where torch says so, the line of the module behind it."""
    trace = [s.strip() for s in (node.meta.get("stack_trace") or "").splitlines() if s.strip()]
    lines = [s for s in trace if s.startswith("File ")]
    return f"node {node.name!r}" + (f" ({lines[-1]})" if lines else "")


def sort_of(tensor: Any, name: str) -> Sort:  # noqa: ANN401 - torch's
    """What the elements of a tensor of torch are; GraphError for complex ones and the like."""
    found = _SORTS.get(str(tensor.dtype))
    if found is None:
        raise GraphError(f"{name!r} holds {tensor.dtype}: one of {', '.join(_SORTS)} is supported")
    return found


def array_of(tensor: Any, name: str) -> Array:  # noqa: ANN401 - torch's
    """The elements of a tensor of torch; formats that NumPy lacks become f32."""
    sort = sort_of(tensor, name)
    held = tensor.detach().cpu()
    if sort is REAL and str(held.dtype) not in ("torch.float64", "torch.float32"):
        held = held.float()
    found = np.array(held.numpy())
    return found.astype(np.int64) if sort is INDEX else found
