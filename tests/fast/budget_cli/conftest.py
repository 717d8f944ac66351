"""Makes the programs of these tests importable under importlib mode, and runs command lines."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from tang import cli

for _name, _file in (("budget_programs", "programs.py"), ("fake_export", "fake_export.py")):
    _spec = importlib.util.spec_from_file_location(_name, Path(__file__).with_name(_file))
    if _spec is not None and _spec.loader is not None and _name not in sys.modules:
        module = importlib.util.module_from_spec(_spec)
        sys.modules[_name] = module
        _spec.loader.exec_module(module)


@pytest.fixture
def matmul():
    return sys.modules["budget_programs"].matmul_graph()


@pytest.fixture
def chain():
    return sys.modules["budget_programs"].chain_graph()


@pytest.fixture
def tang(monkeypatch, capsys, tmp_path):
    """Runs a command line in an empty folder: exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["tang", *arguments])
        try:
            cli.main()
            code = 0
        except SystemExit as ended:
            code = ended.code or 0
        told = capsys.readouterr()
        return code, told.out, told.err

    return run
