"""Elements as one writes them: `%49[0,2]`, `W1[0,2]`, the cotangents `∂W1[0,2]` and `δ%7[0,2]`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from yota.tape import Constant, Input, Tape, Var
from yotaview.model.digits import whole
from yotaview.model.why.elements import Element, NoElement, array_of, first_element, read

FORMS = "%49[0,2], W1[0,2], dW1[0,2] or d%7[0,2]"


def find_element(text: str, tape: Tape, values: Mapping[Var, Any]) -> Element:
    """Return the element that a text names, without an index the one most worth asking about.

    Raises NoElement with what can be written.
    """
    plain = text.strip()
    for base, groups in _splits(plain):
        var = find_var(base, tape)
        if var is not None:
            return _at(var, groups, values)
    names = ", ".join(op.name for _, op in tape if isinstance(op, Input | Constant) and op.name)
    raise NoElement(f"no element {plain!r} on this tape: write {FORMS}; names: {names or 'none'}")


def _splits(text: str) -> Iterator[tuple[str, list[tuple[int, ...]]]]:
    """Yield ways to read a text as a name and an index: a name may end in brackets itself."""
    yield text, []
    groups: list[tuple[int, ...]] = []
    while match := re.fullmatch(r"(.*)\[\s*(-?\d+(?:\s*,\s*-?\d+)*)?\s*,?\s*\]", text):
        text = match[1]
        groups.insert(0, tuple(whole(k.strip()) for k in (match[2] or "").split(",") if k.strip()))
        yield text, groups


def find_var(base: str, tape: Tape) -> Var | None:
    """Return the op of `%7`, `W1`, `∂W1` or `δ%7`; None where there is none."""
    if match := re.fullmatch(r"%?(\d+)", base):
        return tape.survivor(Var(whole(match[1]))) if is_numbered(tape, whole(match[1])) else None
    named = {op.name: v for v, op in reversed(tape.ops.items()) if isinstance(op, Input | Constant)}
    if base in named:
        return named[base]
    if (whole_name := _only(base, named)) is not None:
        return named[whole_name]
    if base[:1] in ("∂", "δ", "d") and len(base) > 1:
        whose = find_var(base[1:].strip(), tape)
        return tape.cotangents.get(whose) if whose is not None else None
    return None


def _only(last: str, names: Iterable[str]) -> str | None:
    """Return the one name that ends in a key or attribute: `params['W1']` for `W1`."""
    ends = (f"['{last}']", f'["{last}"]', f"[{last}]", f".{last}")
    found = [n for n in names if last and n.endswith(ends)]
    return found[0] if len(found) == 1 else None


def is_numbered(tape: Tape, number: int) -> bool:
    """Tell whether a tape has, or had, an op of a number."""
    return Var(number) in tape or Var(number) in tape.fates


def _at(var: Var, groups: list[tuple[int, ...]], values: Mapping[Var, Any]) -> Element:
    if not groups:
        return first_element(values, var)
    value = values.get(var)
    item = groups[0][0] if isinstance(value, tuple | list) else None
    index = groups[-1] if item is None or len(groups) > 1 else ()
    x = array_of(value, item)
    if x is not None and len(index) == x.ndim:
        index = tuple(k + n if k < 0 else k for k, n in zip(index, x.shape, strict=True))
    element = Element(var, index, item)
    read(values, element)
    return element
