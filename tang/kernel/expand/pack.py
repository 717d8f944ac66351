"""The pass `pack_codes`: buffers of formats of 8 bits and fewer hold codes, one to a byte.

Defines the pass over plans. Relies on lowering, which gave these buffers the type f32 and a
conversion, and rounded all that is stored there. It changes no value: a store encodes the number,
a load decodes it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tang.ir.format import Format
from tang.kernel import check
from tang.kernel.expand.expand import rebuilt, rewritten
from tang.kernel.expand.rounding import decoder, encoder
from tang.kernel.ir import F32, U8, Call, Expr, For, Function, If, Kernel, Load, Stmt, Store
from tang.kernel.narrow import is_coded
from tang.kernel.plan import Buffer, Launch, Plan
from tang.kernel.walk import operands, postorder


def pack_codes(plan: Plan) -> Plan:
    """x[i] = v → x[i] = encode_e4m3fn(v), x[i] → decode_e4m3fn(x[i]), where x is such a buffer."""
    coded = {b.name: b.conversion.format for b in plan.buffers if b.conversion and _has_codes(b)}
    if not coded:
        return plan
    buffers = tuple(replace(b, type=U8) if b.name in coded else b for b in plan.buffers)
    launches = tuple(_packed(launch, coded) for launch in plan.launches)
    packed = replace(plan, buffers=buffers, launches=launches)
    check.check_plan(packed)
    return packed


def _has_codes(b: Buffer) -> bool:
    return b.type is F32 and b.conversion is not None and is_coded(b.conversion.format)


def _packed(launch: Launch, coded: Mapping[str, Format]) -> Launch:
    pairs = zip(launch.buffers, launch.kernel.params, strict=True)
    formats = {p.name: coded[name] for name, p in pairs if name in coded}
    return replace(launch, kernel=pack_kernel(launch.kernel, formats)) if formats else launch


def pack_kernel(kernel: Kernel, formats: Mapping[str, Format]) -> Kernel:
    """The kernel with codes in some of its parameters; functions come before those it had."""
    packing = _Packing(formats)
    body = packing.block(rewritten(kernel.body, packing.loads))
    params = tuple(replace(p, type=U8) if p.name in formats else p for p in kernel.params)
    present = {f.name for f in kernel.functions}
    new = tuple(f for name, f in sorted(packing.needed.items()) if name not in present)
    return replace(kernel, params=params, body=body, functions=new + kernel.functions)


@dataclass(slots=True)
class _Packing:
    """The loads and stores of some parameters, and the functions that they call from now on."""

    formats: Mapping[str, Format]
    needed: dict[str, Function] = field(default_factory=dict)

    def loads(self, root: Expr) -> Expr:
        """The expression with decoded loads; without recursion, expressions may be deep."""
        done: dict[int, Expr] = {}
        for e in postorder(root):
            made = rebuilt(e, tuple(done[id(a)] for a in operands(e)))
            if isinstance(made, Load) and made.source in self.formats:
                made = self._call(decoder(self.formats[made.source]), replace(made, type=U8))
            done[id(e)] = made
        return done[id(root)]

    def block(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """Statements with encoded stores."""
        return tuple(self._stored(s) for s in body)

    def _stored(self, s: Stmt) -> Stmt:
        match s:
            case Store() if s.target in self.formats:
                return replace(s, value=self._call(encoder(self.formats[s.target]), s.value))
            case For():
                return replace(s, body=self.block(s.body))
            case If():
                return replace(s, then=self.block(s.then), otherwise=self.block(s.otherwise))
            case _:
                return s

    def _call(self, function: Function, value: Expr) -> Call:
        self.needed[function.name] = function
        return Call(function.result.type, function.name, (value,))
