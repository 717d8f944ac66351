"""A device that answers from the models, and wrong ones."""

from dataclasses import replace

import numpy as np

from tang.device.atoms import EVERY, Sampled, Scan
from tang.emulator.fda_check import Questions, answers
from tang.kernel.accuracy import DOCUMENTED
from tang.kernel.ir import F32


class FakeGpu:
    """Answers each question twice, as a warp does; `change` is what is wrong with its models."""

    def __init__(self, change=None, edit=None, scans=None, wrong=None):
        self.change = change or (lambda atom: atom)
        self.edit = edit or (lambda bits, atom: bits)
        self.scans = scans or {}
        self.wrong = wrong or {}

    def ask(self, atom, a, b, c):
        bits = answers(Questions("", a, b, c), self.change(atom))
        return self.edit(np.stack([bits, bits], axis=1), atom)

    def scan(self, function):
        claims = DOCUMENTED["cuda"].claims(function, F32)
        good = Scan(function, EVERY, claims[0].ulp if claims else 2.0, (1.0,), 0.5, (1e-39,), 0, ())
        return replace(good, **self.scans.get(function, {}))

    def check(self, operation):
        count = self.wrong.get(operation, 0)
        return Sampled(operation, EVERY, count, "of 1.0 it gives 2.0" if count else "")
