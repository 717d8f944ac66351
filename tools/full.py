"""Every "Done when" table of the project, run and written to results/ with the commit tested.

Usage: python tools/full.py [--only NAME …]. Each table is a function that returns whether it holds
and the figures; results/NAME.json keeps them with the commit, the machine and the date. Exits
with 1 when a table does not hold. It measures nothing itself: it runs the project's own commands.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))  # PYTHONSAFEPATH leaves it out
from tree import commit_of

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "results"
EXACT = 0.95
"""The share of mutants that must be named exactly."""
KERNELS = ("lower", "expand", "emit", "round")
"""Rungs of the mutants that change kernels or how they run."""


@dataclass(frozen=True, slots=True)
class Table:
    """Whether a table holds, what was asked, and the figures."""

    holds: bool
    asked: str
    figures: dict[str, Any]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """A command of the project with this Python, its output kept."""
    environment = {**os.environ, "PYTHONSAFEPATH": "1"}
    command = [sys.executable, *arguments]
    print("$ python", *arguments, flush=True)
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def campaign() -> Table:
    """5000 draws on C without a finding, with every coverage cell filled."""
    return campaign_on("c", 5000, 1)


def campaign_six() -> Table:
    """1000 draws on all six languages without a finding, with every coverage cell filled."""
    return campaign_on("all", 1000, 3)


def campaign_on(backends: str, examples: int, seed: int) -> Table:
    """A campaign's figures; every backend must have answered nearly every draw."""
    options = ("--backends", backends, "--examples", str(examples), "--seed", str(seed))
    return campaign_table(json.loads(run("-m", "tang", "fuzz", *options, "--json").stdout))


def campaign_table(data: dict[str, Any]) -> Table:
    """The figures of a campaign's report."""
    draws, outcomes = data["draws"], data["outcomes"]
    rules = {c: n for c, n in data["cells"].items() if c.startswith("applied:")}
    thin = {cell: n for cell, n in data["cells"].items() if n < 20 and cell not in rules}
    open_by = {
        b: sum(outcomes.get(f"{b}: {v}", 0) for v in ("UNSUPPORTED", "UNDECIDED"))
        for b in ("replay", *data["backends"])
    }
    figures = {
        "seed": data["seed"],
        "draws": draws,
        "backends": data["backends"],
        "formats": data["formats"],
        "findings": len(data["findings"]),
        "cells": len(data["cells"]),
        "cells_below_20": thin,
        "rules_applied": {c.removeprefix("applied:"): n for c, n in rules.items()},
        "two_nodes_and_a_reduction": f"{data['composed']} of {draws}",
        "unsupported_or_undecided": {b: f"{n} of {draws}" for b, n in open_by.items()},
        "draws_per_second": round(draws / data["seconds"], 2),
        "outcomes": outcomes,
    }
    decided = all(n * 100 <= draws for n in open_by.values())
    holds = data["ok"] and not thin and data["composed"] * 2 >= draws and decided
    asked = "no finding, every cell ≥ 20, half with two nodes and a reduction, ≤ 1% open a backend"
    return Table(holds, asked, figures)


def mutants() -> Table:
    """Every mutant of kernels found on C for seeds 1, 2, 3 and blamed on its rung."""
    return power(KERNELS, "--backends", "c", "--seeds", "1,2,3")


def mutants_six() -> Table:
    """Every mutant of kernels found on every language where it exists, its kernel named."""
    return power(KERNELS, "--backends", "all", "--seeds", "1", "--examples", "300")


def mutants_rules() -> Table:
    """Every mutant of rules and autodiff found on the rung `rewrite`, the rule named."""
    options = ("--backends", "none", "--seeds", "1,2,3", "--examples", "5000")
    return power(("rewrite",), *options)


def power(rungs: Sequence[str], *options: str) -> Table:
    """The table of runs with a fault planted for every mutant of these rungs in turn."""
    command = ("-m", "tang", "fuzz", "--power", *options, "--json")
    reports = [json.loads(run(*command, "--rung", rung).stdout) for rung in rungs]
    return power_table(dict(zip(rungs, reports, strict=True)))


def power_table(by_rung: dict[str, dict[str, Any]]) -> Table:
    """The figures of such runs' reports, each of which must hold by itself."""
    reports = list(by_rung.values())
    found = [t for report in reports for t in report["rows"]]
    rows = [
        f"{t['mutant']} on {t['backend']}, seed {t['seed']}: draw {t['draw']}, {t['blamed']} "
        f"{t['verdict']} {t['kernel'] or t['origin']}".rstrip()
        for t in found
    ]
    count = {k: sum(r[k] for r in reports) for k in ("mutants", "blind", "caught", "exact")}
    figures = {
        "mutants": f"{count['mutants']}, {count['blind']} of them blind",
        "caught": f"{count['caught']} of {len(found)}",
        "named_exactly": f"{count['exact']} of {len(found)}",
        "by_rung": {
            rung: f"caught {r['caught']}, named exactly {r['exact']} of {len(r['rows'])}"
            for rung, r in by_rung.items()
        },
        "latest_draw": max((t["draw"] or 0 for t in found), default=0),
        "baselines": [r["baseline"] for r in reports],
        "rows": rows,
    }
    clean = all(r["baseline"] and not r["baseline"]["findings"] for r in reports)
    exact = all(r["exact"] >= EXACT * len(r["rows"]) for r in reports)
    good = bool(found) and count["caught"] == len(found) and exact and clean
    return Table(good, "all caught, 95% named exactly, baseline clean", figures)


def examples() -> Table:
    """Every example program verifies on C."""
    paths = sorted(p for p in (ROOT / "examples").glob("*.py") if "fuzz" not in p.name)
    names = [str(p.relative_to(ROOT)) for p in paths]
    done = run("-m", "tang", "verify", *names, "--backends", "c", "--json")
    reports = json.loads(done.stdout)
    figures = {r["name"]: [x["note"] or x["elements"] for x in r["results"]] for r in reports}
    return Table(done.returncode == 0, "all verify", figures)


def maths() -> Table:
    """The exhaustive accuracy of the portable functions (hours on a busy machine)."""
    done = run("-m", "pytest", "tests/slow", "-q", "-rA")
    passed = [x.split("::")[-1] for x in done.stdout.splitlines() if x.startswith("PASSED")]
    tail = done.stdout.strip().splitlines()[-1]
    return Table(done.returncode == 0, "every claim holds", {"passed": passed, "summary": tail})


def benchmarks() -> Table:
    """Every benchmark's own report; figures are tracked, ratios are judged by the reader."""
    figures = {}
    good = True
    for path in sorted((ROOT / "benchmarks").glob("bench_*.py")):
        done = run(str(path.relative_to(ROOT)))
        good &= done.returncode == 0
        figures[path.stem] = (done.stdout or done.stderr).splitlines()
    return Table(good, "all run", figures)


TABLES: dict[str, Callable[[], Table]] = {
    "campaign": campaign,
    "campaign_six": campaign_six,
    "mutants": mutants,
    "mutants_six": mutants_six,
    "mutants_rules": mutants_rules,
    "examples": examples,
    "benchmarks": benchmarks,
    "maths": maths,
}


def write(name: str, table: Table, seconds: float) -> None:
    """Keep a table; a file is complete or not there."""
    RESULTS.mkdir(exist_ok=True)
    data = {
        "table": name,
        "commit": commit_of(),
        "holds": table.holds,
        "asked": table.asked,
        "seconds": round(seconds, 1),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "figures": table.figures,
    }
    temporary = RESULTS / f".{name}.json"
    temporary.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    temporary.replace(RESULTS / f"{name}.json")


def main() -> int:
    """Run the tables asked for; 1 when one does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=sorted(TABLES), default=list(TABLES))
    chosen = parser.parse_args().only
    bad = []
    for name in chosen:
        start = time.monotonic()
        table = TABLES[name]()
        write(name, table, time.monotonic() - start)
        print(f"{name}: {'holds' if table.holds else 'DOES NOT HOLD'} ({table.asked})")
        print(json.dumps(table.figures, indent=1, ensure_ascii=False)[:4000])
        bad += [] if table.holds else [name]
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
