"""The plain form that the Lean sources keep to, so that text says what Lean does with it.

Defines `commands` (a file's commands, one from each line that is not indented) and
`problems`, which refuses all that could be read in another way by Lean than here. Relies on Lean's
lexical rules alone. It does not judge what the commands say: `sources` does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

DECLARATIONS: Final = (
    "theorem", "def", "abbrev", "structure", "class inductive", "class", "inductive", "instance",
)  # fmt: skip
_NAME: Final = r"[^\W\d][\w.'!?]*"
_HEAD: Final = re.compile(
    r"(?:@\[(?:simp|reducible)\] )?(?:noncomputable )?"
    rf"(?P<kind>{'|'.join(DECLARATIONS)})(?: \(priority := \d+\))?(?= |$)(?: (?P<name>{_NAME}))?"
)
_OTHER: Final = re.compile(
    rf"(?:namespace {_NAME}|section(?: {_NAME})?|noncomputable section|end(?: {_NAME})?"
    rf"|open(?: {_NAME})+|universe(?: {_NAME})+|set_option [\w.]+ \w+)$"
    rf"|variable (?=[(\[{{⦃])|export {_NAME} \("
)
_IMPORT: Final = re.compile(r"import (Tang(?:\.[A-Za-z]\w*)+)", re.ASCII)

COMMANDS: Final = (
    "theorem", "def", "abbrev", "structure", "class", "inductive", "instance", "namespace",
    "section", "end", "open", "variable", "universe", "set_option", "export", "noncomputable",
)  # fmt: skip
"""Words that begin a command; they may stand nowhere but at the beginning of a line."""


def word(words: Iterable[str]) -> re.Pattern[str]:
    """Finds any of these words wherever Lean could see one, also after a digit or a dot."""
    either = "|".join(sorted(map(re.escape, words), key=len, reverse=True))
    return re.compile(rf"(?<![A-Za-z_])(?:{either})(?![A-Za-z0-9_'!?])")


_COMMAND: Final = word(COMMANDS)


@dataclass(frozen=True, slots=True)
class Command:
    """A command: what it begins with, the name that it declares (or ""), its line, its text."""

    kind: str
    name: str
    line: int
    text: str


@lru_cache(maxsize=256)
def strip_comments(text: str) -> str:
    """Blank out `--` and nested `/- -/` comments; all else keeps its line and column."""
    out: list[str] = []
    last = 0
    for start, end in comments(text):
        out += [text[last:start], _VISIBLE.sub(" ", text[start:end])]
        last = end
    return "".join([*out, text[last:]])


def comments(text: str) -> Iterator[tuple[int, int]]:
    """Where each comment begins and ends."""
    i = 0
    while found := _OPENS.search(text, i):
        start = found.start()
        if found[0] == '"':
            i = _string_end(text, start)
            continue
        if found[0] == "--":
            end = text.find("\n", start)
            i = len(text) if end < 0 else end
        else:
            i = _comment_end(text, start)
        yield start, i


_VISIBLE: Final = re.compile(r"[^\n]")
_OPENS: Final = re.compile(r'"|--|/-')
_NESTS: Final = re.compile(r"/-|-/")


def _comment_end(text: str, start: int) -> int:
    depth, i = 1, start + 2
    while depth and (found := _NESTS.search(text, i)):
        depth, i = depth + (1 if found[0] == "/-" else -1), found.end()
    return len(text) if depth else i


def _string_end(text: str, start: int) -> int:
    i = start + 1
    while i < len(text) and text[i] != '"':
        i += 2 if text[i] == "\\" else 1
    return i + 1


def imports(text: str) -> tuple[str, ...]:
    """The modules that a file imports, as far as its header is plain."""
    return tuple(found[1] for line in _header(text)[1:] if (found := _IMPORT.fullmatch(line)))


def _header(text: str) -> list[str]:
    """`prelude` and the plain imports right below it."""
    lines = text.split("\n")
    end = 1
    while end < len(lines) and _IMPORT.fullmatch(lines[end]):
        end += 1
    return lines[:end]


def header_problems(text: str) -> Iterator[tuple[int, str]]:
    """Line and fault of a header that is not `prelude` and then one plain import a line."""
    head = _header(text)
    if head[0] != "prelude":
        yield 1, "does not start with `prelude`: make that the whole of its first line"
    rest = strip_comments(text).split("\n")
    for number, line in enumerate(rest[len(head) :], len(head) + 1):
        for w in word(("import", "prelude")).findall(line):
            yield (
                number,
                f"`{w}` stands where it may not be read as an import; write each one as "
                "`import Tang.Name` on a line of its own, right below `prelude`",
            )


@lru_cache(maxsize=256)
def commands(text: str) -> tuple[Command, ...]:
    """The commands below the header; each ends where the next line begins that is not indented."""
    lines = strip_comments(text).split("\n")
    starts = [i for i, line in enumerate(lines) if line.strip() and not line[0].isspace()]
    starts = [i for i in starts if i >= len(_header(text))]
    bounds = pairwise([*starts, len(lines)])
    return tuple(_command(lines, start, end) for start, end in bounds)


def _command(lines: list[str], start: int, end: int) -> Command:
    text = "\n".join(lines[start:end]).rstrip()
    found = _HEAD.match(lines[start])
    if found:
        return Command(found["kind"], found["name"] or "", start + 1, text)
    first = text.removeprefix("noncomputable ").split(maxsplit=1)[0]
    return Command(first, "", start + 1, text)


def problems(text: str) -> Iterator[tuple[int, str]]:
    """Line and fault of everything that Lean might read otherwise than `commands` does."""
    yield from _character_problems(text)
    yield from _comment_problems(text)
    for number, line in enumerate(strip_comments(text).split("\n"), 1):
        if number > len(_header(text)):
            yield from ((number, p) for p in line_problems(line))


def _character_problems(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.split("\n"), 1):
        odd = next((c for c in line if not c.isprintable()), None)
        if odd is not None:
            yield number, f"the character U+{ord(odd):04X} is forbidden: use spaces and line ends"


def _comment_problems(text: str) -> Iterator[tuple[int, str]]:
    for start, end in comments(text):
        number = text.count("\n", 0, start) + 1
        if start and text[start - 1] not in " \n":
            yield number, "a comment begins right after other text: put a space before it"
        if text.startswith("/--/", start):
            yield number, "`/--/` is read in two ways: write `/- -/`"
        if text[start] == "/" and not text.endswith("-/", start + 2, end):
            yield number, "a comment has no end: close it with `-/`"


def line_problems(line: str) -> Iterator[str]:
    """What one line without comments may not hold, whatever the words in it mean."""
    rest = line
    if line.strip() and not line[0].isspace():
        found = _HEAD.match(line) or _OTHER.match(line.rstrip())
        if found is None:
            yield (
                f"`{' '.join(line.split()[:2])}` is no plain command: begin a line with a "
                "declaration, `@[simp]` or `@[reducible]` and a declaration, or one of namespace, "
                "section, end, open, variable, universe, set_option, export; indent the rest"
            )
        else:
            rest = line[found.end() :]
    for found in _COMMAND.finditer(rest):
        column = len(line) - len(rest) + found.start()
        yield (
            f"`{found[0]}` stands at column {column}: begin a command at column 0, "
            "one command a line"
        )
    if re.search(r'["«»#`]', line):
        yield "strings, quoted names, quotations and `#` commands are forbidden: leave them out"
    if re.search(r"(?<![\w'!?])'", line):
        yield "a quote that does not end a name is forbidden: leave characters out"
    if ";" in line.replace("<;>", ""):
        yield "`;` is forbidden: write one command or tactic a line"
    if "@[" in rest:
        yield "an attribute stands in the line: write `@[simp]` or `@[reducible]` at column 0"


_OPENING: Final = "([{⟨⦃"
_CLOSING: Final = ")]}⟩⦄"


def statement(c: Command) -> str:
    """A theorem's text up to its proof: to `:=` or to the first `|` of its equations."""
    depth = 0
    for found in re.finditer(r"[(\[{⟨⦃)\]}⟩⦄]|:=|(?<=\n)[ ]*\|(?!\|)", c.text):
        if found[0] in _OPENING:
            depth += 1
        elif found[0] in _CLOSING:
            depth -= 1
        elif not depth:
            return c.text[: found.start()].rstrip()
    return c.text


_LOCAL: Final = re.compile(r"(?<![A-Za-z_])(?:where|let\s+rec)(?![A-Za-z0-9_'!?])")
_SPLITS: Final = word(("let", "have", "match", "where", "show", "suffices"))


def theorem_problems(c: Command) -> Iterator[str]:
    """What a theorem may not hold, so that `statement` is all that it states."""
    says = statement(c)
    if says == c.text:
        yield f"{c.name} has no proof: write `:=` or equations after its statement"
    for found in _SPLITS.findall(says):
        yield f"`{found}` in the statement of {c.name}: define what it stands for before"
    if re.search(r"(?:\bfun|\bwith|λ)$", says):
        yield f"equations in the statement of {c.name}: define the function before"
    for found in _LOCAL.findall(c.text[len(says) :]):
        yield f"`{found}` in the proof of {c.name} declares something: write it before, as its own"
    if not c.name:
        yield "the theorem has no plain name: write it behind `theorem`, on the same line"
