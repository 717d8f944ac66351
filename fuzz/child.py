"""Child processes that answer questions, and whose death is an answer too.

Defines `Child`: a fresh interpreter that loads one handler and applies it to messages. Relies on
pipes and on `select`, so on POSIX. It restarts nothing and judges nothing; messages are pickled
between processes of one program and are never read from anywhere else.
"""

from __future__ import annotations

import importlib
import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final

_HEAD: Final = struct.Struct("<Q")
_GRACE: Final = 1.0
"""Seconds in which a child that is told to end may end its own children."""
_NOT_STARTED: Final = 97
"""The exit status of a child whose handler cannot be imported."""
_START: Final = f"""
import sys
sys.path[:] = sys.argv[1:]
try:
    from tang.fuzz.child import main
except ImportError as e:
    print(e, file=sys.stderr)
    sys.exit({_NOT_STARTED})
main()
"""
"""A child imports what its parent does; by itself it would look into the current folder first."""


class ChildDiedError(Exception):
    """The child ended before it answered; the message says how, with the end of its stderr."""


class ChildStartError(ChildDiedError):
    """The child could not load its handler: what it was asked is not at fault."""


class ChildTimeoutError(Exception):
    """The child did not answer in time and was ended."""


class Child:
    """A process that answers messages with `handler(message)`.

    `target` is "module:function"; called with `arguments` in the child, it returns the handler.
    """

    def __init__(self, target: str, *arguments: object) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close()
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=environment,
            process_group=0,
        )
        _LIVE.add(self)
        self.send((target, arguments))

    def send(self, message: object) -> None:
        """Hand over a message; a child that is already dead shows when the answer is awaited."""
        data = pickle.dumps(message)
        pipe = self._pipe(self._process.stdin)
        try:
            pipe.write(_HEAD.pack(len(data)) + data)
            pipe.flush()
        except (BrokenPipeError, ConnectionResetError):
            return

    def fileno(self) -> int:
        """For `select`: readable once an answer is on its way, or the child is dead."""
        return self._pipe(self._process.stdout).fileno()

    def receive(self, timeout: float | None = None) -> Any:  # noqa: ANN401 - any message
        """The next answer; raises ChildDiedError or ChildTimeoutError once the child is gone.

        ChildStartError, a ChildDiedError, says that it cannot import this package.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        (length,) = _HEAD.unpack(self._exactly(_HEAD.size, deadline))
        return pickle.loads(self._exactly(length, deadline))  # noqa: S301 - our own child's

    def ask(self, message: object, timeout: float | None = None) -> Any:  # noqa: ANN401
        """Send a message and await its answer."""
        self.send(message)
        return self.receive(timeout)

    def close(self) -> None:
        """End the process, its own children, and whatever it left running."""
        if self._process.poll() is None:
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE)
        self._kill()
        self._process.wait()
        _LIVE.discard(self)
        for pipe in (self._process.stdin, self._process.stdout, self._log):
            _close(pipe)

    def _kill(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _exactly(self, count: int, deadline: float | None) -> bytes:
        data = bytearray()
        while len(data) < count:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            ready, _, _ = select.select([self.fileno()], [], [], left)
            if not ready:
                self.close()
                raise ChildTimeoutError("no answer in time")
            piece = os.read(self.fileno(), min(count - len(data), 1 << 20))
            if not piece:
                raise ChildDiedError(self._last_words())
            data += piece
        return bytes(data)

    def _last_words(self) -> str:
        status = self._process.wait()
        self._log.seek(0)
        text = self._log.read().decode(errors="replace").strip()
        self.close()
        if status == _NOT_STARTED:
            raise ChildStartError(text[-4000:])
        how = f"ended by signal {-status}" if status < 0 else f"ended with status {status}"
        return f"{how}\n{text[-4000:]}".strip()

    @staticmethod
    def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
        if pipe is None:
            raise ChildDiedError("the child has no pipe")
        return pipe


_LIVE: Final[set[Child]] = set()
"""The children of this process, which end with it."""


def _end(signum: int, frame: object) -> None:
    """Told to end: the children first, for each leads a group of its own."""
    for child in _LIVE:
        child._kill()
    os._exit(128 + signum)


def _close(pipe: IO[bytes] | None) -> None:
    try:
        if pipe is not None:
            pipe.close()
    except BrokenPipeError:
        return


def load(target: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    """The object named by "package.module:attribute" or "FILE.py:attribute".

    Raises ImportError or AttributeError as Python does.
    """
    place, _, attribute = target.rpartition(":")
    if place.endswith(".py"):
        path = Path(place).resolve()
        sys.path.insert(0, str(path.parent))
        place = path.stem
    return getattr(importlib.import_module(place), attribute)


def _read(pipe: IO[bytes]) -> Any:  # noqa: ANN401 - any message
    head = pipe.read(_HEAD.size)
    if len(head) < _HEAD.size:
        sys.exit(0)
    return pickle.loads(pipe.read(_HEAD.unpack(head)[0]))  # noqa: S301 - our own parent's


def main() -> None:
    """The child's side: messages have pipes of their own; an exception ends it.

    What handlers and their programs print goes to stderr, and what they read is empty.
    """
    signal.signal(signal.SIGTERM, _end)
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    target, arguments = _read(questions)
    handler = load(target)(*arguments)
    while True:
        data = pickle.dumps(handler(_read(questions)))
        answers.write(_HEAD.pack(len(data)) + data)
        answers.flush()
