"""The cache of libraries: keyed by everything a library depends on, safe between processes."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tang.device.compiler import CompilerOptions, open_compiler
from tang.errors import DeviceError

TEXT = "int answer(void) { return 42; }\n"


@pytest.fixture
def compiler(tmp_path, host):
    return open_compiler(CompilerOptions(cache=tmp_path / "cache"))


def test_a_text_is_compiled_once(compiler):
    first = compiler.library(TEXT)
    stamp = first.stat().st_mtime_ns
    assert compiler.library(TEXT) == first
    assert first.stat().st_mtime_ns == stamp
    assert first.with_suffix(".c").read_text() == TEXT


def test_the_key_covers_text_flags_command_and_version(compiler):
    others = [
        compiler.key(TEXT.replace("42", "43")),
        replace(compiler, flags=(*compiler.flags, "-DX")).key(TEXT),
        replace(compiler, flags=compiler.flags[1:]).key(TEXT),
        replace(compiler, command=("/usr/bin/other-cc",)).key(TEXT),
        replace(compiler, version=compiler.version + ".1").key(TEXT),
    ]
    assert len({compiler.key(TEXT), *others}) == 6


def test_a_refused_text_leaves_nothing_behind(compiler):
    with pytest.raises(DeviceError, match="this is not C"):
        compiler.library("#error this is not C\n")
    assert list(compiler.cache.iterdir()) == []


def test_processes_may_race_for_one_library(tmp_path, host):
    script = (
        "import ctypes, sys, pathlib\n"
        "from tang.device.compiler import CompilerOptions, open_compiler\n"
        "c = open_compiler(CompilerOptions(cache=pathlib.Path(sys.argv[1])))\n"
        "for i in range(4):\n"
        "    lib = c.library(f'int answer(void) {{ return {i}; }}\\n')\n"
        "    assert ctypes.CDLL(str(lib)).answer() == i\n"
    )
    racers = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path)]) for _ in range(3)]
    assert [r.wait() for r in racers] == [0, 0, 0]
    assert sorted(p.suffix for p in Path(tmp_path).iterdir()) == [".c"] * 4 + [".so"] * 4


def test_a_missing_compiler_says_what_to_do():
    with pytest.raises(DeviceError, match="does not run"):
        open_compiler(CompilerOptions(command=("/nonexistent/cc",)))


def test_an_unusable_cache_folder_is_named(tmp_path, host):
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(DeviceError, match="cache folder"):
        open_compiler(CompilerOptions(cache=file / "below"))


def test_fast_maths_is_refused_by_the_text_itself(tmp_path, host):
    from tang.emit import emit
    from tang.kernel.ir import Kernel

    fast = open_compiler(CompilerOptions(cache=tmp_path, extra=("-ffast-math",)))
    with pytest.raises(DeviceError, match="without fast maths"):
        fast.library(emit(Kernel("k", (), (), ())))
