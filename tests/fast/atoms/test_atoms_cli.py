"""`tang atoms` prints every model, and --selftest says in a sentence that there is no GPU."""

import json
import sys

import pytest
from fake_gpu import FakeGpu

from tang import cli
from tang.device import atoms as probe
from tang.device import cuda, profiling
from tang.errors import DeviceError
from tang.ir.tensorcore import ATOMS
from tang.kernel.profile import IEEE


@pytest.fixture
def tang(monkeypatch, capsys, tmp_path):
    """Runs a command line in an empty folder: the exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["tang", "atoms", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out = capsys.readouterr()
        return ended.value.code, out.out, out.err

    return run


class Device:
    """A GPU that is there: the fake answers for it."""

    architecture = "sm_90"
    identity = ("GPU 0, sm_90", "driver 13000", "nvrtc (13, 0)", "cupy 14")
    profile = IEEE

    def close(self):
        pass


@pytest.fixture
def fake(monkeypatch):
    """The machine has a GPU, which a fake stands for."""

    def install(gpu):
        monkeypatch.setattr(cuda, "Cuda", Device)
        monkeypatch.setattr(profiling, "measured", lambda device: profiling.Measured((), ()))
        monkeypatch.setattr(probe, "AtomProbe", lambda device, architecture, atoms: gpu)

    return install


def test_every_model_is_printed_with_what_it_rests_on(tang):
    code, out, _ = tang()
    assert code == 0
    heads = [line for line in out.splitlines() if not line.startswith("  ")]
    assert heads == [" ".join(key) for key in ATOMS]
    assert "sm_90 wgmma e4m3fn\n  32 terms, 32 at once; 13 bits below" in out
    assert "published model; floor as on sm_90, not confirmed" in out


def test_the_models_are_data_too(tang):
    code, out, _ = tang("--json", "--only", "sm_90 f64")
    assert code == 0
    (row,) = json.loads(out)
    assert (row["key"], row["fraction"], row["k"]) == (["sm_90", "mma", "f64"], None, 16)


def test_a_model_that_there_is_not_exits_with_2(tang):
    code, _, err = tang("--only", "int8")
    assert code == 2
    assert "--only 'int8' names no model: there are sm_90 mma f16;" in err


def test_without_a_gpu_the_selftest_exits_with_2_and_a_sentence(tang, monkeypatch):
    def no_gpu():
        raise DeviceError(f"no CUDA device: none; {cuda.ENABLE}")

    monkeypatch.setattr(cuda, "Cuda", no_gpu)
    code, _, err = tang("--selftest")
    assert code == 2
    assert err == f"tang: DeviceError: no CUDA device: none; {cuda.ENABLE}\n"


def test_a_gpu_that_answers_as_the_model_is_certified_and_the_report_written(tang, fake, tmp_path):
    fake(FakeGpu())
    code, out, err = tang("--selftest", "--only", "tf32", "--seconds", "0", "--out", "report.json")
    assert code == 0
    assert out.startswith("GPU 0, sm_90, driver 13000, nvrtc (13, 0), cupy 14: certified; 2 models")
    assert "tang: sm_90 mma tf32: certified, 0 of" in err
    data = json.loads((tmp_path / "report.json").read_text())
    assert data["certified"]
    assert [a["key"] for a in data["atoms"]] == [["sm_90", i, "tf32"] for i in ("mma", "wgmma")]


def test_a_gpu_with_a_wrong_operation_is_refused_with_exit_code_1(tang, fake):
    fake(FakeGpu(wrong={"div": 7}))
    code, out, _ = tang("--selftest", "--only", "operations", "--seconds", "0")
    assert code == 1
    assert "refused; 0 models" in out
    assert "  f32 div: 7 of 4294967296 samples are not IEEE's and the profile says IEEE" in out


def test_a_folder_that_there_is_not_is_told_before_anything_is_asked(tang):
    code, _, err = tang("--selftest", "--out", "missing/report.json")
    assert code == 2
    assert "there is no folder missing: create it first" in err
