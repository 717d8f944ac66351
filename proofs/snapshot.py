"""Write what the sources state: `Tang/Audit.lean` and `statements.json`.

Run as `python -m tang.proofs.snapshot` after adding or changing a theorem, and read the diff. It
relies on the gate, which must find nothing else wrong, and changes no theorem.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tang.proofs import agreed, gate, sources
from tang.proofs.lean import find
from tang.proofs.store import Store


def write(root: Path = sources.HERE, store: Store | None = None) -> tuple[str, ...]:
    """Renew both files; returns what the gate finds besides changed statements."""
    store, lean, project = store or Store.default(), find(), sources.read(root)
    audit = root / "Tang" / "Audit.lean"
    if not audit.is_file() or audit.read_text(encoding="utf-8") != sources.audit_text(project):
        audit.write_text(sources.audit_text(project), encoding="utf-8")
        project = sources.read(root)
    gate.pin(lean, store)
    report = gate.checked(project, lean, store)
    if report.ok:
        data = agreed.snapshot(project, report.theorems)
        text = json.dumps(data, indent=1, ensure_ascii=False)
        (root / agreed.FILE).write_text(text + "\n", encoding="utf-8")
    return report.problems


if __name__ == "__main__":
    problems = write()
    print("\n".join(problems) or "statements.json is up to date", file=sys.stderr)
    sys.exit(bool(problems))
