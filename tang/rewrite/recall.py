"""Recall: places where a rule is known to find nothing, compared up to the names of nodes.

Defines `Recall`, which remembers the questions that a rule put to the program before it found
nothing, with their answers. Relies on `Program`, which records questions. Equal answers to equal
questions lead to an equal end, so a rule is not asked again there, be it a second visit or the
same place of another layer; it forgets nothing and never remembers an edit.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Final

from tang.ir.graph import Comprehension, Input, nameless, reads_of
from tang.rewrite.program import Program, Question

MOST_QUESTIONS: Final = 256
"""A search that asks more than this is not remembered: it is unlikely to be met again."""
MOST_READERS: Final = 24
"""A tensor with more readers than this looks different everywhere."""

Answer = tuple[Hashable, ...]
_Asked = tuple[str, tuple[int, ...]]
"""What is asked, about which of the names met so far."""


class _UnknownError(Exception):
    """A question that cannot be compared: about a name not met before, or too wide."""


@dataclass(slots=True)
class _Step:
    """The next question that a rule asks, and where each answer leads; no question: the end."""

    asked: _Asked | None = None
    after: dict[Answer, _Step] = field(default_factory=dict)
    nothing: bool = False


class Recall:
    """What rules asked of one program before they found nothing.

    Names are numbered as they are met: the node is 0, then what the answers mention. Whatever a
    rule finds may depend on the node's contents, on the answers and on the program's facts alone.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self._roots: dict[str, _Step] = {}
        self._contents: dict[Hashable, int] = {}
        self._last: dict[tuple[str, str], tuple[int, list[Question]]] = {}
        self._known: dict[str, tuple[Comprehension, int, tuple[str, ...]]] = {}

    def is_nothing(self, rule: str, name: str) -> bool:
        """Whether the rule is known to find nothing at this node."""
        last = self._last.get((rule, name))
        if last is not None and self.program.stands(last[1], last[0]):
            return True
        step = self._roots.get(rule)
        place = _Place(self, rule, name)
        questions: list[Question] = []
        while step is not None and not step.nothing:
            if step.asked is None:
                return False
            kind, numbers = step.asked
            names = [place.names[n] for n in numbers]
            questions.append((kind, *names))
            try:
                answer = _ANSWERS[kind](place, *names)
            except _UnknownError:
                return False
            step = step.after.get(answer)
        if step is not None:
            self._last[rule, name] = self.program.time(), _parts(questions, rule)
        return step is not None

    def remember(self, rule: str, name: str, questions: list[Question]) -> None:
        """Keep that the rule found nothing at this node after these questions."""
        self._last[rule, name] = self.program.time(), [("node", name), *_parts(questions, rule)]
        if len(questions) > MOST_QUESTIONS:
            return
        place = _Place(self, rule, name)
        path: list[tuple[_Asked, Answer]] = []
        try:
            for kind, *names in [("node", name), *(q for q in questions if q[0] != "notes")]:
                asked = kind, tuple([place.number(n) for n in names])
                path.append((asked, _ANSWERS[kind](place, *names)))
        except _UnknownError:
            return
        noted = [about for kind, *about in questions if kind == "notes"]
        if noted not in ([], [[rule]]):
            return
        if noted:  # last, when all names are met that the rule may have looked for
            path.append((("notes", tuple(range(len(place.names)))), place.notes(*place.names)))
        step = self._roots.setdefault(rule, _Step())
        for asked, answer in path:
            if step.asked is None and not step.nothing:
                step.asked = asked
            if step.asked != asked:
                return  # the rule asked in another order: this path stays unknown
            step = step.after.setdefault(answer, _Step())
        step.nothing = step.asked is None

    def contents(self, name: str) -> tuple[int, tuple[str, ...]] | None:
        """A number that equal nodes share, whatever they read, and the names that it reads."""
        node = self.program.peek(name)
        if node is None:
            return None
        known = self._known.get(name)
        if known is None or known[0] is not node:
            key = nameless(node)
            number = self._contents.setdefault(key, len(self._contents))
            known = node, number, tuple(r.source.node for r in reads_of(node))
            self._known[name] = known
        return known[1], known[2]


def _parts(questions: list[Question], rule: str) -> list[Question]:
    """The questions of one name on whose answers these depend."""
    parts: list[Question] = []
    for question in questions:
        if question[0] == "precedes":
            parts += [("node", n) for n in question[1:]]
        else:
            parts.append(("notes", rule) if question[0] == "notes" else question)
    return parts


class _Place:
    """The surroundings of a node, with the names numbered in the order in which they are met."""

    def __init__(self, recall: Recall, rule: str, name: str) -> None:
        self.recall = recall
        self.rule = rule
        self.program = recall.program
        self.names = [name]
        self.numbers = {name: 0}

    def number(self, name: str) -> int:
        """The number of a name that has been met."""
        if name not in self.numbers:
            raise _UnknownError
        return self.numbers[name]

    def node(self, name: str) -> Answer:
        found = self.recall.contents(name)
        if found is None:
            return (self._input(self.program.inputs.get(name)),)
        number, sources = found
        answer = [number]
        numbers = self.numbers
        for source in sources:
            place = numbers.get(source)
            answer.append(self._met(source) if place is None else place)
        return tuple(answer)

    def readers(self, name: str) -> Answer:
        found = self.program.readers(name)
        if len(found) > MOST_READERS:
            raise _UnknownError
        return tuple((self._met(r.name), self.node(r.name)) for r in found)

    def used(self, name: str) -> Answer:
        return tuple(sorted(self.program.used(name)))

    def wanted(self, name: str) -> Answer:
        return tuple(sorted(self.program.wanted(name)))

    def precedes(self, name: str, other: str) -> Answer:
        return (self.program.precedes(name, other),)

    def notes(self, *names: str) -> Answer:
        noted = self.program.remembered(self.rule)
        return tuple(n in noted for n in names)

    def _met(self, name: str) -> int:
        number = self.numbers.setdefault(name, len(self.names))
        if number == len(self.names):
            self.names.append(name)
        return number

    def _input(self, found: Input | None) -> Hashable:
        return None if found is None else (found.shape, found.sort)


_ANSWERS: Final[dict[str, Callable[..., Answer]]] = {
    "node": _Place.node,
    "readers": _Place.readers,
    "used": _Place.used,
    "wanted": _Place.wanted,
    "precedes": _Place.precedes,
    "notes": _Place.notes,
}
