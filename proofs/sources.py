"""The Lean sources as text: files, imports, declarations, and what they may not contain.

Defines `Project`, `Module`, `Declaration` and `problems`, the check that runs before Lean does.
Relies on the layout rules of `docs/proofs.md` (one declaration starts per line, at column 0). It
is a second lock: what Lean itself reports is judged by `gate`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
"""The Lake project that ships with the package."""

FOUNDATION: Final = ("Tang.Core", "Tang.Syntax")
"""What may declare axioms and names outside `Tang`; both are pinned by their digests."""

AUDIT: Final = "Tang.Audit"
WORDS: Final = (
    "sorry", "admit", "axiom", "native_decide", "implemented_by", "extern", "unsafe", "opaque",
    "partial", "macro", "macro_rules", "syntax", "elab", "elab_rules", "notation", "infix",
    "infixl", "infixr", "prefix", "postfix", "declare_syntax_cat", "run_cmd", "run_tac",
    "run_elab", "initialize", "builtin_initialize", "csimp", "init_quot", "attribute", "unseal",
    "_root_", "Lean", "deriving", "mutual", "simproc", "register_simp_attr", "skipKernelTC",
    "termination_by", "decreasing_by", "module", "meta",
)  # fmt: skip
"""Words that no file but the foundation may contain outside comments."""

ATTRIBUTES: Final = ("simp", "reducible")
OPTIONS: Final = frozenset({"autoImplicit false", "synthInstance.maxSize 2000"})
_DECLARES: Final = (
    r"^(?:@\[[^\]]*\]\s*)?(?P<mods>(?:(?:private|protected|noncomputable|local|scoped)\s+)*)"
    r"(?P<kind>theorem|lemma|def|abbrev|structure|class inductive|class|inductive|instance|example)"
    r"(?:\s*\(priority := \d+\))?(?:\s+(?P<name>[^\s:({\[⦃]+))?"
)
_COMMAND: Final = re.compile(
    r"^(?:@\[|private|protected|noncomputable|local|scoped|theorem|lemma|def|abbrev|structure|class"
    r"|inductive|instance|example|namespace|section|end|open|variable|universe|set_option|export"
    r"|import|prelude|#)"
)


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declaration as written: kind, full name (or "" for an unnamed instance), line, text."""

    kind: str
    name: str
    line: int
    text: str

    @property
    def digest(self) -> str:
        """A digest of the text, white space aside."""
        return hashlib.sha256(" ".join(self.text.split()).encode()).hexdigest()[:16]


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

    def visit(name: str) -> None:
        if name in order or name not in modules:
            return
        for needed in modules[name].imports:
            if needed != name:
                visit(needed)
        order[name] = modules[name]

    for name in modules:
        visit(name)
    return Project(root, tuple(order.values()))


def _module(root: Path, file: Path) -> Module:
    text = file.read_text(encoding="utf-8")
    head = re.match(r"(?:\s*(?:prelude|import\s+\S+)[ \t]*(?=\n|$))*", text)
    imports = re.findall(r"import\s+(\S+)", head[0] if head else "")
    name = ".".join(file.relative_to(root).with_suffix("").parts)
    return Module(name, file, text, tuple(imports))


@lru_cache(maxsize=256)
def strip_comments(text: str) -> str:
    """Blank out `--` and nested `/- -/` comments; strings are kept."""
    out, depth, i = [], 0, 0
    while i < len(text):
        two = text[i : i + 2]
        if two == "/-":
            depth, i = depth + 1, i + 2
        elif two == "-/" and depth:
            depth, i = depth - 1, i + 2
        elif depth:
            out.append("\n" if text[i] == "\n" else "")
            i += 1
        elif two == "--":
            end = text.find("\n", i)
            i = len(text) if end < 0 else end
        elif text[i] == '"':
            end = _string_end(text, i)
            out.append(text[i:end])
            i = end
        else:
            out.append(text[i])
            i += 1
    return "".join(out)


def _string_end(text: str, start: int) -> int:
    i = start + 1
    while i < len(text) and text[i] != '"':
        i += 2 if text[i] == "\\" else 1
    return i + 1


def declarations(module: Module) -> Iterator[Declaration]:
    """Every declaration with its full name, namespaces included."""
    lines = module.bare.splitlines()
    scopes: list[str] = []
    for number, line in enumerate(lines):
        _follow(scopes, line)
        found = re.match(_DECLARES, line)
        if found:
            name = found["name"] or ""
            full = ".".join([*filter(None, scopes), name]) if name else ""
            kind = "theorem" if found["kind"] == "lemma" else found["kind"]
            yield Declaration(kind, full, number + 1, _extent(lines, number))


def _follow(scopes: list[str], line: str) -> None:
    """Keep the stack of namespaces and sections (sections as empty names)."""
    words = line.split()
    if not words or line[0].isspace():
        return
    if words[0] == "namespace" and len(words) > 1:
        scopes.append(words[1])
    elif "section" in words[:2]:
        scopes.append("")
    elif words[0] == "end" and scopes:
        scopes.pop()


def _extent(lines: list[str], start: int) -> str:
    """The lines of a declaration: up to the next command at column 0."""
    end = start + 1
    while end < len(lines) and not _COMMAND.match(lines[end]):
        end += 1
    return "\n".join(lines[start:end]).rstrip()


def theorems(project: Project) -> tuple[tuple[Declaration, str], ...]:
    """Every theorem outside the foundation with its module, in build order."""
    return tuple(
        (d, m.name)
        for m in project.modules
        if m.name not in FOUNDATION
        for d in declarations(m)
        if d.kind == "theorem"
    )


def audit_text(project: Project) -> str:
    """What `Tang/Audit.lean` must be: every theorem's statement and axioms are asked for."""
    found = theorems(project)
    modules = dict.fromkeys(module for _, module in found)
    lines = ["prelude", *(f"import {m}" for m in [*modules, *FOUNDATION])]
    lines += ["/-! # Tang.Audit — every theorem, its statement and its axioms.", ""]
    lines += [
        "Written by `python -m tang.proofs.snapshot`; the gate compares it with the sources. -/"
    ]
    for d, _ in found:
        lines += [f"#check @{d.name}", f"#print axioms {d.name}"]
    return "\n".join(lines) + "\n"


def problems(project: Project) -> Iterator[str]:
    """Everything that the sources do and may not, as `file:line: what`."""
    names = {m.name for m in project.modules}
    yield from (f"{needed} is missing" for needed in (*FOUNDATION, AUDIT) if needed not in names)
    for olean in sorted(project.root.rglob("*.olean*")):
        if ".lake" not in olean.relative_to(project.root).parts:
            where = olean.relative_to(project.root)
            yield f"{where}: a compiled file lies among the sources; delete it"
    for m in project.modules:
        yield from _header_problems(m, names)
        if m.name not in (*FOUNDATION, AUDIT):
            yield from _body_problems(m)
    if AUDIT in names and project.module(AUDIT).text != audit_text(project):
        yield "Tang/Audit.lean does not list exactly the theorems of the sources"


def _header_problems(m: Module, names: set[str]) -> Iterator[str]:
    where = f"{m.name.replace('.', '/')}.lean"
    if not m.bare.lstrip().startswith("prelude"):
        yield f"{where}:1: does not start with `prelude`"
    yield from (
        f"{where}: imports {i}, not a file of the project" for i in m.imports if i not in names
    )
    if m.name != FOUNDATION[0] and FOUNDATION[0] not in m.imports:
        yield f"{where}: does not import {FOUNDATION[0]}"


def _body_problems(m: Module) -> Iterator[str]:
    where = f"{m.name.replace('.', '/')}.lean"
    for number, line in enumerate(m.bare.splitlines(), 1):
        yield from (f"{where}:{number}: {p}" for p in _line_problems(line))
    body = m.bare.split()
    if body.count("Tang") != 2 or body[-2:] != ["end", "Tang"]:
        yield f"{where}: must open `namespace Tang` once and close it in the last line"
    for d in declarations(m):
        if d.name and not d.name.startswith("Tang."):
            yield f"{where}:{d.line}: declares {d.name} outside the namespace Tang"


def _line_problems(line: str) -> Iterator[str]:
    words = re.findall(r"[\w.!?']+", line)
    parts = {p for w in words for p in w.split(".")}
    yield from (f"forbidden word `{w}`" for w in WORDS if w in parts)
    if any(c in line for c in '"«#'):
        yield "strings, quoted names and `#` commands are forbidden"
    yield from (
        f"attribute `{a}` is forbidden"
        for a in re.findall(r"@\[([^\]]*)", line)
        if a not in ATTRIBUTES
    )
    if ";" in line.replace("<;>", ""):
        yield "`;` is forbidden: one command or tactic a line"
    option = re.search(r"set_option\s+(.*)", line)
    if option and option[1].strip() not in OPTIONS:
        yield f"option `{option[1].strip()}` is forbidden"
    later = re.search(
        r"\S.*\b(theorem|def|instance|axiom|namespace|end|structure|class|inductive)\b", line
    )
    if (
        later
        and not re.match(_DECLARES, line)
        and not line.startswith(("namespace", "end", "import"))
    ):
        yield f"`{later[1]}` must start its line"
