"""A mixture of experts: top-k routing over SwiGLU experts.

Defines `moe_layer` in two forms that are equal over the reals. Relies on index notation; the
routing is a top-k over the router's logits and a softmax over the selected. Tokens are not sorted
by expert here, and no expert has a capacity: nothing is dropped.

Shazeer et al., Outrageously Large Neural Networks (2017); Jiang et al., Mixtral of Experts (2024).
"""

from __future__ import annotations

from typing import Literal

from tang.errors import GraphError
from tang.frontend.build import compute
from tang.frontend.dims import dim, dims
from tang.frontend.functions import select, silu
from tang.frontend.graph import Graph
from tang.frontend.reductions import sum as total
from tang.frontend.reductions import top_k
from tang.frontend.tensors import Tensor, input
from tang.ir import graph as ir
from tang.ir.extent import PolyLike
from tang.models.parts import linear, softmax


def moe_layer(
    *,
    tokens: PolyLike = "tokens",
    width: int = 32,
    hidden: int = 64,
    experts: int = 8,
    chosen: int = 2,
    dispatch: Literal["gathered", "gated"] = "gathered",
) -> ir.Graph:
    """x (N, C) → y (N, C), gates (N, k), experts (N, k) index.

    y = Σ over the k chosen experts of gate · down(silu(gate_proj x) · up x). Cost in multiply-adds:
    gathered  N·k·3·C·F, and as many reads of weights: each token reads its experts' own rows
    gated     N·E·3·C·F with dense products; experts not chosen count with gate 0 (so a non-finite
              result of one of them makes y NaN)
    Both add N·E·C for the router. Parameters: router.weight (E, C), experts.gate.weight and
    experts.up.weight (E, F, C), experts.down.weight (E, C, F).
    """
    if not 1 <= chosen <= experts:
        raise GraphError(f"{chosen} of {experts} experts cannot be chosen")
    x = input("x", (tokens, width))
    logits = linear(x, experts, "router", bias=False)
    n, e = dim("n", tokens), dim("e", experts)
    best = compute("best", n, top_k(logits[n, e], chosen, e))
    gates = softmax(best, 1, "gates")
    which = best.output("indices")
    mixed = _gathered if dispatch == "gathered" else _gated
    y = mixed(x, gates, which, experts, hidden)
    return Graph(y=y, gates=gates, experts=which)


def _weights(experts: int, hidden: int, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    rows = (experts, hidden, x.shape[1])
    gate, up = input("experts.gate.weight", rows), input("experts.up.weight", rows)
    return gate, up, input("experts.down.weight", (experts, x.shape[1], hidden))


def _gathered(x: Tensor, gates: Tensor, which: Tensor, experts: int, hidden: int) -> Tensor:
    """Every token multiplies by the weights of its own experts, found by index."""
    gate, up, down = _weights(experts, hidden, x)
    n, r, f, c, o = dims("n r f c o")
    own = which[n, r]
    bent = silu(total(x[n, c] * gate[own, f, c], c))
    inner = compute("experts.inner", (n, r, f), bent * total(x[n, c] * up[own, f, c], c))
    part = gates[n, r] * inner[n, r, f] * down[own, o, f]
    return compute("mixed", (n, o), total(part, (r, f)))


def _gated(x: Tensor, gates: Tensor, which: Tensor, experts: int, hidden: int) -> Tensor:
    """Every token goes through every expert; the gate is 0 where it was not chosen."""
    gate, up, down = _weights(experts, hidden, x)
    n, r, f, c, o = dims("n r f c o")
    e = dim("e", experts)
    share = compute("shares", (n, e), total(select(which[n, r] == e, gates[n, r], 0.0), r))
    bent = silu(total(x[n, c] * gate[e, f, c], c))
    inner = compute("experts.inner", (n, e, f), bent * total(x[n, c] * up[e, f, c], c))
    part = share[n, e] * inner[n, e, f] * down[e, o, f]
    return compute("mixed", (n, o), total(part, (e, f)))
