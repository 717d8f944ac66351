"""How well data certificates hold, over programs of the fuzzer and over three kinds of programs.

Usage: python tools/certificates.py [--examples N] [--seconds S] [--seed S] [--jobs J] [--out
FILE.json]. Draws 0 … N − 1 of a seed are replayed with the bounds of data certificates; an error
above its bound is a violation, and is written down with seed and index. A file of the same seed and
commit is continued, and what was done survives a time limit. It judges nothing but bounds: the
ladder does the rest (`tang fuzz`).

A draw is *smooth* when no comparison, floor or conversion to an integer decided otherwise than f64
or where f64 cannot tell, and no number left its format: wherever f64 is finite the result is, and
the other way round. Bounds of other draws may be infinite for good reasons. A draw is *finite* when
all of its bounds are, and an element is *vacuous* when its bound is at least as large as its f64
value, which is not 0.
Exits with 1 when there is a violation.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

import tang as tg
from tang.emulator.replay import Replay, replay
from tang.emulator.strict import STRICT
from tang.errors import FormatError, LimitError, ScheduleError
from tang.fuzz.case import Case, draw_case
from tang.fuzz.ladder import task_of
from tang.ir.graph import Graph
from tang.kernel.ir import BF16, F16, F32
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.rewrite import rewrite
from tang.verify.derive import differentiated
from tang.verify.rung_round import Planes, bound_fails, planes_of
from tang.verify.subject import Subject, Task, computed, prepare

sys.path.insert(0, str(Path(__file__).resolve().parent))  # PYTHONSAFEPATH leaves it out
from tree import commit_of

Found = dict[str, Any]
REFUSED: Final = (FormatError, LimitError, ScheduleError)
LANES: Final = 64
FORMATS: Final = {"f32": F32, "f16": F16, "bf16": BF16}


# --- one program ----------------------------------------------------------------------------------


def shadowed(subject: Subject) -> tuple[Replay, list[Planes]]:
    """A replay with bounds, and what it knows of every float buffer that kernels fill."""
    plan = subject.expanded
    done = replay(plan, subject.stored, domain=STRICT, sizes=subject.sizes, sanitize=False)
    return done, [planes_of(done, b) for b in computed(plan) if b.name in done.planes]


def summary(subject: Subject) -> Found:
    """Elements, violations, and shares of one program."""
    done, found = shadowed(subject)
    inexact = [_ratios(p) for p in found]
    ratios = np.concatenate(inexact) if inexact else np.zeros(0)
    counted = [p for p in found if p.value.size]
    return {
        "elements": sum(p.value.size for p in counted),
        "infinite": sum(int((~np.isfinite(p.bound)).sum()) for p in counted),
        "vacuous": sum(int(_vacuous(p).sum()) for p in counted),
        "violations": sum(int(bound_fails(p).sum()) for p in counted),
        "smooth": not done.decisions and not any(_left(p) for p in counted),
        "inexact": int(ratios.size),
        "ratio": float(np.median(ratios)) if ratios.size else None,
    }


def _ratios(planes: Planes) -> npt.NDArray[np.float64]:
    """Bound over error, where there is an error."""
    with np.errstate(all="ignore"):
        error = np.abs(planes.value - planes.shadow)
        chosen = planes.usable & (error > 0) & np.isfinite(planes.bound)
        return np.asarray(planes.bound[chosen] / error[chosen])


def _vacuous(planes: Planes) -> npt.NDArray[np.bool_]:
    return planes.usable & (planes.shadow != 0) & (planes.bound >= np.abs(planes.shadow))


def _left(planes: Planes) -> bool:
    """Whether a number left its format, or a decision flipped on the way to it."""
    apart = np.isfinite(planes.value) != np.isfinite(planes.shadow)
    return bool((apart | planes.taint).any())


# --- draws ----------------------------------------------------------------------------------------


def draw(seed: int, index: int) -> Found:
    """One draw of the fuzzer; {"refused": why} where a schedule does not fit its program."""
    try:
        return {"index": index, **summary(prepare(_derived(draw_case(seed, index))))}
    except REFUSED as e:
        return {"index": index, "refused": f"{type(e).__name__}: {e}"}


def _derived(case: Case) -> Task:
    """The case's task after its recipe, whose steps are not checked here."""
    task = task_of(case)
    d = task.derivation
    if d is None:
        return task
    graph = rewrite(differentiated(task.graph, d), d.rules, d.strict).graph
    return replace(task, graph=graph, derivation=None)


# --- kinds ----------------------------------------------------------------------------------------


def _tree() -> Graph:
    i, k = tg.dims("i k")
    x = tg.input("x", (64, LANES))
    return tg.Graph(y=tg.compute("y", (i,), tg.sum(x[i, k], over=k)))


def _softmax() -> Graph:
    return tg.Graph(y=tg.softmax(tg.input("x", (16, 4 * LANES)), name="y"))


def _attention() -> Graph:
    q, k, v = (tg.input(n, (2, LANES, 32)) for n in "qkv")
    return tg.Graph(y=tg.attention(q, k, v))


KINDS: Final[dict[str, Callable[[], Graph]]] = {
    "tree": _tree,
    "softmax": _softmax,
    "attention": _attention,
}


def kinds(seed: int) -> Iterator[Found]:
    """Each kind in three formats, reductions over trees of lanes, on normal data and uniform."""
    rng = np.random.default_rng(seed)
    for kind, make in KINDS.items():
        graph = rewrite(make(), None).graph
        for name, format_ in FORMATS.items():
            for data in ("normal", "uniform"):
                inputs = {i.name: _drawn(rng, data, i.shape) for i in graph.inputs}
                schedule = _trees(graph, format_)
                done = summary(prepare(Task(graph=graph, inputs=inputs, schedule=schedule)))
                yield {"kind": kind, "format": name, "data": data, **done}


def _drawn(rng: np.random.Generator, data: str, shape: tuple[Any, ...]) -> npt.NDArray[Any]:
    size = tuple(p.constant for p in shape)
    return rng.standard_normal(size) if data == "normal" else rng.random(size)


def _trees(graph: Graph, format_: Any) -> Schedule:  # noqa: ANN401 - a kernel type
    """Every reduction by a tree of lanes; results in the format, sums in f32."""
    plain = NodeSchedule(storage=format_)
    lanes = replace(plain, lanes=LANES)
    nodes = tuple((n.name, lanes) for n in graph.nodes if n.monoid is not None and n.reduce)
    return Schedule(nodes=nodes, default=plain)


# --- the whole ------------------------------------------------------------------------------------


def total(rows: list[Found]) -> Found:
    """Shares over draws and elements."""
    done = [r for r in rows if "refused" not in r]
    smooth = [r for r in done if r["smooth"]]
    finite = [r for r in smooth if not r["infinite"]]
    elements = sum(r["elements"] for r in smooth)
    ratios = [r["ratio"] for r in done if r["ratio"] is not None]
    return {
        "draws": len(rows),
        "refused": len(rows) - len(done),
        "violations": [r["index"] for r in done if r["violations"]],
        "smooth": len(smooth),
        "finite": len(finite),
        "elements": elements,
        "infinite": sum(r["infinite"] for r in smooth),
        "vacuous": sum(r["vacuous"] for r in smooth),
        "median ratio": float(np.median(ratios)) if ratios else None,
    }


def report(found: Found) -> str:
    """The totals in lines."""
    t = found["total"]
    lines = [
        f"{t['draws']} draws of seed {found['seed']}, {t['refused']} refused, "
        f"violations: {t['violations'] or 'none'}",
        f"smooth {t['smooth']}, of these all bounds finite {t['finite']}; their elements "
        f"{t['elements']}, infinite bounds {t['infinite']}, vacuous {t['vacuous']}",
        f"median over draws of the median bound / error: {t['median ratio']}",
    ]
    lines += [
        f"{r['kind']:9} {r['format']:4} {r['data']:7} median bound / error {r['ratio']:.3g}, "
        f"vacuous {r['vacuous']} of {r['elements']}, violations {r['violations']}"
        for r in found["kinds"]
    ]
    return "\n".join(lines)


def _kept(path: Path | None, seed: int, commit: str) -> list[Found]:
    """The rows of an earlier run of the same seed and commit."""
    if path is None or not path.exists():
        return []
    before = json.loads(path.read_text())
    same = (before["seed"], before["commit"]) == (seed, commit)
    return list(before["rows"]) if same else []


def _draws(seed: int, indices: Iterable[int], jobs: int) -> Iterator[Found]:
    """These draws in their order, by so many processes."""
    if jobs == 1:
        yield from (draw(seed, i) for i in indices)
        return
    with multiprocessing.Pool(jobs) as pool:
        yield from pool.imap(partial(draw, seed), indices)


def survey(examples: int, seconds: float, seed: int, jobs: int, out: Path | None) -> Found:
    """All draws that fit into the time, those of an earlier run first."""
    commit, start = commit_of(), time.monotonic()
    rows = _kept(out, seed, commit)
    found: Found = {"commit": commit, "seed": seed, "kinds": list(kinds(seed))}
    for row in _draws(seed, range(len(rows), examples), jobs):
        rows.append(row)
        if out is not None and len(rows) % 200 == 0:
            _write(out, {**found, "total": total(rows), "rows": rows})
        if time.monotonic() - start > seconds:
            break
    whole = {**found, "total": total(rows), "rows": rows}
    if out is not None:
        _write(out, whole)
    return whole


def _write(path: Path, found: Found) -> None:
    partial = path.with_suffix(".part")
    partial.write_text(json.dumps(found) + "\n")
    partial.replace(path)


def main() -> int:
    """Run the survey; the exit status is 1 when a bound was violated."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--examples", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    found = survey(args.examples, args.seconds, args.seed, args.jobs, args.out)
    print(report(found))
    kinds_hold = not any(r["violations"] for r in found["kinds"])
    return 0 if kinds_hold and not found["total"]["violations"] else 1


if __name__ == "__main__":
    sys.exit(main())
