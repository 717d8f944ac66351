"""The Lean sources as text: files, imports, declarations, and what they may not contain.

Defines `Project`, `Module`, `Declaration` and `problems`, the check that runs before Lean does.
Relies on `layout`, the plain form in which text says what Lean does with it. It is a second lock:
what Lean itself reports is judged by `gate`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tang.errors import ProofError
from tang.proofs import layout
from tang.proofs.layout import (
    DECLARATIONS,
    Command,
    commands,
    header_problems,
    imports,
    statement,
    strip_comments,
    theorem_problems,
    word,
)

HERE: Final = Path(__file__).parent
"""The Lake project that ships with the package."""

FOUNDATION: Final = ("Tang.Core", "Tang.Syntax")
"""What may declare axioms and names outside `Tang`; both are pinned by their digests."""

PINNED: Final = {
    "Tang.Core": "9ffc67f1038208eb6a84ed2d77d58bb828322d6d17c2eaedcda5a36206564e73",
    "Tang.Syntax": "225977f4888da445479c9c46e584446cdeceb8e20c61b714ef2abe1fa35e9eb5",
}
"""Their SHA-256. No command writes this, so a renewed snapshot lets no other axiom in."""

AUDIT: Final = "Tang.Audit"
WORDS: Final = (
    "sorry", "admit", "axiom", "native_decide", "implemented_by", "extern", "unsafe", "opaque",
    "partial", "macro", "macro_rules", "syntax", "elab", "elab_rules", "notation", "infix",
    "infixl", "infixr", "prefix", "postfix", "declare_syntax_cat", "run_cmd", "run_tac",
    "run_elab", "initialize", "builtin_initialize", "csimp", "init_quot", "attribute", "unseal",
    "_root_", "Lean", "deriving", "mutual", "simproc", "register_simp_attr", "skipKernelTC",
    "termination_by", "decreasing_by", "module", "meta", "private", "protected", "public", "local",
    "scoped", "nonrec", "include", "omit", "in", "example", "lemma", "coinductive", "seal",
    "grind_pattern", "unif_hint", "binder_predicate", "add_decl_doc", "recall",
)  # fmt: skip
"""Words that no file but the foundation may contain outside comments."""

OPTIONS: Final = frozenset({"autoImplicit false", "synthInstance.maxSize 2000"})
FORBIDDEN: Final = word(WORDS)
_SCOPES: Final = ("namespace", "section")


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declaration as written: kind, full name, line, text without comments.

    context  the commands in whose scope it stands: variables, options, namespaces, in order
    """

    kind: str
    name: str
    line: int
    text: str
    context: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """A digest of the whole text, white space aside."""
        return digest(self.text)

    @property
    def stated(self) -> str:
        """A digest of what is written up to the proof, and of what that stands in."""
        says = statement(Command(self.kind, self.name, self.line, self.text))
        return digest(*self.context, says)


def digest(*texts: str) -> str:
    """A digest of some texts in order, white space aside."""
    plain = "\n".join(" ".join(t.split()) for t in texts)
    return hashlib.sha256(plain.encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Module:
    """One file: its name, its text, the modules that it imports, in order."""

    name: str
    path: Path
    text: str
    imports: tuple[str, ...]

    @property
    def bare(self) -> str:
        """The text with comments blanked out; lines keep their numbers."""
        return strip_comments(self.text)

    @property
    def file(self) -> str:
        """The file's path below the project's folder, for messages."""
        return f"{self.name.replace('.', '/')}.lean"

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Project:
    """A Lake project: its folder and its modules, imports before importers."""

    root: Path
    modules: tuple[Module, ...]

    def module(self, name: str) -> Module:
        return next(m for m in self.modules if m.name == name)


def read(root: Path = HERE) -> Project:
    """The modules below `root`/Tang, sorted so that imports come first."""
    files = sorted((root / "Tang").rglob("*.lean"))
    modules = {m.name: m for m in (_module(root, f) for f in files)}
    order: dict[str, Module] = {}

    def visit(name: str, above: tuple[str, ...]) -> None:
        if name in order or name not in modules or name in above:
            return
        for needed in modules[name].imports:
            visit(needed, (*above, name))
        order[name] = modules[name]

    for name in modules:
        visit(name, ())
    return Project(root, tuple(order.values()))


def _module(root: Path, file: Path) -> Module:
    try:
        text = file.read_bytes().decode()
    except OSError as e:
        raise ProofError(
            f"{file}: cannot be read ({e.strerror}); take it from the repository"
        ) from e
    except UnicodeDecodeError as e:
        raise ProofError(f"{file}: is not UTF-8 ({e}); write it anew as UTF-8 text") from e
    name = ".".join(file.relative_to(root).with_suffix("").parts)
    return Module(name, file, text, imports(text))


def declarations(module: Module) -> Iterator[Declaration]:
    """Every declaration with its full name, namespaces included."""
    yield from (d for d in _followed(module) if d.kind in DECLARATIONS)


def _followed(module: Module) -> Iterator[Declaration]:
    """Every command with the full name that it declares and the scope in which it stands."""
    scopes: list[tuple[str, list[str]]] = [("", [])]
    for c in commands(module.text):
        context = tuple(text for _, texts in scopes for text in texts)
        names = [name for name, _ in scopes if name]
        full = ".".join([*names, c.name]) if c.name else ""
        yield Declaration(c.kind, full, c.line, c.text, context)
        if c.kind in _SCOPES:
            name = c.text.split()[1] if c.kind == "namespace" else ""
            scopes.append((name, [c.text]))
        elif c.kind == "end" and len(scopes) > 1:
            scopes.pop()
        elif c.kind not in DECLARATIONS:
            scopes[-1][1].append(c.text)


def outline(module: Module) -> list[tuple[int, str]]:
    """Line and text of all that a module says besides its theorems: what those rest on."""
    lines = [(n, f"import {i}") for n, i in enumerate(module.imports, 2)]
    for d in _followed(module):
        if d.kind not in DECLARATIONS:
            lines.append((d.line, " ".join(d.text.split())))
        elif d.kind != "theorem":
            lines.append((d.line, f"{d.kind} {d.name} {d.digest}"))
    return lines


def theorems(project: Project) -> tuple[tuple[Declaration, str], ...]:
    """Every theorem outside the foundation with its module, in build order."""
    return tuple(
        (d, m.name)
        for m in project.modules
        if m.name not in FOUNDATION
        for d in declarations(m)
        if d.kind == "theorem"
    )


EXPLICIT: Final = ("pp.raw true",)
"""Options that print the very term: all arguments, instances, universes and types.

`pp.all` would do but for numerals, whose notation `nat_lit` needs Lean's own library.
"""

WHOLE: Final = (
    "pp.deepTerms true", "pp.proofs true", "pp.maxSteps 1000000000", "pp.rawOnError true",
)  # fmt: skip
"""Options by which Lean leaves out nothing when it prints, and prints what has no notation."""


def audit_lines(project: Project) -> tuple[tuple[str, str, str], ...]:
    """The lines of the audit below its header: what each asks for, of what, and its text."""
    names = [d.name for d, _ in theorems(project)]
    lines = [("", "", f"set_option {o}") for o in WHOLE]
    for name in names:
        lines += [("statement", name, f"#check @{name}"), ("axioms", name, f"#print axioms {name}")]
    lines += [("", "", f"set_option {o}") for o in EXPLICIT]
    return (*lines, *(("explicit", name, f"#check @{name}") for name in names))


def audit_head(project: Project) -> tuple[str, ...]:
    """The lines of the audit above those."""
    modules = dict.fromkeys(module for _, module in theorems(project))
    lines = ["prelude", *(f"import {m}" for m in [*modules, *FOUNDATION])]
    lines += ["/-! # Tang.Audit — every theorem: its statement, its axioms, its explicit form.", ""]
    return (
        *lines,
        "Written by `python -m tang.proofs.snapshot`; the gate compares it with the sources. -/",
    )


def audit_text(project: Project) -> str:
    """What `Tang/Audit.lean` must be: every theorem's statement and axioms are asked for."""
    texts = (text for _, _, text in audit_lines(project))
    return "\n".join([*audit_head(project), *texts]) + "\n"


def problems(project: Project) -> Iterator[str]:
    """Everything that the sources do and may not, as `file:line: what; cure`."""
    names = {m.name for m in project.modules}
    yield from (
        f"{needed.replace('.', '/')}.lean:1: is missing; take it from the repository"
        for needed in (*FOUNDATION, AUDIT)
        if needed not in names
    )
    for olean in sorted(project.root.rglob("*.olean*")):
        if ".lake" not in olean.relative_to(project.root).parts:
            where = olean.relative_to(project.root)
            yield f"{where}: a compiled file lies among the sources; delete it"
    seen: set[str] = set()
    for m in project.modules:
        yield from (f"{m.file}:{line}: {what}" for line, what in _header_problems(m, names, seen))
        seen.add(m.name)
        if m.name not in (*FOUNDATION, AUDIT):
            yield from (f"{m.file}:{line}: {what}" for line, what in _body_problems(m))
    if AUDIT in names and project.module(AUDIT).text != audit_text(project):
        line = _first_difference(project.module(AUDIT).text, audit_text(project))
        yield (
            f"Tang/Audit.lean:{line}: does not list exactly the theorems of the sources; "
            "run python -m tang.proofs.snapshot"
        )


def foundation_problems(project: Project) -> Iterator[str]:
    """Where the foundation is not the one whose axioms and definitions were read and pinned."""
    for m in project.modules:
        if m.name in PINNED and m.digest != PINNED[m.name]:
            yield (
                f"{m.file}:1: has not the digest in proofs/sources.py: restore it, or if "
                f"the change is meant, read every axiom and definition in it and pin {m.digest}"
            )


def _first_difference(one: str, two: str) -> int:
    """The first line, from 1, in which two texts differ."""
    pairs = zip(one.split("\n"), two.split("\n"), strict=False)
    return next((n for n, (a, b) in enumerate(pairs, 1) if a != b), 1)


def _header_problems(m: Module, names: set[str], seen: set[str]) -> Iterator[tuple[int, str]]:
    yield from header_problems(m.text)
    for number, needed in enumerate(m.imports, 2):
        if needed not in names:
            yield number, f"imports {needed}, which is not a file of the project; add or drop it"
        elif needed not in seen:
            yield number, f"imports {needed}, which imports {m.name}; break the circle"
    if m.name != FOUNDATION[0] and FOUNDATION[0] not in m.imports:
        yield 1, f"does not import {FOUNDATION[0]}; add `import {FOUNDATION[0]}`"


def _body_problems(m: Module) -> Iterator[tuple[int, str]]:
    yield from layout.problems(m.text)
    for number, line in enumerate(m.bare.split("\n"), 1):
        for found in FORBIDDEN.findall(line):
            yield number, f"forbidden word `{found}`; docs/proofs.md says what to write instead"
    for c in commands(m.text):
        if c.kind == "theorem":
            yield from ((c.line, what) for what in theorem_problems(c))
        elif c.kind in DECLARATIONS and not c.name:
            yield c.line, f"this {c.kind} has no plain name; write it on the same line"
        option = " ".join(c.text.split()).removeprefix("set_option ")
        if c.kind == "set_option" and option not in OPTIONS:
            yield (
                c.line,
                f"option `{option}` is forbidden; allowed are {', '.join(sorted(OPTIONS))}",
            )
    yield from _scope_problems(m)


def _scope_problems(m: Module) -> Iterator[tuple[int, str]]:
    """Whether `namespace Tang` holds every declaration, and each `end` names what it ends."""
    plain = [" ".join(c.text.split()) for c in commands(m.text)]
    if plain.count("namespace Tang") != 1 or plain[-1:] != ["end Tang"]:
        yield (
            m.text.count("\n"),
            "must open `namespace Tang` once and close it in the last line; move all between them",
        )
    begun: list[str] = []
    for c, text in zip(commands(m.text), plain, strict=True):
        if c.kind in _SCOPES:
            begun.append(text.partition(f"{c.kind}")[2].strip())
        elif c.kind == "end" and (not begun or begun.pop() != text[3:].strip()):
            yield c.line, f"`{text}` ends something else; write the name that began it"
    for d in declarations(m):
        if not d.name.startswith("Tang."):
            yield d.line, f"declares {d.name} outside the namespace Tang; move it inside"
