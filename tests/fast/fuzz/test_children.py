"""Children import what their parent does, and one that cannot is no finding."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tang.errors import DeviceError
from tang.fuzz.child import Child
from tang.fuzz.pool import Pool

HANDLER = "some_pool_handlers:serve"


@pytest.fixture(autouse=True)
def _handlers(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))


def package_named_tang(folder, text):
    (folder / "tang").mkdir()
    (folder / "tang" / "__init__.py").write_text(text)


def answer_to_21():
    pool = Pool(HANDLER, ("",), 1)
    try:
        pool.submit(21, 60.0)
        return pool.results()
    finally:
        pool.close()


def test_a_folder_named_tang_where_a_child_is_started_hides_nothing(tmp_path, monkeypatch):
    package_named_tang(tmp_path, "raise ImportError('another tang')")
    monkeypatch.chdir(tmp_path)
    child = Child(HANDLER, "")
    assert child.ask(21, 60.0) == 42
    child.close()


def test_a_worker_that_cannot_import_tang_is_an_error_and_no_answer(tmp_path, monkeypatch):
    assert answer_to_21() == [(21, 42)]
    package_named_tang(tmp_path, "raise ImportError('another tang')")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(DeviceError, match=r"cannot import tang as this one did.*another tang"):
        answer_to_21()
