"""What the model tests share: agreement within derived bounds, and a few functions in NumPy.

Defines `agree`, `parameters_of` and elementary functions that the references use. Relies on the
interpreter and its forward errors. The references themselves stand in the tests, each on its own.
"""

from __future__ import annotations

import math

import numpy as np

from tang.interpreter import interpret
from tang.interpreter.equality import MARGIN, SMALL
from tang.models import weights

erf = np.vectorize(math.erf, otypes=[float])


def agree(graph, data, **expected):
    """Assert that outputs of a graph equal a reference within twice the derived f64 errors.

    The reference sums the same terms in another order, so it may be off by as much as the graph.
    Errors that are not small beside the largest value would say nothing, and fail too.
    """
    found = interpret(graph, data, err=True)
    for name, want in expected.items():
        got, err = found[name].value, np.broadcast_to(found[name].err, found[name].shape)
        assert got.shape == np.shape(want), name
        assert (np.isnan(got) == np.isnan(want)).all(), name
        live = ~np.isnan(want)
        assert (np.abs(got - want)[live] <= 2 * MARGIN * err[live]).all(), name
        assert err.max(initial=0) <= SMALL * max(1.0, np.abs(got[live]).max(initial=0)), name


def parameters_of(graph, seed=0, **sizes):
    """The parameters of a model in f64."""
    return {n: w.astype(np.float64) for n, w in weights(graph, sizes, seed).items()}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def silu(x):
    return x * sigmoid(x)


def gelu(x):
    return x * (1 + erf(x / math.sqrt(2))) / 2


def softmax(x):
    """Over the last axis; a row of −inf alone is NaN."""
    with np.errstate(invalid="ignore"):
        e = np.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)


def rms(x, weight, eps):
    """RMS norm over the axes of the weight."""
    axes = tuple(range(x.ndim - weight.ndim, x.ndim))
    return x / np.sqrt((x**2).mean(axes, keepdims=True) + eps) * weight


def layer_norm(x, weight, bias, eps=1e-5):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt(x.var(-1, keepdims=True) + eps) * weight + bias


def dense(x, w, name):
    """x Wᵀ, plus the bias if there is one."""
    return x @ w[f"{name}.weight"].T + w.get(f"{name}.bias", 0.0)
