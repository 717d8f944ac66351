"""An ExportedProgram without torch: nodes, a signature and a state, as torch.export gives them."""

from __future__ import annotations

from types import SimpleNamespace as Some

import numpy as np


class FakeTensor:
    """What the importer asks of a tensor of torch."""

    def __init__(self, array, dtype=None):
        self.array = np.asarray(array)
        self.dtype = dtype or f"torch.{self.array.dtype}"

    def detach(self):
        return self

    def cpu(self):
        return self

    def float(self):
        return FakeTensor(self.array.astype(np.float32))

    def numpy(self):
        return self.array


class Export:
    """Builds one: inputs and parameters first, then calls, then the outputs."""

    def __init__(self):
        self.nodes, self.inputs, self.outputs = [], [], []
        self.state, self.examples = {}, []

    def node(self, op, name, target, args=(), kwargs=None, **meta):
        found = Some(op=op, name=name, target=target, args=args, kwargs=kwargs or {}, meta=meta,
                     users={})  # fmt: skip
        for a in args:
            for one in a if isinstance(a, (list, tuple)) else (a,):
                if hasattr(one, "users"):
                    one.users[name] = found
        self.nodes.append(found)
        return found

    def parameter(self, target, array, kind="PARAMETER"):
        name = "p_" + target.replace(".", "_")
        self.state[target] = FakeTensor(array)
        self.inputs.append(Some(kind=Some(name=kind), arg=Some(name=name), target=target))
        return self.node("placeholder", name, name)

    def input(self, name, array, dtype=None):
        self.examples.append(FakeTensor(array, dtype))
        self.inputs.append(Some(kind=Some(name="USER_INPUT"), arg=Some(name=name), target=None))
        return self.node("placeholder", name, name)

    def call(self, target, *args, path="", **kwargs):
        count = sum(n.target == target for n in self.nodes)
        name = target.split(".")[1] + (f"_{count}" if count else "")
        meta = {"nn_module_stack": {"k": (path, "torch.nn.Module")}} if path else {}
        meta["stack_trace"] = f'  File "layer.py", line {len(self.nodes)}, in forward\n'
        return self.node("call_function", name, target, args, kwargs, **meta)

    def done(self, *outputs, kind="USER_OUTPUT"):
        self.node("output", "output", "output", (tuple(outputs),))
        return Some(
            graph=Some(nodes=self.nodes), state_dict=self.state, constants={},
            graph_signature=Some(input_specs=self.inputs,
                                 output_specs=[Some(kind=Some(name=kind)) for _ in outputs]),
        )  # fmt: skip
