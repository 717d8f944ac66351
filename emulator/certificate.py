"""Certificates: error bounds of a program as a list of elementary steps that can be checked.

Defines `Claim`, `Step`, `NodeBound`, `Certificate` and `ShapeBound`, and the JSON form. Relies on
nothing but the errors, so who checks a certificate needs no compiler. It bounds nothing:
`certify.py` makes certificates, `certificate_check.py` checks them.

What a claim says of a value, for every element of it. Let x be the exact real value, c the computed
one. Where x is finite: lo ≤ x ≤ hi, and |c − x| ≤ relative·T + absolute, where T ≥ |x| is the
magnitude of the element and T ≤ top. `pure` says T = |x|. Where x is an infinity or NaN, it is
named in `special`, and c is the same. lo > hi says that no value is finite. An infinite `absolute`
promises nothing of c; then x may also be an infinity or NaN that is not named, where an operation
left its domain.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tang.errors import BudgetError

VERSION: Final = 2
SPECIALS: Final = ("inf", "-inf", "nan")
STRENGTHS: Final = ("shape", "range", "data")
NO_REALS: Final = "holds no reals"
PROVENANCE: Final = ("spec", "exhaustive", "tested", "assumed")

_TINY: Final = 2.0**-1074
_SMALL: Final = 2.0**-1022
"""The least numbers of f64, below which products are rounded by a part of themselves."""

Parameter = int | float | str | bool


@dataclass(frozen=True, slots=True)
class Claim:
    """What is known of a value; see the docstring of the module."""

    lo: float
    hi: float
    top: float
    relative: float = 0.0
    absolute: float = 0.0
    pure: bool = True
    special: tuple[str, ...] = ()

    @property
    def error(self) -> float:
        """E ≥ |c − x|: relative · top + absolute."""
        if not (self.relative and self.top):
            return self.absolute
        scaled = self.relative * self.top
        return (scaled if scaled >= _SMALL else scaled + _TINY) + self.absolute

    @property
    def empty(self) -> bool:
        """Whether no value is finite."""
        return self.lo > self.hi

    @property
    def size(self) -> float:
        """The largest |x|."""
        return 0.0 if self.empty else max(abs(self.lo), abs(self.hi))

    @property
    def exact(self) -> bool:
        """Whether what is computed is what is meant."""
        return self.relative == 0 and self.absolute == 0


@dataclass(frozen=True, slots=True)
class Step:
    """One elementary bound: a rule over the claims of earlier steps, and what it claims."""

    rule: str
    args: tuple[int, ...]
    params: tuple[tuple[str, Parameter], ...]
    claim: Claim

    def param(self, name: str) -> Parameter:
        """The parameter of that name; raises BudgetError where there is none."""
        for key, value in self.params:
            if key == name:
                return value
        raise BudgetError(f"rule {self.rule} has no parameter {name!r}")


@dataclass(frozen=True, slots=True)
class Constant:
    """A number that bounds rest on, and what it rests on: a row of PROVENANCE, and the source."""

    name: str
    value: float
    provenance: str
    source: str


@dataclass(frozen=True, slots=True)
class FormatFacts:
    """What bounds need of a number format: precision, least normal exponent, largest number."""

    name: str
    p: int
    emin: int
    largest: float
    infinity: bool = True
    nan: bool = True


@dataclass(frozen=True, slots=True)
class NodeBound:
    """The bound of one result of a node, as stored.

    step       whose claim it is;  format  of storage, "" for indices and bools
    lo, hi     of the exact values; error  E ≥ |computed − exact|
    relative   c·u of |computed − exact| ≤ c·u·T + absolute, where T is the magnitude
    overflow   "cannot overflow" or what may happen where;  nan, underflow  likewise, and
               NO_REALS where there is no format that could underflow
    vacuous    the bound is not smaller than the largest value itself, or infinite
    reason     why it is vacuous, or ""
    """

    node: str
    output: str
    format: str
    step: int
    lo: float
    hi: float
    error: float
    relative: float
    absolute: float
    pure: bool
    overflow: str
    underflow: str
    nan: str
    vacuous: bool
    reason: str = ""

    @property
    def finite(self) -> bool:
        """Whether the error has a bound at all."""
        return math.isfinite(self.error)

    def to_text(self) -> str:
        """The bound and its verdicts in a line."""
        kind = f" ({self.format})" if self.format else ""
        said = f"|computed - exact| <= {self.relative:.3g} T + {self.absolute:.3g}"
        if self.finite:
            said += f", at most {self.error:.3g}, of values in [{self.lo:.3g}, {self.hi:.3g}]"
        words = [self.overflow, self.underflow, self.nan, *(["vacuous"] if self.vacuous else [])]
        why = f": {self.reason}" if self.reason else ""
        return f"{self.node}.{self.output}{kind}: {said}; {', '.join(words)}{why}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """Bounds of every result of a program under a schedule, and all that they rest on.

    strength   a row of STRENGTHS;  freedom  "ieee" or "wgsl";  math  "portable" or a language
    quantised  whether rounding inputs to their storage format counts as error
    graph, schedule  digests (SHA-256) of what was certified
    ranges     input → (lo, hi);  sizes  symbol → size;  assumed  input names without a range
    seeds      of sampled data, for the strength data
    """

    strength: str
    graph: str
    schedule: str
    freedom: str = "ieee"
    math: str = "portable"
    quantised: bool = False
    sizes: tuple[tuple[str, int], ...] = ()
    ranges: tuple[tuple[str, float, float], ...] = ()
    assumed: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    formats: tuple[FormatFacts, ...] = ()
    constants: tuple[Constant, ...] = ()
    steps: tuple[Step, ...] = field(default=(), repr=False)
    nodes: tuple[NodeBound, ...] = ()
    version: int = VERSION

    def bound(self, node: str, output: str | None = None) -> NodeBound:
        """The bound of a node's result, of its first one where none is named; else BudgetError."""
        for b in self.nodes:
            if b.node == node and output in (None, b.output):
                return b
        known = ", ".join(f"{b.node}.{b.output}" for b in self.nodes)
        raise BudgetError(f"no bound of {node}.{output or '?'}: one of {known}")

    def behind(self, *steps: int) -> set[int]:
        """Steps and all that they are made of."""
        found: set[int] = set()
        stack = list(steps)
        while stack:
            n = stack.pop()
            if n not in found:
                found.add(n)
                stack.extend(self.steps[n].args)
        return found

    @property
    def vacuous(self) -> tuple[NodeBound, ...]:
        """The bounds that say nothing."""
        return tuple(b for b in self.nodes if b.vacuous)

    def to_text(self) -> str:
        """A line per result."""
        return "\n".join(b.to_text() for b in self.nodes)


@dataclass(frozen=True, slots=True)
class ShapeBound:
    """|computed − exact| ≤ c·u·T + tau for every input that overflows nowhere.

    u          unit roundoff of `format`, the storage format of the result
    terms      what T is: "|x|", the value itself, or "Σ|terms|", the program over |inputs| with
               every subtraction an addition
    derivation lines that say how c came about;  vacuous  c or tau is infinite
    """

    node: str
    output: str
    c: float
    u: float
    format: str
    tau: float
    terms: str
    derivation: tuple[str, ...]
    reason: str = ""

    @property
    def vacuous(self) -> bool:
        """Whether nothing is promised: c·u of 1 or more promises less than the value itself."""
        return not (math.isfinite(self.tau) and self.c * self.u < 1)


def digest_of(text: str) -> str:
    """The digest by which certificates name programs and schedules."""
    return hashlib.sha256(text.encode()).hexdigest()


# --- JSON -----------------------------------------------------------------------------------------


def certificate_to_json(certificate: Certificate) -> str:
    """The certificate as text that `certificate_from_json` reads back to an equal one.

    Floats are hexadecimal, steps one per line: [rule, args, params, claim]. The digest is of all
    the rest, so damage is found.
    """
    data = _data(certificate)
    head = {key: value for key, value in data.items() if key != "steps"}
    lines = [f'  "{key}": {json.dumps(value)}' for key, value in head.items()]
    steps = ",\n".join("    " + json.dumps(s) for s in data["steps"])
    lines.append('  "steps": [\n' + steps + "\n  ]")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _data(certificate: Certificate) -> dict[str, Any]:
    """The certificate as plain data, with its digest."""
    found: dict[str, Any] = {
        "kind": "tang-certificate",
        "version": certificate.version,
        "strength": certificate.strength,
        "graph": certificate.graph,
        "schedule": certificate.schedule,
        "freedom": certificate.freedom,
        "math": certificate.math,
        "quantised": certificate.quantised,
        "sizes": dict(certificate.sizes),
        "ranges": {n: [lo.hex(), hi.hex()] for n, lo, hi in certificate.ranges},
        "assumed": list(certificate.assumed),
        "seeds": list(certificate.seeds),
        "formats": [_row(f) for f in certificate.formats],
        "constants": [_row(c) for c in certificate.constants],
        "nodes": [_row(b) for b in certificate.nodes],
        "steps": [_step(s) for s in certificate.steps],
    }
    return found | {"digest": digest_of(_canonical(found))}


def _canonical(data: Mapping[str, Any]) -> str:
    return json.dumps(data, sort_keys=True, separators=(",", ":"))


def _row(value: Any) -> dict[str, Any]:  # noqa: ANN401 - any of the flat data classes here
    return {name: _plain(getattr(value, name)) for name in value.__slots__}


def _plain(value: Any) -> Any:  # noqa: ANN401 - a field of any type
    return value.hex() if isinstance(value, float) else value


def _step(step: Step) -> list[Any]:
    c = step.claim
    numbers = [x.hex() for x in (c.lo, c.hi, c.top, c.relative, c.absolute)]
    params = {name: _param(value) for name, value in step.params}
    return [step.rule, list(step.args), params, [*numbers, c.pure, list(c.special)]]


def _param(value: Parameter) -> Any:  # noqa: ANN401 - JSON
    return {"hex": value.hex()} if isinstance(value, float) else value


def certificate_from_json(text: str) -> Certificate:
    """The certificate in a JSON text; raises BudgetError naming the place for anything else."""
    try:
        data = json.loads(text, object_pairs_hook=_unique)
    except (TypeError, ValueError, RecursionError) as e:
        raise BudgetError(f"the certificate is no JSON: {e}") from e
    if not isinstance(data, dict) or data.get("kind") != "tang-certificate":
        raise BudgetError("this JSON is no certificate: it has no kind 'tang-certificate'")
    if data.get("version") != VERSION or isinstance(data["version"], bool):
        raise BudgetError(f"version: expected {VERSION}, not {data.get('version')!r}")
    for key in _FIELDS:
        if key not in data:
            raise BudgetError(f"the certificate has no {key!r}")
    try:
        found = _decoded(data)
        again = _data(found)
    except (TypeError, ValueError, KeyError, AttributeError, IndexError, OverflowError) as e:
        raise BudgetError(f"the certificate is malformed: {type(e).__name__}: {e}") from e
    for key in (*data, *again):
        if _canonical({"": data.get(key)}) != _canonical({"": again.get(key)}):
            why = "was changed after it was made" if key == "digest" else "is not as it was written"
            raise BudgetError(f"{key}: the certificate {why}")
    return found


_FIELDS: Final = (
    "strength", "graph", "schedule", "freedom", "math", "quantised", "sizes", "ranges", "assumed",
    "seeds", "formats", "constants", "nodes", "steps", "digest",
)  # fmt: skip


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice in one object")
    return found


def _decoded(data: Mapping[str, Any]) -> Certificate:
    if data["strength"] not in STRENGTHS:
        raise BudgetError(f"strength: one of {', '.join(STRENGTHS)}, not {data['strength']!r}")
    ranges = data["ranges"].items()
    return Certificate(
        strength=data["strength"],
        graph=str(data["graph"]),
        schedule=str(data["schedule"]),
        freedom=str(data["freedom"]),
        math=str(data["math"]),
        quantised=bool(data["quantised"]),
        sizes=tuple((str(k), int(v)) for k, v in data["sizes"].items()),
        ranges=tuple((n, float.fromhex(a), float.fromhex(b)) for n, (a, b) in ranges),
        assumed=tuple(map(str, data["assumed"])),
        seeds=tuple(map(int, data["seeds"])),
        formats=tuple(_read_rows(FormatFacts, data, "formats")),
        constants=tuple(_read_rows(Constant, data, "constants")),
        steps=tuple(_read_step(n, s) for n, s in enumerate(data["steps"])),
        nodes=tuple(_read_rows(NodeBound, data, "nodes")),
    )


_TYPES: Final[Mapping[str, type]] = {"str": str, "int": int, "bool": bool, "float": str}
"""Of a field by its annotation, in JSON."""


def _read_rows(kind: type[Any], data: Mapping[str, Any], table: str) -> Iterator[Any]:
    """Every row of a table as the flat data class that it is, each field of its type."""
    known = kind.__dataclass_fields__
    for n, row in enumerate(data[table]):
        where = f"{table}[{n}]"
        odd = sorted(set(row) ^ set(known))
        if odd:
            raise BudgetError(f"{where}: too much or missing: {odd[0]!r}")
        for name, value in row.items():
            if type(value) is not _TYPES[known[name].type]:
                raise BudgetError(f"{where}.{name}: expected {known[name].type}, not {value!r}")
        yield kind(
            **{k: float.fromhex(v) if known[k].type == "float" else v for k, v in row.items()}
        )


def _read_step(n: int, row: Any) -> Step:  # noqa: ANN401 - JSON
    if not isinstance(row, list) or len(row) != 4:
        raise BudgetError(f"steps[{n}]: expected [rule, args, params, claim], not {row!r}")
    rule, args, params, claim = row
    lo, hi, top, relative, absolute = (float.fromhex(x) for x in claim[:5])
    given = tuple((str(k), _read_param(v)) for k, v in params.items())
    special = tuple(str(s) for s in claim[6])
    made = Claim(lo, hi, top, relative, absolute, bool(claim[5]), special)
    return Step(str(rule), tuple(int(a) for a in args), given, made)


def _read_param(value: Any) -> Parameter:  # noqa: ANN401 - JSON
    if isinstance(value, dict):
        return float.fromhex(value["hex"])
    if isinstance(value, int | str):
        return value
    raise TypeError(f"a parameter is no {type(value).__name__}")
