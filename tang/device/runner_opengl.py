"""The runner of OpenGL: GLSL texts as compute programs of one EGL context.

Defines `Session`, which the device uses in its own process too, and `open_runner` for
`tang.device.worker`. Relies on moderngl and the standard library alone. Each buffer of a job is
bound with the guard zone behind it, where writes past the end land.
"""

from __future__ import annotations

import ctypes
import json
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

Handle = Any
"""An object of moderngl."""

GUARD = 256
"""Bytes of the guard zones, as laid out by the parent; a multiple of any offset alignment."""

WIDEST = 65535
"""Workgroups in one dimension of a grid; more go to the second one."""


_SUBGROUPS = (
    ("GL_ARB_shader_ballot", "GL_ARB_shader_ballot", "gl_SubGroupSizeARB"),
    ("GL_KHR_shader_subgroup", "GL_KHR_shader_subgroup_basic", "gl_SubgroupSize"),
)
"""An extension as drivers list it, as texts ask for it, and its variable."""
_SUBGROUP = """#version 450
#extension {extension} : enable
layout(local_size_x = 1) in;
layout(std430, binding = 1) buffer words {{ uint size[]; }};
void main() {{ size[0] = uint({value}); }}
"""


def scalar_words(scalars: Sequence[tuple[str, int]], groups: int) -> bytes:
    """The contents of `tang_scalars`: a zero, the workgroups, then scalars of given kinds."""
    words = [0, groups]
    for kind, value in scalars:
        words += [value >> 32 * i & 0xFFFFFFFF for i in range(2 if kind == "i64" else 1)]
    return struct.pack(f"<{len(words)}I", *words)


class Session:
    """One context for all threads, which have it in turns (`current`).

    Raises OSError where there is none or where it refuses a text.
    """

    def __init__(self) -> None:
        import moderngl

        wanted: dict[str, Any] = {"standalone": True, "require": 450, "backend": "egl"}
        try:
            self.context: Any = moderngl.create_context(**wanted)
        except Exception as e:  # moderngl and its loader raise plain Exception
            raise OSError(f"no OpenGL 4.5 context on EGL: {e}") from e
        self.errors = moderngl.Error
        self.info: dict[str, Any] = self.context.info
        self.extensions: set[str] = self.context.extensions
        self._turn = threading.RLock()
        self._depth = 0
        self._let_go()

    def _let_go(self) -> None:
        """A context is one thread's until this."""
        self.context.__exit__(None, None, None)

    @contextmanager
    def current(self) -> Iterator[None]:
        """The context, in this thread; others wait."""
        with self._turn:
            if not self._depth:
                self.context.__enter__()
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if not self._depth:
                    self._let_go()

    def program(self, text: str, entry: str) -> Handle:
        """The program of a kernel of a text."""
        version, newline, rest = text.partition("\n")
        try:
            with self.current():
                return self.context.compute_shader(f"{version}{newline}#define {entry}\n{rest}")
        except self.errors as e:
            raise OSError(f"OpenGL refused {entry}: {e}"[:4000]) from e

    def buffer(self, data: bytes | memoryview) -> Handle:
        """A buffer with contents."""
        try:
            with self.current():
                return self.context.buffer(data)
        except self.errors as e:
            raise MemoryError(str(e)) from e

    def read(self, buffer: Handle, size: int) -> bytes:
        """The first bytes of a buffer, once everything launched has ended."""
        with self.current():
            found: bytes = buffer.read(size)
        return found

    def launch(
        self, program: Handle, scalars: bytes, buffers: Sequence[tuple[Handle, int]], groups: int
    ) -> None:
        """Start one launch after everything launched before, on buffers from given offsets."""
        with self.current():
            words = self.buffer(scalars)
            for binding, (b, offset) in enumerate(((words, 0), *buffers)):
                b.bind_to_storage_buffer(binding, offset, b.size - offset)
            program.run(min(groups, WIDEST), max(1, -(-groups // WIDEST)), 1)
            self.context.memory_barrier()
            words.release()

    def subgroup(self) -> int:
        """The size of a subgroup as a shader reads it; 0 where no extension has it."""
        for listed, extension, variable in _SUBGROUPS:
            if listed not in self.extensions:
                continue
            program = self.program(_SUBGROUP.format(extension=extension, value=variable), "probe")
            words = self.buffer(bytes(4))
            self.launch(program, bytes(4), [(words, 0)], 1)
            self.wait()
            return int(struct.unpack("<I", self.read(words, 4))[0])
        return 0

    def wait(self) -> None:
        """Return when everything launched has ended."""
        with self.current():
            self.context.finish()


class Runner:
    """Keeps the programs of libraries: files that hold texts by symbol as JSON."""

    limited = False  # drivers map far more than they use

    def __init__(self) -> None:
        self.session = Session()
        self.kept = ExitStack()  # a worker has one thread, which keeps the context
        self.kept.enter_context(self.session.current())
        self.texts: dict[str, dict[str, str]] = {}
        self.programs: dict[tuple[str, str], Any] = {}

    def build(self, library: str) -> None:
        """Make the programs of every text, and have the driver compile them."""
        for symbol in self._texts(library):
            self._program(library, symbol)
        self.session.wait()

    def run(self, job: dict[str, Any], address: int) -> list[int]:
        """Launch one kernel on copies of its buffers and zones, and copy them back."""
        session = self.session
        program = self._program(job["library"], job["symbol"])
        zones = [_zone(address + at, n) for at, n in zip(job["buffers"], job["sizes"], strict=True)]
        buffers = [session.buffer(memoryview(z).cast("B")) for z in zones]
        words = scalar_words(job["scalars"], job["groups"])
        spent = []
        for _ in range(job["repeat"]):
            before = time.perf_counter_ns()
            session.launch(program, words, [(b, GUARD) for b in buffers], job["groups"])
            session.wait()
            spent.append(time.perf_counter_ns() - before)
        if session.context.error not in ("GL_NO_ERROR", None):
            raise RuntimeError("OpenGL reported an error after a launch")
        for zone, b in zip(zones, buffers, strict=True):
            b.read_into(memoryview(zone).cast("B"))
            b.release()
        return spent

    def _texts(self, library: str) -> dict[str, str]:
        if library not in self.texts:
            self.texts[library] = json.loads(Path(library).read_text("utf-8"))
        return self.texts[library]

    def _program(self, library: str, symbol: str) -> Handle:
        key = (library, symbol)
        if key not in self.programs:
            text, entry = self._texts(library)[symbol], symbol.partition("@")[0]
            self.programs[key] = self.session.program(text, entry)
            self._warm(self.programs[key], text.count("layout(std430") - 1)
        return self.programs[key]

    def _warm(self, program: Handle, buffers: int) -> None:
        """Launch no workgroups: drivers compile at the first launch."""
        dummies = [self.session.buffer(bytes(256)) for _ in range(buffers)]
        words = scalar_words((("i64", 0),) * 16, 0)
        self.session.launch(program, words, [(b, 0) for b in dummies], 1)
        for b in dummies:
            b.release()


def _zone(address: int, size: int) -> ctypes.Array[ctypes.c_char]:
    """A buffer of the arena with its guard zones, up to a multiple of four bytes."""
    total = -(-(size + 2 * GUARD) // 4) * 4
    return (ctypes.c_char * total).from_address(address - GUARD)


def open_runner(options: dict[str, Any]) -> Runner:
    """A runner; it takes no options."""
    return Runner()
