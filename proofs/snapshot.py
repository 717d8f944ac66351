"""Write what the sources state: `Tang/Audit.lean` and `statements.json`.

Run as `python -m tang.proofs.snapshot` after adding or changing a theorem, and read the diff. It
relies on the gate, which must find nothing else wrong, and changes no theorem.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tang.proofs import gate, sources
from tang.proofs.store import Store


def write(root: Path = sources.HERE, store: Store | None = None) -> tuple[str, ...]:
    """Renew both files; returns what the gate finds besides changed statements."""
    project = sources.read(root)
    audit = root / "Tang" / "Audit.lean"
    if not audit.is_file() or audit.read_text(encoding="utf-8") != sources.audit_text(project):
        audit.write_text(sources.audit_text(project), encoding="utf-8")
        project = sources.read(root)
    report = gate.prove(root, store=store)
    parts = ("foundation of", "definitions of", "statements of")
    faults = tuple(p for p in report.problems if not p.startswith(parts))
    if not faults:
        text = json.dumps(gate.snapshot(project, report.theorems), indent=1, ensure_ascii=False)
        (root / gate.SNAPSHOT).write_text(text + "\n", encoding="utf-8")
    return faults


if __name__ == "__main__":
    problems = write()
    print("\n".join(problems) or "statements.json is up to date", file=sys.stderr)
    sys.exit(bool(problems))
