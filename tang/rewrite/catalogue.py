"""Every rule by name, and the order in which they are tried.

Defines `RULES` and `PIPELINE`. Relies on the modules of `tang.rewrite.rules`. It applies nothing.
"""

from __future__ import annotations

from typing import Final

from tang.rewrite.rule import Rule
from tang.rewrite.rules.chunk import CHUNK_SCAN
from tang.rewrite.rules.cse import COMMON_SUBEXPRESSION
from tang.rewrite.rules.dead import DEAD_NODE, DEAD_OUTPUT, DEAD_PART
from tang.rewrite.rules.dims import MERGE_DIMS
from tang.rewrite.rules.extremum import ARGMAX, GATHER_AT_ARGMAX
from tang.rewrite.rules.gradient_stop import STOP_MAX_GRADIENT
from tang.rewrite.rules.hoist import HOIST_INVARIANT_FACTORS
from tang.rewrite.rules.logsumexp import LOGSUMEXP
from tang.rewrite.rules.maps import SUBSTITUTE_MAPS
from tang.rewrite.rules.readback import READ_BACK, READ_BACK_MASS, READ_BACK_MEAN
from tang.rewrite.rules.scan import GATE_TO_WHERE, RECOGNISE_SCAN, ZERO_GATE_TO_WHERE
from tang.rewrite.rules.segment import SEGMENT_SUM
from tang.rewrite.rules.siblings import MERGE_SIBLINGS
from tang.rewrite.rules.simplify import SIMPLIFY_EXPR
from tang.rewrite.rules.softmax import SHIFT_SOFTMAX, STABILIZE_SOFTMAX
from tang.rewrite.rules.topk import TOP_K
from tang.rewrite.rules.views import COMPOSE_VIEWS
from tang.rewrite.rules.welford import WELFORD

_RECOGNISE: Final = (
    STOP_MAX_GRADIENT,
    STABILIZE_SOFTMAX, SHIFT_SOFTMAX, LOGSUMEXP, WELFORD,
    GATE_TO_WHERE, ZERO_GATE_TO_WHERE, RECOGNISE_SCAN,
    ARGMAX, GATHER_AT_ARGMAX, TOP_K, READ_BACK_MASS, READ_BACK, READ_BACK_MEAN,
)  # fmt: skip

_PLAIN: Final = (SIMPLIFY_EXPR, COMMON_SUBEXPRESSION, COMPOSE_VIEWS)
_DEAD: Final = (DEAD_NODE, DEAD_OUTPUT, DEAD_PART)
_FUSE: Final = (SUBSTITUTE_MAPS, HOIST_INVARIANT_FACTORS, MERGE_SIBLINGS, MERGE_DIMS)

_ROWS: Final = (*_PLAIN, *_RECOGNISE, *_DEAD, *_FUSE)

_ON_REQUEST: Final = (CHUNK_SCAN, SEGMENT_SUM)
"""Rules that trade one cost for another: applied when named, never by default."""

RULES: Final[dict[str, Rule]] = {r.name: r for r in (*_ROWS, *_ON_REQUEST)}
"""The rules by name."""

PIPELINE: Final = tuple(
    r.name for r in (*_PLAIN, *_RECOGNISE, COMMON_SUBEXPRESSION, *_DEAD, *_FUSE)
)
"""The rules that `rewrite` applies unless told otherwise, in this order.

Twins that recognition makes are joined before siblings are merged, which would hide them."""
