"""The kernel diff counts, names and shows what changed, and nothing else."""

from __future__ import annotations

from tang.verify.gate import kernel_diff

OLD = {"a [c]": "one\ntwo\n", "b [c]": "x\n", "gone [c]": "y\n"}


def test_equal_texts_are_no_change():
    diff = kernel_diff(OLD, dict(OLD))
    assert not diff
    assert diff.to_text() == "0 of 3 kernels changed"


def test_changed_added_and_removed_kernels_are_named():
    diff = kernel_diff(OLD, {"a [c]": "one\n2\n", "b [c]": "x\n", "new [c]": "z\n"})
    assert (diff.changed, diff.added, diff.removed) == (("a [c]",), ("new [c]",), ("gone [c]",))
    text = diff.to_text()
    assert text.startswith("3 of 4 kernels changed (1 added, 1 removed)\n  changed  a [c]\n")
    assert "-two\n+2" in text


def test_long_and_many_diffs_are_cut_short():
    old = {f"k{n}": "".join(f"{i}\n" for i in range(100)) for n in range(5)}
    diff = kernel_diff(old, dict.fromkeys(old, "nothing\n"))
    text = diff.to_text(shown=2, lines=10)
    assert "5 of 5 kernels changed" in text
    assert text.count("--- a/") == 2
    assert "more lines" in text
    assert "… 3 more diffs not shown" in text
