"""The gate's configuration is read whole, and every mistake names file, table and key."""

from __future__ import annotations

import pytest

from tang.emulator.budget import ErrorBudget
from tang.verify import Verdict
from tang.verify.gate import ConfigError, read_config
from tang.verify.gate.snapshot import matches

WHOLE = """
[tool.tang.verify]
graphs = ["models/*.py", "saved/mlp.json"]
backends = ["c"]
seeds = [0, 7]
sizes = [{seq = 16}, {seq = 33, batch = 2}]
allow = ["UNDECIDED"]
cache = ".tang"

[[tool.tang.verify.overrides]]
graphs = ["models/softmax.py"]
budget = {rel = 1e-6, ulp = 4}
schedule = "softmax.json"

[[tool.tang.verify.overrides]]
graphs = ["models/softmax.py:wide"]
budget = {abs = 0.5}
"""


def config(tmp_path, text):
    file = tmp_path / "pyproject.toml"
    file.write_text(text)
    return read_config(file)


def test_a_whole_table_is_read(tmp_path):
    found = config(tmp_path, WHOLE)
    assert found.graphs == ("models/*.py", "saved/mlp.json")
    assert found.cache == tmp_path / ".tang"
    plain = found.settings_of("models/mlp.py:graph", matches)
    assert (plain.seeds, plain.allow, plain.budget) == ((0, 7), (Verdict.UNDECIDED,), None)
    assert plain.sizes == ((("seq", 16),), (("batch", 2), ("seq", 33)))


def test_later_overrides_win_and_keep_the_rest(tmp_path):
    found = config(tmp_path, WHOLE)
    usual = found.settings_of("models/softmax.py:graph", matches)
    assert usual.budget == ErrorBudget(rel=1e-6, ulp=4)
    wide = found.settings_of("models/softmax.py:wide", matches)
    assert wide.budget == ErrorBudget(abs=0.5)
    assert wide.schedule == "softmax.json"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("grafs = []", "[tool.tang.verify], unknown key 'grafs': one of backends"),
        ('graphs = "a.py"', "graphs: expected a list of strings, not a string ('a.py')"),
        ("graphs = []", "graphs: expected at least one pattern"),
        ("graphs = [1]", "graphs: expected a string, not an integer (1)"),
        ("seeds = [true]", "seeds: expected an integer from 0"),
        ("seeds = [-1]", "seeds: expected an integer from 0"),
        ("seeds = []", "seeds: expected at least one seed"),
        ("sizes = {seq = 1}", "sizes: expected a list of tables"),
        ("sizes = [16]", "sizes: expected a table such as {seq = 16}, not an integer (16)"),
        ('sizes = [{seq = "x"}]', "sizes: expected an integer"),
        ("budget = 1e-6", "budget: expected a table such as {rel = 1e-6}"),
        ("budget = {relative = 1}", "budget: unknown key 'relative': one of abs, rel, ulp"),
        ("budget = {rel = -1}", "rel must be a finite number"),
        ("budget = {rel = nan}", "rel must be a finite number"),
        ('budget = {rel = "1"}', "rel must be a finite number"),
        ('allow = ["FINE"]', "allow: unknown verdict 'FINE': one of PASS, WRONG"),
        ("cache = 3", "cache: expected a string"),
        ("overrides = 3", "overrides: expected [[tool.tang.verify.overrides]]"),
        ("overrides = [{}]", "[tool.tang.verify.overrides[0]], says not for which graphs"),
        ('overrides = [{graphs = ["a"], cache = "x"}]', "overrides[0]], unknown key 'cache'"),
    ],
)
def test_a_mistake_names_file_table_and_key(tmp_path, line, words):
    with pytest.raises(ConfigError) as e:
        config(tmp_path, f"[tool.tang.verify]\n{line}\n")
    assert words in str(e.value)
    assert str(tmp_path / "pyproject.toml") in str(e.value)


def test_a_missing_file_table_or_syntax_is_an_error(tmp_path):
    with pytest.raises(ConfigError, match="no file"):
        read_config(tmp_path / "nowhere.toml")
    with pytest.raises(ConfigError, match=r"has no table \[tool.tang.verify\]"):
        config(tmp_path, "[tool.other]\n")
    with pytest.raises(ConfigError, match="is a table, not an integer"):
        config(tmp_path, "[tool.tang]\nverify = 1\n")
    with pytest.raises(ConfigError, match="is no TOML"):
        config(tmp_path, "[tool")


@pytest.mark.parametrize(
    ("pattern", "program", "expected"),
    [
        ("a/*.py", "a/b.py:graph", True),
        ("a/*.py", "a/b/c.py:graph", False),
        ("**/*.py", "c.py:graph", True),
        ("**/*.py", "a/b/c.py:graph", True),
        ("a/b.py:x", "a/b.py:x", True),
        ("a/b.py:x", "a/b.py:y", False),
        ("a/?.json", "a/b.json", True),
        ("a.b", "axb", False),
    ],
)
def test_patterns_match_as_globs_do(pattern, program, expected):
    assert matches(pattern, program) is expected
