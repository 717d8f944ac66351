"""The gate's cache gives back what passed, and only that, and only under the same key."""

from __future__ import annotations

import json
import threading

import pytest

from tang.verify import Finding, Report, Rung, RungResult, Verdict
from tang.verify.gate import Cache
from tang.verify.gate.cache import write_atomically
from tang.verify.gate.identity import device_identity, digest

GOOD = Report("old", (RungResult(Rung.LOWER, elements=4), RungResult(Rung.EMIT, "c", 4, 4)))
KEY = digest(["one"])


def test_a_pass_is_given_back_under_the_new_name(tmp_path):
    cache = Cache(tmp_path)
    assert cache.get(KEY, "g") is None
    assert cache.put(KEY, GOOD)
    found = cache.get(KEY, "new")
    assert found is not None
    assert (found.name, found.results) == ("new", GOOD.results)
    assert cache.get(digest(["two"]), "g") is None


@pytest.mark.parametrize(
    "report",
    [
        Report("g", GOOD.results, (Finding(Rung.EMIT, Verdict.WRONG, "no"),)),
        Report("g", GOOD.results, (Finding(Rung.EMIT, Verdict.WRONG, "no"),)).allow(
            [Verdict.WRONG]
        ),
        Report("g", (RungResult(Rung.LOWER, elements=4, undecided=1),)),
        Report("g", (RungResult(Rung.EMIT, "c", unsupported="no f64"),)),
    ],
    ids=["finding", "allowed finding", "undecided", "unsupported"],
)
def test_only_passes_are_kept(tmp_path, report):
    cache = Cache(tmp_path)
    assert not cache.put(KEY, report)
    assert cache.get(KEY, "g") is None


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: "",
        lambda text: text[: len(text) // 2],
        lambda text: "[]",
        lambda text: "null",
        lambda text: '{"results": []}',
        lambda text: text.replace('"elements": 4', '"elements": 5'),
        lambda text: text.replace(KEY, digest(["two"])),
        lambda text: text.replace('"version": 1', '"version": 2'),
        lambda text: json.dumps({**json.loads(text), "results": []}),
        lambda text: "[" * 100_000,
    ],
)
def test_a_spoilt_entry_is_as_if_it_were_not_there(tmp_path, spoil):
    cache = Cache(tmp_path)
    cache.put(KEY, GOOD)
    (path,) = tmp_path.rglob("*.json")
    path.write_text(spoil(path.read_text()))
    assert cache.get(KEY, "g") is None
    assert cache.put(KEY, GOOD)
    assert cache.get(KEY, "g") is not None


def test_a_folder_that_cannot_be_written_costs_only_time(tmp_path):
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file")
    assert not cache.put(KEY, GOOD)
    assert cache.get(KEY, "g") is None


def test_many_writers_leave_one_whole_entry(tmp_path):
    cache = Cache(tmp_path)
    threads = [threading.Thread(target=cache.put, args=(KEY, GOOD)) for _ in range(16)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert cache.get(KEY, "g") is not None
    assert len(list(tmp_path.rglob("*"))) == 2  # a folder and the entry


def test_a_report_is_written_whole_or_not_at_all(tmp_path):
    target = tmp_path / "report.txt"
    write_atomically(target, "old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(target, "new \ud800")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_parts_of_a_digest_do_not_run_together():
    assert digest(["ab", "c"]) != digest(["a", "bc"]) != digest(["abc"])
    assert digest(["ab", "c"]) == digest([b"ab", b"c"])


class Device:
    """Says what it is, as far as given."""

    name, language, limits, profile = "d", "c", "limits", "profile"

    def __init__(self, *identity):
        if identity:
            self.identity = identity


def test_a_device_is_its_identity_or_has_none():
    assert device_identity("c", Device()) is None
    one = device_identity("c", Device("gcc 12", "-O1"))
    assert one == device_identity("c", Device("gcc 12", "-O1"))
    assert one != device_identity("c", Device("gcc 13", "-O1"))
    assert one != device_identity("c", Device("gcc 12", "-O2"))
    assert one != device_identity("d", Device("gcc 12", "-O1"))


def test_a_description_with_a_driver_is_an_identity():
    device = Device()
    device.description = "llvmpipe, OpenGL 4.5 (Mesa 22.3.6)"
    one = device_identity("glsl", device)
    device.description = "llvmpipe, OpenGL 4.5 (Mesa 23.0)"
    assert one is not None
    assert device_identity("glsl", device) not in (one, None)
