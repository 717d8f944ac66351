"""The engine: applies rules until none has anything left to say, checking each step.

Defines `rewrite`, `Rewritten` and `Step`. Relies on rules, on `Program` for edits and on
`validate`; with a checker passed in, each application is judged on its local pair. It knows no
particular rule and it evaluates nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tang.errors import GraphError, RewriteError, TangBugError
from tang.ir.given import shown
from tang.ir.graph import Comprehension, Graph, reads_of
from tang.ir.validate import validate
from tang.rewrite.local import Checker, application
from tang.rewrite.program import Program
from tang.rewrite.recall import Recall
from tang.rewrite.rule import Edit, Requirement, Rule

_EDITS_A_NODE = 64
"""A rule that edits more often than this per node of the program does not end."""


@dataclass(frozen=True, slots=True)
class Step:
    """One application of a rule: which, where, what changed in words, and what it relied on."""

    rule: str
    node: str
    text: str
    requires: frozenset[Requirement]

    def __str__(self) -> str:
        return f"{self.rule} at {self.node}: {self.text}"


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A rewritten graph and its derivation."""

    graph: Graph
    trace: tuple[Step, ...]

    def assumptions(self) -> frozenset[Requirement]:
        """What the derivation relied on, over all its steps."""
        return frozenset[Requirement]().union(*(s.requires for s in self.trace))


Observer = Callable[[Step, Program], None]


def apply_rules(
    graph: Graph,
    rules: Sequence[Rule],
    *,
    strict: bool = False,
    check: Checker | None = None,
    observe: Observer | None = None,
) -> Rewritten:
    """The graph with the rules applied in order, again and again, until none applies.

    strict   rules that need finite operands are off
    check    judges the local pair of every application; RewriteError names rule and node
    observe  is told every step, with the program after it
    Every edit is validated: the nodes that come as a graph of their own, the rest by the order,
    shapes and sorts that `Program.replace` holds them to; the result once more as a whole.
    Linear in the size of the graph: an edit makes only its neighbours worth another look.
    """
    validate(graph)
    program = Program(graph, strict=strict)
    run = _Run(program, [r for r in rules if r.strict or not strict], check, observe)
    run.everything()
    result = program.graph()
    try:
        validate(result)
    except GraphError as e:
        names = ", ".join(dict.fromkeys(s.rule for s in run.trace))
        raise RewriteError(f"the rules {names} left an illegal graph: {e}") from e
    return Rewritten(result, tuple(run.trace))


class _Run:
    """The rules at work on a program: what each has yet to look at, and the trace."""

    def __init__(
        self,
        program: Program,
        rules: Sequence[Rule],
        check: Checker | None,
        observe: Observer | None,
    ) -> None:
        self.program = program
        self.rules = rules
        self.check = check
        self.observe = observe
        self.trace: list[Step] = []
        names = [n.name for n in program.nodes()]
        self.waiting: list[dict[str, None]] = [dict.fromkeys(names) for _ in rules]
        self.recall = Recall(program)
        self.legal: set[Graph] = set()
        self.left = _EDITS_A_NODE * (len(names) + 4)

    def everything(self) -> None:
        """Run each rule to its end, in order, and again while an earlier one has new work."""
        while any(self.waiting):
            for rule, waiting in zip(self.rules, self.waiting, strict=True):
                while waiting:
                    self._visit(rule, waiting)

    def _visit(self, rule: Rule, waiting: dict[str, None]) -> None:
        name = next(iter(waiting))
        del waiting[name]
        node = self.program.node(name)
        try:
            edit = self._found(rule, node) if node is not None else None
            if edit is not None:
                self._apply(rule, name, edit)
        except Exception as e:
            e.add_note(f"in rule {rule.name} at node {name!r}")
            raise

    def _found(self, rule: Rule, node: Comprehension) -> Edit | None:
        """What the rule finds at a node; not asked where it is known to find nothing."""
        if not rule.recalled:
            return rule.find(self.program, node)
        if self.recall.is_nothing(rule.name, node.name):
            return None
        edit, questions = self.program.watched(lambda: rule.find(self.program, node))
        if edit is None:
            self.recall.remember(rule.name, node.name, questions)
        return edit

    def _apply(self, rule: Rule, name: str, edit: Edit) -> None:
        self.left -= 1
        if self.left < 0:
            raise TangBugError(f"rule {rule.name} does not end; last at {name!r}: {edit.text}")
        self._judge(rule, name, edit)
        around = self._around(edit)
        changed = self.program.replace(
            edit.remove, edit.insert, edit.at, edit.redirect, edit.update
        )
        step = Step(rule.name, name, edit.text, rule.preconditions)
        self.trace.append(step)
        if self.observe is not None:
            self.observe(step, self.program)
        for n in [*changed, *self._neighbours(changed), *around]:
            if n in self.program:
                for waiting in self.waiting:
                    waiting[n] = None

    def _judge(self, rule: Rule, name: str, edit: Edit) -> None:
        local = application(self.program, rule, edit)
        try:
            self._validate(local.after)
        except GraphError as e:
            message = f"rule {rule.name} at {name!r} made an illegal node: {e}"
            raise RewriteError(message, rule.name, name) from e
        if self.check is None or not local.after.outputs:
            return
        wrong = self.check(local)
        if wrong is not None:
            message = f"rule {rule.name} at {name!r} ({edit.text}): {wrong}"
            raise RewriteError(message, rule.name, name)

    def _validate(self, after: Graph) -> None:
        """Validate a right side, once however often it comes: its names are canonical."""
        if after.outputs and after not in self.legal:
            validate(after)
            self.legal.add(after)

    def _around(self, edit: Edit) -> list[str]:
        """What the removed nodes read: with a reader less, it may be dead or fusible."""
        nodes = [n for n in map(self.program.node, edit.remove) if n is not None]
        return [r.source.node for n in nodes for r in reads_of(n)]

    def _neighbours(self, names: Iterable[str]) -> list[str]:
        found: dict[str, None] = {}
        for name in names:
            node = self.program.node(name)
            if node is not None:
                found |= dict.fromkeys(r.source.node for r in reads_of(node))
                found |= dict.fromkeys(r.name for r in self.program.readers(name))
        return list(found)


def chosen(rules: Iterable[str], known: Mapping[str, Rule]) -> list[Rule]:
    """The rules of these names, in this order; GraphError for an unknown one."""
    names = rule_names(rules)
    for name in names:
        if name not in known:
            raise GraphError(f"no rule {name!r}: one of {', '.join(known)}")
    return [known[n] for n in names]


def rule_names(rules: object) -> tuple[str, ...]:
    """A caller's rules as names, of which nothing else is known yet; GraphError for others."""
    if isinstance(rules, str):
        raise GraphError(
            f"rules are a sequence of names, not the string {rules!r}: write [{rules!r}]"
        )
    names = tuple(rules) if isinstance(rules, Iterable) else (rules,)
    for name in names:
        if not isinstance(name, str):
            raise GraphError(f"rules are a sequence of names, and {shown(name)} is none")
    return names
