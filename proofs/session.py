"""One Lean run over some claims, with the library's compiled modules at hand.

Defines `Claim`, `Statement`, `Definition` and `check`. Relies on the gate for the modules, which
it builds once, and on the store for verdicts about the same text. Only what Lean accepts with
allowed axioms counts.
"""

from __future__ import annotations

import functools
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from tang.errors import ProofError
from tang.proofs import gate, layout, sources
from tang.proofs.lean import Message, Outcome, find
from tang.proofs.store import Store

HEAD: Final = """set_option autoImplicit false
set_option synthInstance.maxSize 2000
set_option maxRecDepth 4096
set_option linter.unusedVariables false
set_option linter.unusedSectionVars false
set_option linter.unusedSimpArgs false
universe u v
noncomputable section
namespace Tang
"""


@dataclass(frozen=True, slots=True)
class Claim:
    """A definition exported from the compiler, and a theorem about it.

    name     a Lean identifier, unique in its file
    scope    `variable` line for the algebra
    binders  the definition's arguments
    body     the exported expression
    type     its type
    goal     what it equals
    tactics  lines that prove it
    subject  what the claim is about, for messages
    modules  what to import
    """

    name: str
    scope: str
    binders: str
    body: str
    type: str
    goal: str
    tactics: tuple[str, ...]
    subject: str
    modules: tuple[str, ...]

    def text(self) -> str:
        """The definition and the theorem."""
        called = " ".join(re.findall(r"\(([\w ]+) :", self.binders))
        lines = ["section", self.scope, f"def {self.name} {self.binders} : {self.type} :="]
        lines += [f"  {self.body}", f"theorem {self.name}_proved {self.binders} :"]
        lines += [f"    {self.name} {called} = {self.goal} := by"]
        lines += [*(f"  {t}" for t in self.tactics), "end"]
        return "\n".join(line for line in lines if line)


@dataclass(frozen=True, slots=True)
class Statement:
    """A theorem that is no equation of an exported expression; the fields are a claim's."""

    name: str
    scope: str
    binders: str
    goal: str
    tactics: tuple[str, ...]
    subject: str
    modules: tuple[str, ...]

    def text(self) -> str:
        """The theorem."""
        lines = ["section", self.scope, f"theorem {self.name}_proved {self.binders} :"]
        lines += [f"    {self.goal} := by", *(f"  {t}" for t in self.tactics), "end"]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition that statements after it speak of; the fields are a claim's."""

    name: str
    binders: str
    body: str
    type: str
    subject: str
    modules: tuple[str, ...]

    def text(self) -> str:
        """The definition."""
        return f"def {self.name} {self.binders} : {self.type} :=\n  {self.body}"


Said = Claim | Statement | Definition
"""One piece of the file that Lean is given."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """A claim that Lean does not accept, and the first line of what it says.

    undecided  Lean gave up before it came to an end: the claim is neither proved nor refuted
    """

    subject: str
    text: str
    undecided: bool = False

    @property
    def component(self) -> str:
        """What is at fault; nothing is where Lean did not come to an end."""
        return "" if self.undecided else self.subject

    @property
    def message(self) -> str:
        """What Lean did, for people."""
        if self.undecided:
            return f"neither proved nor refuted, too large for Lean's limits: {self.text}"
        return f"Lean refuses {self.subject}: {self.text}"


LIMITS: Final = re.compile(
    r"maximum recursion depth|maximum number of heartbeats|deterministic\) timeout|deep recursion"
    r"|synthInstance\.maxSize|[Ss]tack overflow|out of memory|bad_alloc|Lean took longer than"
    r"|failed to synthesize instance of type class\s+(?:\w+\.)*Reify\b"
)
"""What Lean says where time, depth, instances or memory do not suffice. Every text of ours can be
read back (`Reify`), be it long enough."""


def source(claims: Sequence[Said]) -> str:
    """The file for some claims; axioms are asked for last, so that Lean may prove side by side."""
    modules = dict.fromkeys(m for c in claims for m in c.modules)
    needed = [*modules, "Tang.Lattice", "Tang.Field", "Tang.Ring", "Tang.Algebra", "Tang.Logic",
              "Tang.Core", "Tang.Syntax"]  # fmt: skip
    imports = "\n".join(f"import {m}" for m in dict.fromkeys(needed))
    proved = (c for c in claims if not isinstance(c, Definition))
    asked = (f"#print axioms {c.name}_proved" for c in proved)
    body = "\n".join([*(c.text() for c in claims), *asked])
    return f"prelude\n{imports}\n{HEAD}{body}\nend Tang\n"


def _unplain(c: Said) -> Iterator[str]:
    """What in a claim could say more to Lean than its field does, such as a second command."""
    if not re.fullmatch(r"\w+", c.name, re.ASCII):
        yield f"{c.name!r} is no plain name; use letters, digits and `_`"
    texts = [c.binders]
    if not isinstance(c, Statement):
        texts += [c.body, c.type]
    if not isinstance(c, Definition):
        texts += [c.scope.removeprefix("variable "), c.goal, *c.tactics]
    for text in texts:
        faults = [*layout.line_problems(f"  {text}"), *sources.FORBIDDEN.findall(text)]
        if faults or not text.isprintable():
            yield f"`{text[:80]!r}` may not be part of a claim: {(*faults, 'a line ends in it')[0]}"


def check(claims: Sequence[Said], *, fresh: bool = False) -> Wrong | None:
    """The first claim that Lean does not accept, or None; cached by content."""
    for c in claims:
        odd = next(_unplain(c), None)
        if odd is not None:
            return Wrong(c.subject, odd)
    store, lean, text = Store.default(), find(), source(claims)
    _pinned(store)
    library = sources.read()
    state = Store.key(lean.identity, *(m.digest for m in library.modules))
    key = Store.key("claims", state, text)
    known = None if fresh else store.load(key)
    if known is not None and known.get("proved") is True:
        return None
    stage = compiled(store, state)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "Claims.lean"
        file.write_text(text, encoding="utf-8")
        outcome = lean.compile(file, Path(folder), stage)
    wrong = _judge(claims, text, outcome)
    if wrong is None:
        store.save(key, {"proved": True, "claims": [asdict(c) for c in claims]})
    return wrong


@functools.lru_cache(maxsize=4)
def _pinned(store: Store) -> None:
    """Once a process: the library of the wheel is the pinned one, or ProofError."""
    gate.pin(find(), store)


@functools.lru_cache(maxsize=4)
def compiled(store: Store, state: str) -> Path:
    """The folder of the library's compiled modules in this state; the gate must pass first."""
    report = gate.prove(store=store)
    if not report.ok:
        raise ProofError(f"the library does not pass the gate: {report.problems[0]}")
    project, lean = sources.read(), find()
    if report.cached:
        for _ in gate.build(project, lean, store):
            pass
    return store.stage(project, lean)


def _judge(claims: Sequence[Said], text: str, outcome: Outcome) -> Wrong | None:
    """Accept only if every theorem is there with allowed axioms and nothing else was said."""
    for m in sorted(outcome.messages, key=lambda m: m.line):
        if m.severity != "information":
            given_up = LIMITS.search(m.text) is not None
            return Wrong(_subject(claims, text, m.line), _first_line(m), given_up)
    if outcome.status or outcome.noise.strip():
        noise = outcome.noise.strip() or f"its status is {outcome.status}"
        given_up = LIMITS.search(noise) is not None or outcome.status < 0
        return Wrong(claims[0].subject, f"Lean failed: {noise[:300]}", given_up)
    axioms = gate.axioms_of(outcome.messages)
    for c in claims:
        if isinstance(c, Definition):
            continue
        found = axioms.get(f"Tang.{c.name}_proved")
        if found is None or set(found) - gate.ALLOWED:
            return Wrong(c.subject, f"its theorem rests on {found}")
    return None


def _first_line(m: Message) -> str:
    """What a message begins with; of a proposition in its midst, which may be long, no more."""
    first, *_ = m.text.strip().splitlines() or [m.severity]
    is_false = first.endswith("proved that the proposition") and "is false" in m.text
    return f"{first} … is false" if is_false else first


def _subject(claims: Sequence[Said], text: str, line: int) -> str:
    """What the claim at a line of the file is about."""
    above = text.splitlines()[:line]
    for row in reversed(above):
        found = re.match(r"(?:def|theorem|#print axioms) (\w+?)(?:_proved)?(?: |$)", row)
        if found:
            return next((c.subject for c in claims if c.name == found[1]), "")
    return ""
