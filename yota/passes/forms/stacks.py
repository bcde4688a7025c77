"""The form that adds many small matrix products up as one product of stacked matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from yota.passes.forms.exact import axes_of, count, is_real_array
from yota.passes.forms.gather import Gather, is_sum
from yota.passes.work import Work
from yota.rules.functional import getitem
from yota.tape import Call, Constant, Spec, Var

# Fewer terms are not worth a stack, and longer ones keep BLAS busy by themselves.
_FEWEST = 4
_LONGEST = 64
_MOST_BYTES = 1 << 28


@dataclass(frozen=True, slots=True)
class _Product:
    """A term as `left.T @ right`, of tables with equally many rows, or of vectors as one row."""

    term: Var
    left: Var
    right: Var

    @property
    def order(self) -> int:
        """The place of the term among others: that of what was computed first."""
        return min(self.left.id, self.right.id)


def stack_products(work: Work) -> None:
    """Let one matrix product stand for a sum of outer products, or of products of few rows."""
    form = Gather(work)
    stacks = work.stacks
    for root, _ in work.calls(np.add):
        if is_sum(work, root) and not form.is_inner(root):
            terms = list(form.terms(root))
            for group in _groups(work, terms):
                _stack(work, form, root, group, stacks)
    for root, _ in work.calls(np.add):
        if is_sum(work, root) and not form.is_inner(root):
            _stack_sums(work, form, root, stacks)


def _stack_sums(work: Work, form: Gather, root: Var, stacks: dict[Any, Var]) -> None:
    """Sum stacked rows at once: of tables that are summed over their rows, or of vectors."""
    terms = list(form.terms(root))
    tables: dict[Any, dict[Var, Var]] = {}
    for term in terms:
        if (table := _summed_table(work, term)) is not None:
            tables.setdefault(work.ops[table].spec, {})[term] = table
    vectors = {t: t for t in terms if _is_vector(work, t) and work.is_free(t)}
    for group in (*tables.values(), vectors):
        parts = tuple(sorted(group.values()))
        known = next((k for k in stacks if sorted(k) == list(parts)), None)
        if len(set(parts)) < max(_FEWEST, len(group)) or (known is None and group is vectors):
            continue
        table = stacked(work, root, known or parts, stacks)
        total = work.call(root, work.ops[root].spec, np.sum, table, axis=(0,))
        why = f"stacks: one sum for {len(group)} added up"
        form.rebuild(root, [total, *(t for t in terms if t not in group)], why)
        return


def _summed_table(work: Work, term: Any) -> Var | None:
    """Return the table over whose rows a term is the sum."""
    op = work.call_of(term, np.sum)
    if op is None or work.only_user(term) is None or not work.is_free(term):
        return None
    table = op.args[0]
    spec = work.spec(table)
    if spec is None or not is_real_array(spec) or len(spec.shape) != 2:
        return None
    whole = axes_of(op, 2) == (0,) and op.spec.shape == spec.shape[1:]
    return table if whole and type(table) is Var else None


def _groups(work: Work, terms: list[Any]) -> list[list[_Product]]:
    """Return the terms that can be stacked together."""
    groups: dict[Any, list[_Product]] = {}
    for term in terms:
        product = _as_product(work, term)
        if product is not None:
            shapes = (work.ops[product.left].spec.shape, work.ops[product.right].spec.shape)
            groups.setdefault(shapes, []).append(product)
    return [sorted(g, key=lambda p: p.order) for g in groups.values() if _pays(work, g)]


def _pays(work: Work, group: list[_Product]) -> bool:
    specs = (work.ops[group[0].left].spec, work.ops[group[0].right].spec)
    rows = specs[0].shape[0] if len(specs[0].shape) == 2 else 1
    size = sum(s.nbytes for s in specs) * len(group)
    return len(group) >= _FEWEST and rows <= _LONGEST and size <= _MOST_BYTES


def _as_product(work: Work, term: Any) -> _Product | None:
    op = work.call_of(term, np.multiply, np.matmul, np.dot)
    if op is None or op.kwargs or work.only_user(term) is None or not work.is_free(term):
        return None
    return _outer(work, term, op) if op.fn is np.multiply else _of_tables(work, term, op)


def _outer(work: Work, term: Var, op: Call) -> _Product | None:
    """Return a product of a column with a row."""
    for x, y in (op.args, op.args[::-1]):
        column = _vector(work, x, -1)
        row = _vector(work, y, -2) or (y if _is_vector(work, y) else None)
        if column is not None and row is not None:
            return _Product(term, column, row)
    return None


def _vector(work: Work, x: Any, axis: int) -> Var | None:
    op = work.call_of(x, np.expand_dims)
    source = op.args[0] if op is not None and op.args[1:] == (axis,) and not op.kwargs else None
    return source if _is_vector(work, source) else None


def _is_vector(work: Work, x: Any) -> bool:
    spec = work.spec(x) if type(x) is Var else None
    return spec is not None and is_real_array(spec) and len(spec.shape) == 1


def _of_tables(work: Work, term: Var, op: Call) -> _Product | None:
    """Return a product of a transposed table with a table."""
    left, right = _turned(work, op.args[0]), op.args[1]
    if left is None or type(right) is not Var:
        return None
    specs = (work.ops[left].spec, work.ops[right].spec)
    plain = all(is_real_array(s) and len(s.shape) == 2 for s in specs)
    return _Product(term, left, right) if plain and specs[0].dtype == specs[1].dtype else None


def _turned(work: Work, x: Any) -> Var | None:
    """Return the table that a matrix is the transposed one of."""
    op = work.ops[x] if type(x) is Var else None
    if isinstance(op, Constant) and is_real_array(op.spec) and len(op.spec.shape) == 2:
        if x not in work.turned:
            work.turned[x] = work.constant(np.ascontiguousarray(op.value.T), op.origin)
        return work.turned[x]
    turned = work.call_of(x, np.swapaxes, np.transpose)
    source = turned.args[0] if turned is not None and not turned.kwargs else None
    if type(source) is not Var or op is None:
        return None
    return source if op.spec.shape == work.ops[source].spec.shape[::-1] else None


def _stack(
    work: Work, form: Gather, root: Var, group: list[_Product], stacks: dict[Any, Var]
) -> None:
    """Put one product of stacks in the place of a group of terms."""
    left = stacked(work, root, tuple(p.left for p in group), stacks)
    right = stacked(work, root, tuple(p.right for p in group), stacks)
    shape = work.ops[left].spec.shape
    turned = Spec("array", work.ops[left].spec.dtype, shape[::-1], "F")
    across = work.call(root, turned, np.swapaxes, left, -1, -2)
    total = work.call(root, work.ops[root].spec, np.matmul, across, right)
    done = {p.term for p in group}
    terms = [total, *(t for t in form.terms(root) if t not in done)]
    form.rebuild(root, terms, f"stacks: one product for {len(group)} products added up")
    for p in group:
        work.swallow(p.term, total, f"stacks: a part of the product of stacks {total}")


def stacked(work: Work, at: Var, parts: tuple[Var, ...], known: dict[Any, Var]) -> Var:
    """Return vectors as the rows of a table, or tables one below the other."""
    if parts not in known:
        found = rows_of_one(work, at, parts)
        known[parts] = found if found is not None else _concatenated(work, at, parts)
    return known[parts]


def _concatenated(work: Work, at: Var, parts: tuple[Var, ...]) -> Var:
    spec = work.ops[parts[0]].spec
    values = [op.value for v in parts if isinstance(op := work.ops[v], Constant)]
    if len(values) == len(parts):
        table = np.concatenate(values) if len(spec.shape) == 2 else np.stack(values)
        return work.constant(table, work.ops[at].origin)
    width, rows = spec.shape[-1], count(spec) // max(spec.shape[-1], 1) * len(parts)
    if len(spec.shape) == 2:
        return work.call_behind(at, _table(spec, rows, width), np.concatenate, parts)
    flat = Spec("array", spec.dtype, (rows * width,), "C")
    joined = work.call_behind(at, flat, np.concatenate, parts)
    return work.call_behind(at, _table(spec, rows, width), np.reshape, joined, (rows, width))


def _table(spec: Spec, rows: int, width: int) -> Spec:
    return Spec("array", spec.dtype, (rows, width), "C")


def rows_of_one(work: Work, at: Var, parts: tuple[Var, ...]) -> Var | None:
    """Return the rows of a table that follow each other, as a part of that table."""
    ops = [work.call_of(v, getitem) for v in parts]
    first = ops[0]
    if (
        first is None
        or type(first.args[0]) is not Var
        or type(first.args[1]) is not int
        or first.args[1] < 0
    ):
        return None
    table: Var = first.args[0]
    start: int = first.args[1]
    wanted = [(table, start + k) for k in range(len(parts))]
    if [op.args for op in ops if op is not None] != wanted or not _is_table(work, table):
        return None
    spec = work.ops[table].spec
    part = table
    if start or len(parts) < spec.shape[0]:
        shorter = Spec("array", spec.dtype, (len(parts), *spec.shape[1:]), spec.order)
        part = work.call_behind(at, shorter, getitem, table, slice(start, start + len(parts)))
    if len(spec.shape) == 2:
        return part
    rows = len(parts) * spec.shape[1]
    return work.call_behind(
        at, _table(spec, rows, spec.shape[2]), np.reshape, part, (rows, spec.shape[2])
    )


def _is_table(work: Work, x: Any) -> bool:
    spec = work.spec(x) if type(x) is Var else None
    return is_real_array(spec) and spec is not None and spec.order == "C" and len(spec.shape) < 4
