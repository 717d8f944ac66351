"""The host's C compiler, as devices know it.

Re-exports `tang.toolchain`, which oracles may import too because it knows no kernel and no device.
It adds nothing.
"""

from tang.toolchain import (
    FLAGS,
    PLAIN_CALLS,
    Compiler,
    CompilerOptions,
    default_cache,
    find_compiler,
    open_compiler,
)

__all__ = [
    "FLAGS",
    "PLAIN_CALLS",
    "Compiler",
    "CompilerOptions",
    "default_cache",
    "find_compiler",
    "open_compiler",
]
