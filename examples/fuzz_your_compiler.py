"""Fuzz your own compiler: tang fuzz --backends examples/fuzz_your_compiler.py:Mine"""

import numpy as np

from tang.ir.expr import walk

OPS = {"add": np.add, "mul": np.multiply, "neg": np.negative, "recip": np.reciprocal,
       "sqrt": np.sqrt, "sin": np.sin, "exp2": np.exp2, "log2": np.log2, "isnan": np.isnan,
       "floor": np.trunc, "lt": np.less, "eq": np.equal, "select": np.where}  # fmt: skip


class Mine:  # a compiler to NumPy for simple maps; one row above is wrong
    name = "mine"

    def supports(self, graph):
        for node in graph.nodes:
            if node.monoid or any(r.view.guard or r.view.gathers for r in node.reads):
                return "only maps without guards"
            ops = {e.payload if isinstance(e.payload, str) else e.op for e in walk(*node.body)}
            if alien := ops - {*OPS, "arg", "real"}:
                return f"no {min(alien)} yet"

    def run(self, graph, inputs):
        arrays = {(name, ""): array for name, array in inputs.items()}
        for node in graph.nodes:
            shape = [d.extent.constant for d in node.point]
            self.grid = {d.name: at for d, at in zip(node.point, np.indices(shape))}
            reads = [self.read(arrays[r.source.node, r.source.output], r) for r in node.reads]
            for name, body in zip(node.outputs, node.body):
                arrays[node.name, name] = np.broadcast_to(self.value(body, reads), shape)
        return {o.name: arrays[o.ref.node, o.ref.output] for o in graph.outputs}

    def read(self, array, read):
        places = [sum((self.grid[v] * c.constant for v, c in form.terms), form.const.constant)
                  for form in read.view.coords]  # fmt: skip
        return array[tuple(places)]

    def value(self, e, reads):
        if e.op in OPS:
            return OPS[e.op](*(self.value(a, reads) for a in e.args))
        return reads[e.payload] if e.op == "arg" else float(e.payload)
