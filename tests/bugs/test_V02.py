"""V02: a check shares no memory with its reference, and every call counts.

KernelBench#82, llm.c#851.
"""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.device import CompilerOptions, HostC
from tang.emit import emit
from tang.verify import Rung, Task, Verdict, ladder, verify_batch

X = np.arange(1.0, 9.0, dtype=np.float32)
GRAPH = tg.Graph(y=tg.exp2(tg.input("x", (8,))))


def test_inputs_are_unchanged_and_right_results_come_at_every_call(compiled):
    for split in (1, 3):
        run = compiled(
            tg.Graph(y=tg.exp2(tg.input("x", (8,))), s=tg.sum(tg.input("x", (8,)))), split=split
        )
        kept = X.copy()
        first = run({"x": kept})
        for _ in range(5):
            again = run({"x": kept})
            assert not np.shares_memory(again["y"], first["y"])
            np.testing.assert_array_equal(again["y"], first["y"])
            again["y"][:] = 0
        assert kept.tobytes() == X.tobytes()
        fresh = run({"x": X[::-1]})
        np.testing.assert_array_equal(fresh["y"], first["y"][::-1])
        assert first["y"].tolist() == [2.0**n for n in range(1, 9)]
        assert first["s"] == fresh["s"] == 36


class Mutant(HostC):
    """A host that compiles a text changed by `edit`."""

    edit = staticmethod(lambda text: text)

    def compile(self, kernels):
        return tuple(self.compile_text(k, self.edit(emit(k)), f"{k.name}_k") for k in kernels)


def store(text, replacement):
    """The text with a new statement in place of the only store."""
    start = text.rindex("exp2_value_b[")
    end = text.index(";", start) + 1
    return text[:start] + replacement(text[start:end]) + text[end:]


EDITS = {
    "right": (lambda s: s, None),
    "changes its input": (lambda s: s + " ((f32*)x_b)[0] = 7.0f;", Verdict.STRAY_WRITE),
    "right at first": (lambda s: "static int n; if (n++ < 8) " + s, Verdict.WRONG),
    "adds to its output": (lambda s: s.replace(" = ", " += ", 1), Verdict.WRONG),
    "writes too far": (lambda s: s + " exp2_value_b[8] = 1.0f;", Verdict.STRAY_WRITE),
    "keeps its output": (lambda s: "", Verdict.UNWRITTEN),
}


@pytest.mark.parametrize("name", EDITS)
def test_a_kernel_that_cheats_is_found(name, tmp_path, monkeypatch):
    replacement, verdict = EDITS[name]
    device = Mutant(CompilerOptions(cache=tmp_path))
    device.edit = lambda text: store(text, replacement)
    monkeypatch.setattr(ladder, "open_backend", lambda name: device)
    (report,) = verify_batch([Task(graph=GRAPH, inputs={"x": X})])
    device.close()
    found = [f.verdict for f in report.findings if f.rung is Rung.EMIT]
    if name in ("right at first", "adds to its output"):
        assert found in ([Verdict.WRONG], [Verdict.NONDETERMINISTIC], [Verdict.UNWRITTEN])
    else:
        assert found == ([verdict] if verdict else [])
