"""Inputs from files: what is read is what was written, and nothing else is read."""

from __future__ import annotations

import io
import json
import pickle
import re
import struct
import zipfile

import numpy as np
import pytest

import tang as tg
from tang.budget.files import load_inputs, read_safetensors
from tang.errors import BudgetError


def program():
    x, k = tg.input("x", (2, 3)), tg.input("k", ("n",), "index")
    i, j, n = tg.dims("i j n")
    return tg.Graph(y=tg.compute("y", (i, n), tg.sum(x[i, j], j) + tg.real(k[n])))


def safetensors(entries, data, **more):
    """A file's bytes: entries are name → (dtype, shape, start, stop)."""
    head = {
        n: {"dtype": d, "shape": s, "data_offsets": [a, b]} for n, (d, s, a, b) in entries.items()
    }
    text = json.dumps({**head, **more}).encode()
    return struct.pack("<Q", len(text)) + text + data


X = np.arange(6, dtype=np.float32).reshape(2, 3)
K = np.array([4, 5], np.int64)
GOOD = {"x": ("F32", [2, 3], 0, 24), "k": ("I64", [2], 24, 40)}
DATA = X.tobytes() + K.tobytes()


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    return write


def test_npz_gives_the_arrays_that_were_saved(tmp_path):
    np.savez(tmp_path / "a.npz", x=X, k=K)
    found = load_inputs(tmp_path / "a.npz", program())
    assert list(found) == ["x", "k"]
    assert all(np.array_equal(found[n], a) for n, a in (("x", X), ("k", K)))


def test_safetensors_gives_the_arrays_that_were_saved(write):
    file = write("a.safetensors", safetensors(GOOD, DATA, __metadata__={"by": "hand"}))
    found = load_inputs(file, program())
    assert np.array_equal(found["x"], X)
    assert np.array_equal(found["k"], K)


def test_every_dtype_is_read_as_the_numbers_that_it_stands_for(write):
    data = struct.pack("<HHBBB?", 0x3F80, 0xC040, 0x38, 0x7E, 0x3C, True) + struct.pack("<e", 1.5)
    entries = {
        "b": ("BF16", [2], 0, 4), "e": ("F8_E4M3", [2], 4, 6), "f": ("F8_E5M2", [], 6, 7),
        "t": ("BOOL", [1], 7, 8), "h": ("F16", [1, 1], 8, 10),
    }  # fmt: skip
    found = read_safetensors(write("a.safetensors", safetensors(entries, data)))
    assert found["b"].tolist() == [1.0, -3.0]
    assert found["e"].tolist() == [1.0, 448.0]
    assert found["f"].tolist() == 1.0
    assert found["t"].tolist() == [True]
    assert found["h"].tolist() == [[1.5]]


BAD = {
    "empty": (b"", "too few"),
    "header-beyond-the-file": (struct.pack("<Q", 2**40) + b"{}", "header of"),
    "no-json": (struct.pack("<Q", 2) + b"{[", "no JSON"),
    "deep-json": (struct.pack("<Q", 200_000) + b"[" * 200_000, "no JSON"),
    "a-list": (struct.pack("<Q", 2) + b"[]", "no JSON object"),
    "a-name-twice": (struct.pack("<Q", 14) + b'{"a":1,"a": 2}', "twice"),
    "unknown-dtype": (safetensors({"x": ("C64", [1], 0, 8)}, bytes(8)), "dtype 'C64'"),
    "beyond-the-data": (safetensors({"x": ("F32", [2, 3], 0, 24)}, bytes(8)), "0 … 24 of 8"),
    "wrong-size": (safetensors({"x": ("F32", [2, 4], 0, 24)}, bytes(24)), "takes 32 bytes"),
    "negative": (safetensors({"x": ("F32", [-2, -3], 0, 24)}, bytes(24)), "no list of sizes"),
    "backwards": (safetensors({"x": ("F32", [0], 8, 4)}, bytes(8)), "lies at 8 … 4"),
    "overlap": (
        safetensors({"a": ("U8", [4], 0, 4), "b": ("U8", [4], 2, 6)}, bytes(6)), "overlaps",
    ),
    "hole": (safetensors({"a": ("U8", [2], 0, 2), "b": ("U8", [2], 4, 6)}, bytes(6)), "hole of 2"),
    "rest": (safetensors({"a": ("U8", [2], 0, 2)}, bytes(6)), "4 bytes behind"),
    "more-fields": (safetensors({}, b"", x={"dtype": "U8", "shape": [], "data_offsets": [0, 1],
                                            "run": 1}), "nothing else"),
    "half-a-bool": (safetensors({"a": ("BOOL", [1], 0, 1)}, b"\x07"), "other than 0 and 1"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_a_malformed_safetensors_file_is_refused_with_the_place(case, write):
    content, words = BAD[case]
    with pytest.raises(BudgetError, match=words) as told:
        read_safetensors(write("a.safetensors", content))
    assert "a.safetensors" in str(told.value)


@pytest.mark.parametrize(("arrays", "words"), [
    ({"x": X}, "no tensor 'k'; the file holds x"),
    ({"x": X, "k": K, "z": K}, "'z' is no input; the program takes x, k"),
    ({"x": X.T, "k": K}, r"'x' has shape \(3, 2\), expected \(2, 3\)"),
    ({"x": X, "k": K[None]}, r"'k' has shape \(1, 2\), expected \(n\)"),
    ({"x": X, "k": X[0]}, "'k' is index, and float32 is not"),
    ({"x": X > 1, "k": K}, "'x' is real, and bool is not"),
], ids=["missing", "unknown", "shape", "rank", "sort", "bools"])  # fmt: skip
def test_arrays_that_do_not_fit_the_program_are_named(arrays, words, tmp_path):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(BudgetError, match=words):
        load_inputs(tmp_path / "a.npz", program())


def test_nothing_is_ever_unpickled(tmp_path):
    class Trap:
        def __reduce__(self):
            return pytest.fail, ("unpickled",)

    held = io.BytesIO()
    np.savez(held, x=np.array([Trap()], object), k=K)
    (tmp_path / "a.npz").write_bytes(held.getvalue())
    (tmp_path / "b.npz").write_bytes(pickle.dumps({"x": 1}))
    for name, said in (("a.npz", "'x' holds Python objects, which"), ("b.npz", "is no .npz file")):
        with pytest.raises(BudgetError, match=re.escape(said)):
            load_inputs(tmp_path / name, program())


@pytest.mark.parametrize(("name", "words"), [
    ("none.npz", "no file"), ("a.pt", "come as .npz or .safetensors, not '.pt'"),
], ids=["missing", "ending"])  # fmt: skip
def test_a_file_that_cannot_be_read_is_refused(name, words, tmp_path):
    with pytest.raises(BudgetError, match=words):
        load_inputs(tmp_path / name, program())


SAID = {
    "a.npz": (b"garbage", "is no .npz file: it begins with b'garbag', and an .npz file is a zip"),
    "b.npz": (b"", "is no .npz file: it is empty"),
    "c.npz": (b"PK\x03\x04 and no more", "is no whole .npz file: its zip archive is damaged"),
    "d.npz": (b"\x93NUMPY\x01\x00", "one array without a name, as np.save writes it: save"),
    "a.safetensors": (b"garbage, much of it", "is no .safetensors file: its first 8 bytes stand"),
    "b.safetensors": (b"abc", "is no .safetensors file: 3 bytes are too few"),
    "c.safetensors": (struct.pack("<Q", 2) + b"x{", "its header is no JSON"),
}


@pytest.mark.parametrize("name", SAID)
def test_a_file_that_is_none_is_named_with_what_it_should_be(write, name):
    content, said = SAID[name]
    with pytest.raises(BudgetError, match=re.escape(said)) as caught:
        load_inputs(write(name, content), program())
    assert name in str(caught.value)
    assert "pickle" not in str(caught.value)


def test_a_member_that_is_cut_or_no_array_is_named(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("x.npy", b"\x93NUMPY\x01\x00garbage")
    with zipfile.ZipFile(tmp_path / "b.npz", "w") as archive:
        archive.writestr("notes.txt", "x")
    with pytest.raises(BudgetError, match="tensor 'x' is no whole array of NumPy"):
        load_inputs(tmp_path / "a.npz", program())
    with pytest.raises(BudgetError, match=r"'notes\.txt' is no array"):
        load_inputs(tmp_path / "b.npz", program())
