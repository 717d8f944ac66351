"""Certificates in all strengths by one name.

Defines `certify` and `check_certificate`. Relies on data certificates where inputs are given, on
the emulator's shape and range certificates where they are not. It bounds nothing itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tang import emulator
from tang.budget.data import certify_data
from tang.budget.data_certificate import DataCertificate
from tang.budget.precision import applied
from tang.budget.report_inputs import check_ranges, checked_ranges, checked_seed
from tang.emulator import Certificate, Checked
from tang.emulator.certify import FREEDOMS
from tang.errors import BudgetError
from tang.ir.bind import known_sizes
from tang.ir.given import one_of
from tang.ir.graph import Graph
from tang.ir.validate import validate
from tang.rewrite import rewrite
from tang.verify.subject import checked_inputs

Ranges = Mapping[str, tuple[float, float]]


def certify(
    graph: Graph,
    precision: object = None,
    ranges: Ranges | None = None,
    inputs: Mapping[str, Any] | None = None,
    sizes: Mapping[str, int] | None = None,
    *,
    rules: Iterable[str] | None = None,
    freedom: str = "ieee",
    seed: int | None = None,
) -> Certificate | DataCertificate:
    """Bounds of every result of a program, as strong as what is known of its inputs.

    precision  of `tang.budget.emulate`;  rules  what the program is rewritten by first
    inputs     arrays: bounds of strength "data", for them alone; with `ranges` they must lie there
    ranges     input → (lo, hi): strength "range"; neither of the two: strength "shape"
    sizes      of symbols, where there are no inputs that tell
    freedom    "ieee" or "wgsl", of the strengths shape and range
    seed       what inputs were drawn from: written down in a data certificate
    Errors are against the program over its inputs as they are given, so rounding them to a storage
    format counts. Raises BudgetError for inputs outside their ranges and GraphError for sizes of
    no symbol.
    """
    validate(graph)
    if seed is not None:
        checked_seed(seed)
    known = known_sizes(graph, {} if sizes is None else sizes)
    if inputs is None:
        return _for_all(graph, precision, ranges, known, rules, freedom)
    if one_of(freedom, FREEDOMS, "freedom", BudgetError) != "ieee":
        raise BudgetError("a data certificate follows IEEE arithmetic: freedom is for ranges")
    if ranges is not None:
        check_ranges(checked_inputs(graph, inputs), checked_ranges(graph, ranges))
    return certify_data(graph, precision, inputs, rules=rules, seed=seed)


def _for_all(
    graph: Graph,
    precision: object,
    ranges: Ranges | None,
    sizes: Mapping[str, int],
    rules: Iterable[str] | None,
    freedom: str,
) -> Certificate:
    made, schedule = applied(precision, rewrite(graph, rules).graph)
    return emulator.certify(made, schedule, sizes, ranges, freedom=freedom, quantised=True)


def check_certificate(
    certificate: Certificate,
    graph: Graph,
    precision: object = None,
    *,
    rules: Iterable[str] | None = None,
) -> Checked:
    """Whether a certificate by shape or range is what `certify` gives and all of it holds.

    Steps are recomputed in balls; digests, ranges, names, verdicts and which steps there are from
    the program and the precision. Data certificates are for `tang.budget.check_data`.
    """
    validate(graph)
    made, schedule = applied(precision, rewrite(graph, rules).graph)
    return emulator.check_certificate(certificate, made, schedule)
