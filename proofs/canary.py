"""Whether a Lean can be believed: it must refuse what is false and accept what is true.

Defines `problems`, which asks about sums drawn at random, a `sorry` and an unknown axiom, and
expects exact answers. Relies on the compiled `Tang.Core` and `Tang.Syntax`. It finds a `lean` that
does nothing or answers by rote; a program written to deceive it is another matter.
"""

from __future__ import annotations

import random
import secrets
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tang.proofs.lean import Lean, Message, Outcome

SUMS: Final = 16
"""So many sums are asked for, each true or false by a coin: one in 65,536 guesses passes."""

HEAD: Final = ("prelude", "import Tang.Core", "import Tang.Syntax", "set_option autoImplicit false")
UNKNOWN: Final = "sorryAx"


@dataclass(frozen=True, slots=True)
class Question:
    """A file for Lean, and what it must say of each line: severity → a text within."""

    lines: tuple[str, ...]
    expected: tuple[tuple[int, str, str], ...]
    status: int


def problems(lean: Lean, stage: Path) -> Iterator[str]:
    """What is wrong with this Lean; nothing if it answers as Lean does."""
    nonce, draw = secrets.token_hex(8), random.SystemRandom()
    for question in (truths(nonce, draw), falsehoods(nonce, draw)):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "Canary.lean"
            file.write_text("\n".join(question.lines) + "\n", encoding="utf-8")
            outcome = lean.compile(file, Path(folder), stage)
        wrong = judge(question, outcome)
        if wrong is not None:
            yield (
                f"{' '.join(lean.command)}: is not believed: {wrong}; take it off PATH, and "
                "install the pinned Lean with pip install '.[proofs]' in a checkout"
            )
            return


def truths(nonce: str, draw: random.Random) -> Question:
    """True sums, whose statements and axioms must be printed as they are."""
    lines, expected = list(HEAD), []
    for i in range(SUMS):
        a, b = draw.randrange(12), draw.randrange(12)
        name, says = f"canary_{nonce}_{i}", f"{a} + {b} = {a + b}"
        lines += [f"theorem {name} : {says} := rfl", f"#check @{name}", f"#print axioms {name}"]
        expected += [
            (len(lines) - 1, "information", f"{name} : {says}"),
            (len(lines), "information", f"'{name}' does not depend on any axioms"),
        ]
    return Question(tuple(lines), tuple(expected), 0)


def falsehoods(nonce: str, draw: random.Random) -> Question:
    """Sums of which some are false, a `sorry`, an axiom: each must be told where it stands."""
    lines, expected = list(HEAD), []
    for i in range(SUMS):
        a, b, off = draw.randrange(12), draw.randrange(12), draw.choice((0, 1))
        says = f"{a} + {b} = {a + b + off}"
        lines.append(f"theorem wrong_{nonce}_{i} : {says} := Eq.refl {a + b + off}")
        if off:
            expected.append((len(lines), "error", says))
    name = f"unproved_{nonce}"
    lines += [f"theorem {name} : 0 = 1 := sorry", f"#print axioms {name}"]
    expected += [
        (len(lines) - 1, "warning", "sorry"),
        (len(lines), "information", f"'{name}' depends on axioms: [{UNKNOWN}]"),
    ]
    lines += [f"axiom new_{nonce} : 0 = 1", f"theorem by_{nonce} : 0 = 1 := new_{nonce}"]
    lines += [f"#print axioms by_{nonce}", f"theorem last_{nonce} : 1 = 2 := Eq.refl 2"]
    says = f"'by_{nonce}' depends on axioms: [new_{nonce}]"
    expected += [(len(lines) - 1, "information", says), (len(lines), "error", "1 = 2")]
    return Question(tuple(lines), tuple(expected), 1)


def judge(question: Question, outcome: Outcome) -> str | None:
    """The first thing that Lean said otherwise than expected, or None."""
    by_line: dict[int, list[Message]] = {}
    for m in outcome.messages:
        by_line.setdefault(m.line, []).append(m)
    for line, severity, text in question.expected:
        found = [(m.severity, m.text.strip()) for m in by_line.pop(line, [])]
        if len(found) != 1 or found[0][0] != severity or not _fits(severity, text, found[0][1]):
            return f"of `{question.lines[line - 1]}` it says {found or 'nothing'}"
    if by_line:
        line = min(by_line)
        return f"of `{question.lines[line - 1]}` it says {by_line[line][0].text.strip()!r}"
    if outcome.status != question.status or outcome.noise.strip():
        return f"it ends with status {outcome.status}, not {question.status}: {outcome.noise[:200]}"
    return None


def _fits(severity: str, expected: str, text: str) -> bool:
    """Information is compared word for word, an error by what it is about."""
    return text == expected if severity == "information" else expected in text
