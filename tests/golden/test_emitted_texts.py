"""The texts of every example in every language: a refactor changes none of them.

Run this file as a program to write the texts anew, then read the difference. One file per language
holds every paragraph once, after a list of kernels and the paragraphs that each is made of.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tang.emit.unit import DIALECTS
from tang.verify.gate import kernel_diff
from tang.verify.gate.snapshot import discover, texts

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(__file__).parent / "emitted"
RULE = "\n-------- "


def emitted(language: str) -> dict[str, str]:
    """Every kernel of every example, by name."""
    programs, _ = discover(ROOT, ["examples/*.py"])
    return {n: t for p in programs for n, t in texts(p.name, p.graph, "", [language]).items()}


def packed(kernels: Mapping[str, str]) -> str:
    """Kernels as one text."""
    numbers: dict[str, int] = {}
    index = []
    for name, text in kernels.items():
        parts = [numbers.setdefault(p, len(numbers)) for p in text.split("\n\n")]
        index.append(f"{name} = {' '.join(map(str, parts))}")
    return "".join(["\n".join(index), *(f"{RULE}{n}\n{p}" for p, n in numbers.items())]) + "\n"


def unpacked(text: str) -> dict[str, str]:
    """The kernels in a text that `packed` made."""
    index, *parts = text.removesuffix("\n").split(RULE)
    paragraphs = {p.partition("\n")[0]: p.partition("\n")[2] for p in parts}
    found = {}
    for line in index.splitlines():
        name, _, numbers = line.rpartition(" = ")
        found[name] = "\n\n".join(paragraphs[n] for n in numbers.split())
    return found


@pytest.mark.parametrize("language", DIALECTS)
def test_no_kernel_changed(language):
    old = unpacked((FOLDER / f"{language}.txt").read_text())
    diff = kernel_diff(old, emitted(language))
    assert diff.to_text() == f"0 of {len(old)} kernels changed"
    assert len(old) >= 15


def test_every_file_belongs_to_a_language():
    assert {p.stem for p in FOLDER.glob("*.txt")} == set(DIALECTS)


def test_packing_loses_nothing_and_a_changed_kernel_is_named():
    kernels = {"a [c]": "head\n\nint a = 1;\n", "b [c]": "head\n\nint b;\n\n\n"}
    text = packed(kernels)
    assert unpacked(text) == kernels
    diff = kernel_diff(unpacked(text.replace("a = 1", "a = 2")), kernels)
    assert (diff.changed, diff.summary()) == (("a [c]",), "1 of 2 kernels changed")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in DIALECTS:
        (FOLDER / f"{name}.txt").write_text(packed(emitted(name)))
