"""A compiler that crashes on a text is asked again, where its language knows how."""

from __future__ import annotations

from pathlib import Path

import pytest

from tang.device.base import Limits
from tang.device.isolation import CompilerCrashError
from tang.device.modules import Modules
from tang.device.texts import TextStore
from tang.fuzz.case import draw_case
from tang.kernel import ir as k
from tang.verify import Task, verify_batch
from tang.verify.backends import available

AGAIN = "/* again */\n"
COPY = k.Kernel(
    "copy",
    (k.Param("x", k.F32, False), k.Param("y", k.F32, True)),
    (),
    (k.Store("y", k.Var(k.I64, "global_id"), k.Load(k.F32, "x", k.Var(k.I64, "global_id"))),),
)


class Fragile:
    """An isolation whose compiler crashes on every text that does not ask for another try."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def build(self, library: str, deadline: float) -> None:
        text = Path(library).read_text()
        self.asked.append(text)
        if not text.startswith(AGAIN):
            raise CompilerCrashError(f"compiling {library} ended with SIGSEGV")

    def close(self) -> None:
        pass


def modules(folder: Path, again: str) -> tuple[Modules, Fragile]:
    made = Modules(
        "cuda", TextStore(folder, ".cu"), 1 << 20, None, lambda: (Limits(), "fake"), again
    )
    made._isolation = fragile = Fragile()
    return made, fragile


def test_a_text_on_which_a_compiler_crashes_is_compiled_another_way(tmp_path):
    made, fragile = modules(tmp_path, AGAIN)
    (compiled,) = made.compile((COPY,))
    first, second = fragile.asked
    assert second == AGAIN + first
    assert Path(compiled.library).read_text() == second


def test_without_another_way_the_crash_is_told(tmp_path):
    made, fragile = modules(tmp_path, "")
    with pytest.raises(CompilerCrashError, match="SIGSEGV"):
        made.compile((COPY,))
    assert len(fragile.asked) == 1


@pytest.mark.gpu
@pytest.mark.parametrize("index", [21, 88])
def test_loops_with_one_step_that_counts_run_as_cuda(index):
    """NVRTC 12.9 and 13.0 end by SIGSEGV on these texts when they optimise."""
    if available()["cuda"]:
        pytest.skip(available()["cuda"])
    case = draw_case(5, index)
    task = Task(graph=case.graph, inputs=case.inputs, schedule=case.schedule, name=case.name)
    (report,) = verify_batch([task], ("cuda",))
    assert report.ok, report.to_text()
