"""What a code object reads, writes and asks outside itself, read from its instructions."""

from __future__ import annotations

import dis
import functools
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType

from yota.captured import traits

# attributes that lead out of what a walk can see
ESCAPES = frozenset({
    "__globals__", "__builtins__", "__subclasses__", "__closure__", "__code__", "cell_contents",
    "f_back", "f_locals", "f_globals", "gi_frame", "tb_frame", "tofile", "dump", "ctypes",
    "setflags", "__array_interface__", "__array_struct__", "ag_frame", "cr_frame", "tb_next",
    "rvs",
})  # fmt: skip

_GLOBAL_LOADS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})
_GLOBAL_WRITES = frozenset({"STORE_GLOBAL", "DELETE_GLOBAL"})
_CELL_WRITES = frozenset({"STORE_DEREF", "DELETE_DEREF"})
_ITEM_WRITES = frozenset({"STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE"})
_ATTRIBUTE_WRITES = frozenset({"STORE_ATTR", "DELETE_ATTR"})
_SETS = frozenset({"BUILD_SET", "SET_ADD", "SET_UPDATE"})
_TEXTS = frozenset({"FORMAT_VALUE", "FORMAT_SIMPLE", "FORMAT_WITH_SPEC"})
_CREATING = frozenset({"__init__", "__post_init__"})
_INPLACE = 13

Chain = tuple[str, ...]
# the class around a method, as super() takes it
SUPER: Chain = ("super()",)


@dataclass
class Facts:
    """Names that a code object uses, each with the line of its first use.

    `uses` holds for each global and each variable of a function around it what is read of it
    directly: chains of attributes, () where it is used as a whole.  `free` are the attributes that
    are taken of something else.  `own` are the names that class
    bodies inside give.
    """

    globals: dict[str, int] = field(default_factory=dict)
    attributes: dict[str, int] = field(default_factory=dict)
    cells: dict[str, int] = field(default_factory=dict)
    imports: dict[str, int] = field(default_factory=dict)
    writes: dict[str, int] = field(default_factory=dict)
    uses: dict[str, set[Chain]] = field(default_factory=dict)
    free: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    traits: set[str] = field(default_factory=set)


@functools.lru_cache(maxsize=2048)
def facts_of(code: CodeType) -> Facts:
    """Return the facts of a function's code, with those of the functions written inside it."""
    facts = Facts()
    _collect(code, frozenset(code.co_freevars), facts)
    for name in facts.attributes:
        facts.traits |= traits.of_attribute(name)
    if any("%" in text for text in facts.texts):
        facts.traits.add(traits.PERCENT)
    return facts


def _collect(code: CodeType, free: frozenset[str], facts: Facts) -> None:
    line = code.co_firstlineno
    steps = list(dis.get_instructions(code))
    before = None
    taken: set[int] = set()
    for k, step in enumerate(steps):
        line = _line_of(step) or line
        _note_name(step, line, free, facts)
        if step.opname == "IMPORT_NAME" and steps[k - 2].argval != 0:
            facts.writes.setdefault("imports by a relative name", line)
        if step.opname in _GLOBAL_LOADS or ("DEREF" in step.opname and step.argval in free):
            chain = _chain(steps, k)
            facts.uses.setdefault(step.argval, set()).add(chain)
            taken.update(range(k + 1, k + 1 + len(chain)))
        elif k not in taken and _takes_attribute(step):
            facts.free.add(step.argval)
        facts.traits |= _traits_of(step, before, code)
        before = step
    facts.texts |= set(_texts_in(code.co_consts))
    if code.co_exceptiontable:
        facts.traits.add(traits.CATCHES)
    if code.co_name == "__hash__":
        facts.traits.discard(traits.HASHES)
    for inner in _inner(code):
        # a cell of the function around it is no state from outside
        _collect(inner, free.intersection(inner.co_freevars), facts)


def _line_of(step: dis.Instruction) -> int | None:
    return step.positions.lineno if step.positions is not None else None


def _inner(code: CodeType) -> Iterator[CodeType]:
    return (c for c in code.co_consts if isinstance(c, CodeType))


def _texts_in(consts: tuple[object, ...]) -> Iterator[str]:
    for c in consts:
        if isinstance(c, str):
            yield c
        elif isinstance(c, tuple):
            yield from _texts_in(c)


def _chain(steps: list[dis.Instruction], k: int) -> Chain:
    """Return the attributes that are taken of what instruction `k` loads."""
    if steps[k].argval == "__class__" and k and steps[k - 1].argval == "super":
        return SUPER
    names = []
    for step in steps[k + 1 :]:
        if not _takes_attribute(step):
            break
        names.append(step.argval)
        if step.opname in _ATTRIBUTE_WRITES:
            break
    return tuple(names)


def _takes_attribute(step: dis.Instruction) -> bool:
    return "ATTR" in step.opname or step.opname in ("LOAD_METHOD", "IMPORT_FROM")


def _note_name(step: dis.Instruction, line: int, free: frozenset[str], facts: Facts) -> None:
    name, value = step.opname, step.argval
    if name in _GLOBAL_LOADS:
        facts.globals.setdefault(value, line)
    elif name in _GLOBAL_WRITES:
        facts.writes.setdefault(f"assigns to the global {value}", line)
    elif name in _CELL_WRITES and value in free:
        facts.writes.setdefault(f"assigns to the variable {value} of the function around it", line)
    elif "DEREF" in name and value in free:
        facts.cells.setdefault(value, line)
    elif name == "STORE_NAME":
        facts.own.add(value)
    elif name == "IMPORT_NAME":
        facts.imports.setdefault(value, line)
    elif _takes_attribute(step):
        facts.attributes.setdefault(value, line)


def _traits_of(
    step: dis.Instruction, before: dis.Instruction | None, code: CodeType
) -> frozenset[str]:
    """Return what one instruction tells about the function."""
    name = step.opname
    if name in _TEXTS:
        return frozenset({traits.TEXTS})
    if name in _SETS:
        return frozenset({traits.HASHES})
    if name in ("MATCH_CLASS", "MATCH_KEYS"):
        return frozenset({traits.MATCHES, traits.INSTANCES, traits.REFLECTS})
    if name == "BINARY_OP":
        found = {traits.STORES} if (step.arg or 0) >= _INPLACE and "=" in step.argrepr else set()
        return frozenset(found | ({traits.MODULO} if "%" in step.argrepr else set()))
    if name in _ITEM_WRITES or (name in _ATTRIBUTE_WRITES and not _of_self(before, code)):
        return frozenset({traits.STORES})
    if name in ("IS_OP", "CONTAINS_OP") or (name == "COMPARE_OP" and "=" in str(step.argval)):
        is_with_constant = before is not None and before.opname == "LOAD_CONST"
        return frozenset() if is_with_constant else frozenset({traits.COMPARES})
    is_out = name in ("KW_NAMES", "LOAD_CONST") and type(step.argval) is tuple
    return frozenset({traits.STORES}) if is_out and "out" in step.argval else frozenset()


def _of_self(before: dis.Instruction | None, code: CodeType) -> bool:
    """Tell whether a constructor sets an attribute of the object that is being made."""
    if code.co_name not in _CREATING or before is None or not code.co_argcount:
        return False
    return before.opname.startswith("LOAD_FAST") and before.argval == code.co_varnames[0]
