"""The probe's texts: matrix kernels compile, the others run on SIMT and see planted faults."""

from __future__ import annotations

import pytest

from tang.device import CompilerOptions
from tang.device import atoms as probe
from tang.device.atoms import AtomProbe
from tang.device.atoms_functions import functions_text
from tang.device.atoms_text import askable, atoms_text
from tang.device.simt import Simt
from tang.device.simt.nvrtc import nvrtc_check, nvrtc_missing
from tang.errors import DeviceError
from tang.ir.tensorcore import ATOMS

ARCHITECTURES = {"sm_75": "sm_75", "sm_80": "sm_80", "sm_89": "sm_89", "sm_90": "sm_90a",
                 "sm_100": "sm_100"}  # fmt: skip
HAVE_NVRTC = pytest.mark.skipif(nvrtc_missing() is not None, reason=nvrtc_missing() or "")


def atoms_of(architecture):
    return [a for a in ATOMS.values() if a.architecture == architecture]


@HAVE_NVRTC
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_matrix_kernel_compiles_for_its_gpu(architecture):
    atoms = atoms_of(architecture)
    cubin = nvrtc_check(atoms_text(atoms), ARCHITECTURES[architecture])
    assert all(b"ask_" in cubin for _ in atoms)


@HAVE_NVRTC
def test_the_text_of_functions_compiles_for_a_gpu():
    assert len(nvrtc_check(functions_text(), "sm_90")) > 10_000


def test_an_instruction_with_other_fragments_is_refused():
    (atom,) = (a for a in atoms_of("sm_70") if a.output == "f32")
    assert not askable(atom)
    with pytest.raises(DeviceError, match="sm_70 mma f16: there is no kernel that asks"):
        atoms_text([atom])


class Edited:
    """A SIMT device whose compiler changes the text."""

    def __init__(self, device, old="", new=""):
        self._device, self._old, self._new = device, old, new
        self.run = device.run

    def compile_text(self, kernel, text, symbol):
        edited = text.replace(self._old, self._new) if self._old else text
        return self._device.compile_text(kernel, edited, symbol)


@pytest.fixture(scope="module")
def simt(tmp_path_factory):
    device = Simt("cuda", CompilerOptions(cache=tmp_path_factory.mktemp("simt")))
    yield device
    device.close()


@pytest.fixture(autouse=True)
def few_groups(monkeypatch):
    monkeypatch.setattr(probe, "_GROUPS", 2)


def test_a_function_of_the_host_is_measured_over_a_range_of_bits(simt):
    scan = AtomProbe(simt, "simt").scan("exp2", 0x3F800000, 50_000)
    assert 0.5 < scan.ulp < 0.51
    assert scan.count == 50_000
    assert (scan.small, scan.wrong) == (0.0, 0)


def test_nan_infinities_and_subnormals_are_told_apart(simt):
    near_infinity = AtomProbe(simt, "simt").scan("log2", 0x7F7FFF00, 0x200)
    assert near_infinity.wrong == 0
    tiny = AtomProbe(simt, "simt").scan("log2", 0, 0x1000)
    assert tiny.ulp == 0.0
    assert 0.0 < tiny.small < 1.0


@pytest.mark.parametrize(
    ("operation", "old", "new"),
    [
        ("div", "((a) / (b))", "((a) * (1.0f / (b)))"),
        ("fma", "got = fmaf(x, y, z)", "got = x * y + z"),
        ("mul, add", "got = __fmul_rn(x, y) + z", "got = fmaf(x, y, z)"),
        ("mul", "((a) * (b))", "((a) * (b) * 1e-30f * 1e30f)"),
    ],
    ids=["a-reciprocal", "an-unfused-fma", "a-contraction", "a-lost-subnormal"],
)
def test_an_operation_is_exact_and_a_wrong_one_is_seen(simt, operation, old, new):
    right = AtomProbe(simt, "simt").check(operation, 0, 100_000)
    assert (right.wrong, right.example) == (0, "")
    wrong = AtomProbe(Edited(simt, old, new), "simt").check(operation, 0, 100_000)
    assert 0 < wrong.wrong < 100_000
    assert "it gives" in wrong.example


def test_a_function_that_loses_nan_or_is_coarse_is_seen(simt):
    coarse = Edited(simt, "got = exp2f(x)", "got = isnan(x) ? 1.0f : exp2f(x) * 1.0001f")
    scan = AtomProbe(coarse, "simt").scan("exp2", 0x7F7FFF00, 0x800200)
    assert scan.wrong > 0
    assert scan.at_wrong[0] != scan.at_wrong[0]
    assert AtomProbe(coarse, "simt").scan("exp2", 0x3F800000, 1000).ulp > 500
