"""Foreign backends for the tests: a right one, wrong ones, one that dies and one that hangs."""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tang.interpreter import evaluate, interpret
from tang.interpreter.f64 import F64
from tang.ir import REAL


def in_f32(function):
    """The function with operands and result in f32."""

    def rounded(*operands):
        single = [np.float32(o) if np.asarray(o).dtype == np.float64 else o for o in operands]
        with np.errstate(all="ignore"):
            result = np.asarray(function(*single))
        return np.asarray(result, np.float64) if result.dtype.kind == "f" else result

    return rounded


SINGLE = {
    k: in_f32(f) if REAL in k and k[0] not in ("erf", "isnan") else f for k, f in F64.ops.items()
}


@dataclass
class Table:
    """The definition over another table of operations."""

    ops: dict
    name: str = "table"

    def supports(self, graph):
        return None

    def run(self, graph, inputs):
        return evaluate(graph, inputs, replace(F64, ops={**F64.ops, **self.ops}))


def honest():
    return Table({})


def single():
    return Table(SINGLE)


def wrong():
    return Table({("mul", REAL): lambda a, b: a * b * (1 + 1e-3)})


class Reserved(Table):
    def supports(self, graph):
        return "not today"


def reserved():
    return Reserved({})


class Fragile(Table):
    def run(self, graph, inputs):
        os.abort()


def fragile():
    return Fragile({})


class Raising(Table):
    def run(self, graph, inputs):
        raise ValueError("out of ideas")


def raising():
    return Raising({})


class Truthful(Table):
    """Answers `supports` with a truth value."""

    def supports(self, graph):
        return False


def truthful():
    return Truthful({})


class Chatty(Table):
    """Prints, and reads what it can."""

    def run(self, graph, inputs):
        print("hello")
        os.system("echo from a shell; cat > /dev/null")  # noqa: S605
        return interpret(graph, inputs)


def chatty():
    return Chatty({})


class Parent(Table):
    """Leaves a process behind, and hangs."""

    def run(self, graph, inputs):
        Path(os.environ["TANG_TEST_PID"]).write_text(str(subprocess.Popen(["sleep", "600"]).pid))
        time.sleep(600)


def parent():
    return Parent({})


class Leaver(Table):
    def run(self, graph, inputs):
        os._exit(3)


def leaver():
    return Leaver({})


class Slow(Table):
    def run(self, graph, inputs):
        time.sleep(60)


def slow():
    return Slow({})


class Unsteady(Table):
    """Every other answer is off by one bit of its reals, which f32 may be."""

    calls = 0

    def run(self, graph, inputs):
        self.calls += 1
        outputs = interpret(graph, inputs)
        odd = self.calls % 2
        return {
            n: np.nextafter(v, 9) if v.dtype.kind == "f" and odd else v for n, v in outputs.items()
        }


def unsteady():
    return Unsteady({})


class Fickle(Table):
    """Declines every second question."""

    calls = 0

    def supports(self, graph):
        self.calls += 1
        return None if self.calls % 2 else "not again"


def fickle():
    return Fickle({})


class Careless(Table):
    """Forgets an output, or its shape."""

    def run(self, graph, inputs):
        outputs = interpret(graph, inputs)
        first = next(iter(outputs))
        return {**outputs, first: outputs[first].reshape(-1)[:0]}


def careless():
    return Careless({})
