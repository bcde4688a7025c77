"""The form that puts cotangents of parts together without arrays of zeros around each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from yota.aliasing import is_basic
from yota.passes.forms.gather import Gather, is_sum
from yota.passes.work import Work
from yota.rules.functional import add_at, place
from yota.tape import Call, Spec, Var


@dataclass(frozen=True, slots=True)
class _Part:
    """A term that is zero but for one part; along `axis` it goes from `start` to `stop`."""

    term: Var
    value: Var
    index: Any
    axis: int | None = None
    start: int = 0
    stop: int = 0
    is_row: bool = False


def put_parts_together(work: Work) -> None:
    """Join parts that cover an array, add others where they belong."""
    form = Gather(work)
    for root, _ in work.calls(np.add):
        if is_sum(work, root) and not form.is_inner(root):
            terms = list(form.terms(root))
            parts = [p for t in terms if (p := _as_part(work, t)) is not None]
            if parts:
                _rewrite(work, form, root, terms, parts)


def _as_part(work: Work, term: Any) -> _Part | None:
    op = work.call_of(term, place)
    if op is None or op.kwargs or work.only_user(term) is None or not work.is_free(term):
        return None
    value, index, shape = op.args
    spec = work.spec(value)
    if spec is None or spec.kind != "array" or spec.dtype != op.spec.dtype or not is_basic(index):
        return None
    return _located(_Part(term, value, index), shape)


def _located(part: _Part, shape: tuple[int, ...]) -> _Part:
    """Return a part with the axis along which it is one, where it is whole along all others."""
    items = part.index if type(part.index) is tuple else (part.index,)
    if Ellipsis in items or None in items:
        return part
    items = (*items, *(slice(None),) * (len(shape) - len(items)))
    cut = [k for k, x in enumerate(items) if x != slice(None)]
    if len(cut) != 1:
        return part
    axis, item = cut[0], items[cut[0]]
    if type(item) is int:
        at = item % shape[axis]
        return _Part(part.term, part.value, part.index, axis, at, at + 1, is_row=True)
    start, stop, step = item.indices(shape[axis])
    if step != 1:
        return part
    return _Part(part.term, part.value, part.index, axis, start, stop)


def _rewrite(work: Work, form: Gather, root: Var, terms: list[Any], parts: list[_Part]) -> None:
    spec = work.ops[root].spec
    known = {p.term for p in parts}
    rest = [t for t in terms if t not in known]
    covering = _covering(parts, spec)
    if covering:
        rest.insert(0, _joined(work, root, covering, spec))
        done = {p.term for p in covering}
        parts = [p for p in parts if p.term not in done]
    why = "parts: put where they belong"
    if not parts:
        form.rebuild(root, rest, why)
        return
    if not rest:
        rest, parts = [parts[0].term], parts[1:]
        if not parts:
            return
    total = rest[0]
    for term in rest[1:]:
        total = work.call(root, spec, np.add, total, term)
    for p in parts[:-1]:
        total = work.call(root, spec, add_at, total, p.index, p.value)
    old = op.operands if isinstance(op := work.ops[root], Call) else []
    work.exchange(root, why, add_at, total, parts[-1].index, parts[-1].value)
    for x in old:
        work.bury(x)
    for p in parts:
        work.swallow(p.term, root, f"parts: {root} has it where it belongs")


def _covering(parts: list[_Part], spec: Spec) -> list[_Part]:
    """Return parts that cover the array without overlap, in order; none if they do not."""
    axis = parts[0].axis
    if axis is None or len(parts) < 2:
        return []
    along = sorted((p for p in parts if p.axis == axis), key=lambda p: (p.start, p.stop))
    at = 0
    for p in along:
        if p.start != at or p.stop <= p.start or p.is_row != along[0].is_row:
            return []
        at = p.stop
    return along if at == spec.shape[axis] and (axis == 0 or not along[0].is_row) else []


def _joined(work: Work, root: Var, parts: list[_Part], spec: Spec) -> Var:
    values = tuple(p.value for p in parts)
    for p in parts:
        work.swallow(p.term, root, "parts: joined to others")
    if parts[0].is_row:
        return work.call(root, spec, np.stack, values)
    return work.call(root, spec, np.concatenate, values, parts[0].axis)
