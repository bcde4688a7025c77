"""The statements of the user's source: which one a place lies in, what it assigns, its loop."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from yota.tape import Frame

LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
Span = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Statement:
    """The first and last line of a statement, and its text on one line."""

    first: int
    last: int
    text: str


@dataclass(slots=True)
class _File:
    """What is known of a file: statements and loops by line, names by the span of their value."""

    statements: dict[int, Statement] = field(default_factory=dict)
    loops: dict[int, list[Statement]] = field(default_factory=dict)
    repeating: set[int] = field(default_factory=set)
    names: dict[Span, str] = field(default_factory=dict)


class Statements:
    """The statements of a capture's source text; a file is read when it is first asked about."""

    def __init__(self, sources: Mapping[str, tuple[str, ...]]) -> None:
        self.sources = sources
        self._files: dict[str, _File] = {}

    def at(self, frame: Frame) -> Statement | None:
        """Return the statement of a frame, None where the source is not available."""
        lines = self.sources.get(frame.file, ())
        if not 0 < frame.line <= len(lines):
            return None
        found = self._file(frame.file).statements.get(frame.line)
        return found or Statement(frame.line, frame.line, lines[frame.line - 1].strip())

    def first_line(self, frame: Frame) -> int:
        """Return the first line of the frame's statement."""
        found = self.at(frame)
        return frame.line if found is None else found.first

    def name(self, frame: Frame) -> str:
        """Return the variable that the whole expression of a frame is assigned to, '' if none."""
        span = (frame.line, frame.col, frame.end_line, frame.end_col)
        return self._file(frame.file).names.get(span, "") if frame.file in self.sources else ""

    def loop(self, frame: Frame, last: int) -> str:
        """Return the header of the innermost loop around a frame that holds line `last` too."""
        found = self._file(frame.file).loops.get(frame.line, ())
        return next((s.text for s in reversed(found) if s.first <= last <= s.last), "")

    def repeats(self, frame: Frame) -> bool:
        """Tell whether a frame may stand in a loop or comprehension; it may if nothing is known."""
        if not self.sources.get(frame.file):
            return True
        found = self._file(frame.file)
        return frame.line in found.repeating or not found.statements

    def _file(self, path: str) -> _File:
        if path not in self._files:
            self._files[path] = _read(self.sources.get(path, ()))
        return self._files[path]


def _read(lines: tuple[str, ...]) -> _File:
    found = _File()
    try:
        tree = ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return found  # a single line is shown as its own statement
    for node in ast.walk(tree):  # outer statements before inner ones: these take their lines
        if isinstance(node, LOOPS):
            found.repeating.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        if isinstance(node, ast.stmt):
            _add(found, node, lines)
    return found


def _add(found: _File, node: ast.stmt, lines: tuple[str, ...]) -> None:
    last = node.end_lineno or node.lineno
    body = getattr(node, "body", None)
    end = max(node.lineno, body[0].lineno - 1) if isinstance(body, list) and body else last
    text = " ".join(row.strip() for row in lines[node.lineno - 1 : end])
    statement = Statement(node.lineno, end, text if body else _text(node, text))
    found.statements.update(dict.fromkeys(range(node.lineno, end + 1), statement))
    if isinstance(node, ast.For | ast.While):
        loop = Statement(node.lineno, last, text.rstrip(":"))
        for number in range(node.lineno, last + 1):
            found.loops.setdefault(number, []).append(loop)
    if (name := _assigned(node)) is not None:
        value = node.value  # type: ignore[attr-defined]  # those that assign have one
        span = (value.lineno, value.col_offset, value.end_lineno, value.end_col_offset)
        found.names[span] = name


def _text(node: ast.stmt, text: str) -> str:
    """Return a simple statement without what stands around it, on one line."""
    if node.end_lineno == node.lineno:
        return ast.get_source_segment(text, _at_start(node)) or text
    try:
        return ast.unparse(node)
    except (RecursionError, MemoryError):
        return text


def _at_start(node: ast.stmt) -> ast.AST:
    """Return a place of the same length that begins where a stripped line does."""
    width = (node.end_col_offset or 0) - node.col_offset
    return ast.Pass(lineno=1, col_offset=0, end_lineno=1, end_col_offset=width)


def _assigned(node: ast.stmt) -> str | None:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    plain = isinstance(node, ast.Assign | ast.AnnAssign) and getattr(node, "value", None)
    return targets[0].id if plain and isinstance(targets[0], ast.Name) else None
