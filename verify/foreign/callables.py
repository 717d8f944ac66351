"""Foreign callables: whatever launches itself, against a tang graph.

Defines `verify_callable`. Relies on arenas for guarded tensors and on `judge` for everything that
is said about them. The callable runs in this process: an exception is a finding, a crash is not
survived (for text that may crash see `verify_kernel`).
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from tang.device.base import Outcome, Ran
from tang.device.storage import dtype_of, pack
from tang.emulator.budget import ErrorBudget
from tang.ir.expr import Sort
from tang.ir.graph import Graph
from tang.ir.validate import validate
from tang.verify.foreign.arenas import Arena, Guarded, memory_of, open_arena
from tang.verify.foreign.cases import Case, cases_of
from tang.verify.foreign.criterion import Fault
from tang.verify.foreign.judge import REPEATS, Judged, judge
from tang.verify.foreign.kernel import Sizes, finding, result_of
from tang.verify.foreign.launch import LaunchError, LaunchSpec, load_launch
from tang.verify.foreign.memory import filled
from tang.verify.report import Report
from tang.verify.verdict import Verdict

_TYPES: Final = {Sort.REAL: "f32", Sort.INDEX: "i64", Sort.BOOL: "bool"}


def verify_callable(
    fn: Callable[..., Any],
    spec: Graph,
    *,
    dtypes: Mapping[str, str] | None = None,
    tensors: str | Callable[[Any], Any] = "numpy",
    compute: str = "f32",
    budget: ErrorBudget | None = None,
    inputs: Mapping[str, Any] | None = None,
    sizes: Sequence[Sizes] | Sizes | None = None,
    seed: int = 0,
    specials: bool = False,
    name: str = "",
) -> Report:
    """Call a function on guarded, poisoned tensors and compare with its specification.

    fn       fn(*inputs, out=…) if it has a parameter `out` (one tensor, or a dict of several),
             else fn(tensors) with a dict of all inputs and outputs by name; it writes its results
             into the output tensors, or returns them (one, or a dict)
    dtypes   of inputs and outputs, where they are not f32, i64, bool
    tensors  "numpy", "torch", "torch:cuda", or a library's `from_dlpack`
    Other parameters are those of `verify_kernel`.
    """
    validate(spec)
    launch = _description(spec, dtypes or {}, compute)
    arena = open_arena(tensors)
    known = name or getattr(fn, "__name__", "callable")
    call = _Call(fn, spec, arena, "out" in _parameters(fn))
    judged = list[Judged]()
    for case in cases_of(spec, launch, inputs, sizes, seed, specials):
        found = call.judged(case, budget)
        judged.append(found)
        if found.faults:
            faults = tuple(finding(f, case, known, "callable") for f in found.faults)
            return Report(known, (result_of(judged, "callable"),), faults)
    return Report(known, (result_of(judged, "callable"),))


def _description(spec: Graph, dtypes: Mapping[str, str], compute: str) -> LaunchSpec:
    """A launch with one buffer for every input and output."""
    outputs = [o.name for o in spec.outputs]
    clash = sorted({i.name for i in spec.inputs} & set(outputs))
    if clash:
        raise LaunchError(f"{clash[0]!r} names an input and an output: rename the output")
    unknown = sorted(dtypes.keys() - {i.name for i in spec.inputs} - set(outputs))
    if unknown:
        raise LaunchError(f"dtypes: the specification has no tensor {unknown[0]!r}")
    parameters: list[dict[str, Any]] = [
        {"tensor": i.name, "dtype": dtypes.get(i.name, _TYPES[i.sort])} for i in spec.inputs
    ]
    for o in spec.outputs:
        dtype = dtypes.get(o.name, _TYPES[spec.sort(o.ref)])
        parameters.append({"tensor": o.name, "access": "out", "dtype": dtype})
    return load_launch({"kernel": "callable", "parameters": parameters, "compute": compute}, spec)


def _parameters(fn: Callable[..., Any]) -> Mapping[str, object]:
    try:
        return inspect.signature(fn).parameters
    except (TypeError, ValueError):
        return {}


@dataclass(frozen=True, slots=True)
class _Call:
    """How to call a function on the tensors of a case."""

    fn: Callable[..., Any]
    spec: Graph
    arena: Arena
    takes_out: bool

    def judged(self, case: Case, budget: ErrorBudget | None) -> Judged:
        """Both poisons twice; an exception is a crash."""
        outcomes, outputs, stray = list[Outcome](), [o.name for o in self.spec.outputs], ""
        for poison in REPEATS:
            guarded = [
                self.arena.place(b, filled(b, case.inputs, poison), poison)
                for b in case.launch.buffers
            ]
            try:
                returned = self._called(guarded)
            except Exception as e:  # noqa: BLE001 — whatever a foreign callable raises is a finding
                words = f"the callable raised {type(e).__name__}: {e}"
                detail = "".join(traceback.format_exception(e)[-3:])
                return Judged((Fault(Verdict.CRASH, words, "", "raised", detail),))
            wrong = self._returned(case, guarded, returned, outcomes)
            if wrong is not None:
                return Judged((wrong,))
            stray = stray or _stray(returned, [i.name for i in self.spec.inputs], outputs)
        found = judge(case, outcomes, budget)
        return replace(found, faults=tuple(_with_stray(f, stray) for f in found.faults))

    def _called(self, guarded: Sequence[Guarded]) -> object:
        count = len(self.spec.inputs)
        names = [*(i.name for i in self.spec.inputs), *(o.name for o in self.spec.outputs)]
        tensors = dict(zip(names, (g.tensor for g in guarded), strict=True))
        if not self.takes_out:
            return self.fn(tensors)
        outputs = {n: tensors[n] for n in names[count:]}
        out = next(iter(outputs.values())) if len(outputs) == 1 else outputs
        return self.fn(*(tensors[n] for n in names[:count]), out=out)

    def _returned(
        self,
        case: Case,
        guarded: Sequence[Guarded],
        returned: object,
        outcomes: list[Outcome],
    ) -> Fault | None:
        """Add the outcome of one call; the fault when what it returned has no place."""
        memories = []
        given = _results(returned, guarded, [o.name for o in self.spec.outputs])
        for buffer, g in zip(case.launch.buffers, guarded, strict=True):
            memory = memory_of(buffer.type, self.arena.read(g))
            slot = buffer.slots[0]
            if slot.result in given:
                array = _array(given[slot.result])
                if array.shape != slot.shape:
                    words = f"output {slot.result} has shape {array.shape}, not {slot.shape}"
                    return Fault(Verdict.WRONG, words, slot.result, "shape")
                fresh = pack(array, buffer.type).reshape(-1).view(dtype_of(buffer.type))
                memory = type(memory)(fresh, memory.before, memory.after)
            memories.append(memory)
        outcomes.append(Ran(tuple(memories), (0.0,)))
        return None


def _results(
    returned: object, guarded: Sequence[Guarded], outputs: Sequence[str]
) -> dict[str, object]:
    """Fresh tensors that were returned, by output; nothing for those that were handed in."""
    if returned is None:
        return {}
    if isinstance(returned, Mapping):
        named = {str(n): t for n, t in returned.items() if n in outputs}
    elif len(outputs) == 1:
        named = {outputs[0]: returned}
    elif isinstance(returned, list | tuple) and len(returned) == len(outputs):
        named = dict(zip(outputs, returned, strict=True))
    else:
        return {}
    return {n: t for n, t in named.items() if all(t is not g.tensor for g in guarded)}


def _stray(returned: object, inputs: Sequence[str], outputs: Sequence[str]) -> str:
    """What was returned and belongs to no output, in words; "" for nothing."""
    known = f"the outputs are {', '.join(outputs)}"
    if isinstance(returned, Mapping):
        unknown = [repr(n) for n in returned if n not in inputs and n not in outputs]
        return f"it returned {', '.join(unknown)}, but {known}" if unknown else ""
    if returned is None or len(outputs) == 1:
        return ""
    if not isinstance(returned, list | tuple):
        return f"it returned one {type(returned).__name__}, but {known}"
    return f"it returned {len(returned)}, but {known}" if len(returned) != len(outputs) else ""


def _with_stray(fault: Fault, stray: str) -> Fault:
    """The fault of an output that was not written, with what was returned instead of it."""
    if not stray or fault.verdict is not Verdict.UNWRITTEN:
        return fault
    return replace(fault, message=f"{fault.message}; {stray}")


def _array(tensor: Any) -> np.ndarray[Any, Any]:  # noqa: ANN401 - of any library
    if hasattr(tensor, "detach"):
        tensor = tensor.detach().cpu()
        tensor = tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor
    return np.asarray(tensor)
