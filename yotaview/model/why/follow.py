"""The rows one can follow: where each number of an element comes from."""

from __future__ import annotations

from dataclasses import dataclass, replace

from yota.tape import Call
from yotaview.model.why import Element, Explainer, Part, Term, Why


@dataclass(frozen=True, slots=True)
class Row:
    """A term, or one of the few numbers of a function; `lead` is the part to follow first."""

    term: Term
    parts: tuple[Part, ...]
    lead: int = 0

    @property
    def ways(self) -> list[int]:
        """The parts that are elements of the tape."""
        return [k for k, p in enumerate(self.parts) if p.element is not None]


def rows_of(explainer: Explainer, why: Why) -> list[Row]:
    """Return the rows of an explanation; what only moved an element is looked through."""
    found = []
    for term in why.terms:
        parts = tuple(_looked_through(explainer, p) for p in term.parts)
        alone = why.count == 1 and len(parts) > 1
        for row in [(p,) for p in parts] if alone else [parts]:
            found.append(Row(term, row, _lead(explainer, row)))
    return found


def _looked_through(explainer: Explainer, part: Part) -> Part:
    if part.element is None:
        return part
    return replace(part, element=explainer.source(part.element))


def _lead(explainer: Explainer, parts: tuple[Part, ...]) -> int:
    """Return the part that tells most: a cotangent, else what was computed, else any element."""
    return max(range(len(parts)), key=lambda k: (_rank(explainer, parts[k].element), -k))


def _rank(explainer: Explainer, element: Element | None) -> int:
    if element is None:
        return 0
    tape = explainer.tape
    if not isinstance(tape[element.var], Call):
        return 1
    return 3 if tape.is_reverse(element.var) else 2
