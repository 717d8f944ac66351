"""Names of kernels in a text: whether the one that a description launches can be there.

Defines `check_named`. Relies on the words of the text alone, after comments; where macros or other
files may make names it says nothing. It compiles nothing and judges nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tang.verify.foreign.launch import LaunchError

_COMMENT: Final = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_ATTRIBUTE: Final = re.compile(
    r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)|__launch_bounds__\s*\([^()]*\)"
)
_MAKES_NAMES: Final = re.compile(r'##|#\s*include\s*"')
_MARK: Final = {
    "cuda": r"\b__global__\b",
    "opencl": r"\b(?:__)?kernel\b",
    "msl": r"\bkernel\b",
}
"""What a kernel starts with; a C kernel is any function."""
_CALLS: Final = frozenset({"if", "for", "while", "switch", "return", "sizeof", "defined"})


def check_named(text: str, language: str, symbol: str) -> None:
    """Raise LaunchError when the text surely has no kernel of that name."""
    code = _ATTRIBUTE.sub(" ", _COMMENT.sub(" ", text))
    name = symbol.partition("<")[0].rpartition("::")[2].strip()
    if name and _MAKES_NAMES.search(code):
        return
    known = list(dict.fromkeys(_functions(code) if language == "c" else _kernels(code, language)))
    if name and re.search(rf"\b{re.escape(name)}\b", code):
        renamed = re.search(rf'#\s*define\b|"{re.escape(name)}"', code)
        if language == "c" or renamed or not known or name in known:
            return
    there = f"one of {', '.join(known)}" if known else "it has none"
    raise LaunchError(f"kernel: no kernel {symbol!r} in the text: {there}")


def _kernels(code: str, language: str) -> Iterator[str]:
    """The names that follow the language's mark of a kernel."""
    mark = _MARK.get(language)
    if mark is not None:
        yield from re.findall(rf"{mark}[^;{{}}()]*?\b(\w+)\s*\(", code)


def _functions(code: str) -> Iterator[str]:
    """The functions of a C text: names before parentheses and a body, outside of all braces."""
    outside, depth = [], 0
    for part in re.split(r"([{}])", code):
        if depth == 0 and part != "}":
            outside.append(part)
        depth += (part == "{") - (part == "}")
    found = re.findall(r"\b([A-Za-z_]\w*)\s*\([^;{}]*?\)\s*\{", "".join(outside))
    yield from (name for name in found if name not in _CALLS)
