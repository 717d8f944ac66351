"""Every portable function of one argument, at each of the 2³² f32 numbers, and atan2 at 2²⁸ pairs.

The emitted C, compiled with -O2 -ffp-contract=off, against f64 libm: some minutes a function on
one core. The worst arguments are measured again by replay against mpmath, so the libm of the host
is believed nowhere near a claim.
"""

from __future__ import annotations

import math
import shutil
import subprocess
from pathlib import Path

import mpmath
import numpy as np
import pytest

from tang.emit.unit import emit_unit
from tang.emulator.functions import call_function
from tang.kernel.expand import expand_kernel, portable
from tang.kernel.ir import F32, I32, MATH, Kernel, Load, Op, Param, Store, Var

HERE = Path(__file__).parent
SYMMETRY = {"sin": -1, "tanh": -1, "erf": -1, "cos": 1}
SIGMOID = "static double reference_sigmoid(double x) { return 1 / (1 + exp(-x)); }\n"
PAIRS = 2**28
TOLERANCE = 1e-4
"""Of an error in ulps: f64 libm errs by less than 2⁻²⁸ of an f32 ulp, times a few."""


def kernel(op: str) -> Kernel:
    """out[i] = op(x[i]) or op(y[i], x[i])."""
    names = ("y", "x")[-MATH[op] :]
    i = Var(I32, "global_id")
    value = Op(F32, op, tuple(Load(F32, name, i) for name in names))
    params = (*(Param(name, F32, False) for name in names), Param("out", F32, True))
    return expand_kernel(Kernel(f"map_{op}", params, (), (Store("out", i, value),)))


def build(op: str, driver: str, folder: Path) -> Path:
    """The driver's program for one function."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler called cc")
    unit = emit_unit((kernel(op),))
    reference = f"reference_{op}" if op == "sigmoid" else op
    macros = {
        "KERNEL": unit.symbols[0],
        "REFERENCE": reference,
        "SYMMETRY": f"({SYMMETRY.get(op, 0)})",
    }
    defines = "".join(f"#define {name} {text}\n" for name, text in macros.items())
    parts = [(HERE / name).read_text(encoding="utf-8") for name in ("measure_ulps.h", driver)]
    source, program = folder / f"{op}.c", folder / op
    source.write_text("\n".join([unit.text, SIGMOID, defines, *parts]), encoding="utf-8")
    flags = ["-std=c11", "-O2", "-ffp-contract=off", "-w"]
    subprocess.run([compiler, *flags, str(source), "-o", str(program), "-lm"], check=True)
    return program


def run(program: Path, first: int, last: int) -> list[tuple[float, tuple[int, ...]]]:
    """Errors with the bits of their arguments, largest first."""
    command = [str(program), str(first), str(last)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    lines = (line.split() for line in done.stdout.splitlines())
    found = [(float(error), tuple(map(int, bits))) for error, *bits in lines]
    return sorted(found, reverse=True)


def exact_error(op: str, bits: tuple[int, ...]) -> float:
    """The error in ulps at one argument, by replay and mpmath."""
    args = np.array(bits, dtype=np.uint32).view(np.float32)
    got = np.asarray(call_function(portable(op), tuple(a[None] for a in args)))
    with mpmath.workdps(60):
        want = exact_value(op, [mpmath.mpf(float(a)) for a in args])
        exponent = max(math.frexp(float(want))[1] - 1, -126)
        return float(abs(mpmath.mpf(float(got[0])) - want) / mpmath.mpf(2) ** (exponent - 23))


def exact_value(op: str, args: list[mpmath.mpf]) -> mpmath.mpf:
    """The function to the working precision of mpmath."""
    if op in ("exp2", "log2"):
        return 2 ** args[0] if op == "exp2" else mpmath.log(args[0], 2)
    if op == "sigmoid":
        return 1 / (1 + mpmath.exp(-args[0]))
    return getattr(mpmath, op)(*args)


@pytest.mark.parametrize("op", sorted(set(MATH) - {"atan2"}))
def test_no_f32_argument_errs_by_more_than_the_claim(op: str, tmp_path: Path):
    found = run(build(op, "exhaustive.c", tmp_path), 0, 2**31)
    worst, bits = found[0]
    print(f"{op}: {worst:.6f} ulp at {bits[0]:#010x}")
    for error, argument in found[:8]:
        assert abs(exact_error(op, argument) - error) < TOLERANCE
    assert portable(op).ulp - 0.02 <= worst <= portable(op).ulp - TOLERANCE


def test_no_sampled_pair_errs_by_more_than_the_claim_of_atan2(tmp_path: Path):
    worst, bits = run(build("atan2", "sampled_atan2.c", tmp_path), 1, PAIRS)[0]
    print(f"atan2: {worst:.6f} ulp at {bits[0]:#010x}, {bits[1]:#010x}")
    assert abs(exact_error("atan2", bits) - worst) < TOLERANCE
    assert worst <= portable("atan2").ulp - TOLERANCE


def test_the_exhaustive_driver_sees_a_wrong_special_value(tmp_path: Path):
    program = build("exp", "exhaustive.c", tmp_path)
    text = (tmp_path / "exp.c").read_text(encoding="utf-8")
    wrong = text.replace("#define REFERENCE exp\n", "#define REFERENCE exp2\n")
    (tmp_path / "exp.c").write_text(wrong, encoding="utf-8")
    flags = ["-std=c11", "-O2", "-ffp-contract=off", "-w"]
    command = ["cc", *flags, str(tmp_path / "exp.c"), "-o", str(program), "-lm"]
    subprocess.run(command, check=True)
    errors = [error for error, _ in run(program, 0x42800000, 0x43800000)]
    assert errors[0] == math.inf
