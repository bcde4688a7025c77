"""The ops of a folded node, each an element of its own in the drawing: a mark that has its name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.sax.saxutils import escape

from yota.tape import Tape
from yotaview.render.dot import op_lines, printable
from yotaview.render.fold import Group

NODE = re.compile(r'<g id="(ops-\d+-\d+)" class="node">.*?</a>\n</g>\n', re.DOTALL)
CORNERS = re.compile(r'<polygon [^>]*?points="([^"]+)"')
ELLIPSE = re.compile(r'<ellipse [^>]*?cx="(\S+)" cy="(\S+)" rx="(\S+)" ry="(\S+)"')
COLOUR = "#5b6b80"
INSET, TALL, WIDEST = 3.0, 2.5, 6.0

Box = tuple[float, float, float]


def with_members(svg: str, tape: Tape, groups: Sequence[Group]) -> str:
    """Return a drawing in which every op of a folded node is an element with the id `op-n`."""
    folded = {g.element: g for g in groups if len(g.ops) > 1}

    def add(node: re.Match[str]) -> str:
        group, box = folded.get(node[1]), _lower_edge(node[0])
        return node[0] + (_marks(tape, group, box) if group is not None and box is not None else "")

    return NODE.sub(add, svg)


def _lower_edge(node: str) -> Box | None:
    """Return left, right and lower end of a node's frame."""
    if corners := CORNERS.search(node):
        points = [tuple(map(float, p.split(","))) for p in corners[1].split()]
        return min(p[0] for p in points), max(p[0] for p in points), max(p[1] for p in points)
    if ellipse := ELLIPSE.search(node):
        x, y, wide, tall = map(float, ellipse.groups())
        return x - 0.6 * wide, x + 0.6 * wide, y + 0.8 * tall
    return None


def _marks(tape: Tape, group: Group, box: Box) -> str:
    """Return a row of marks along the lower edge, as many as there are ops."""
    left, right, low = box[0] + INSET, box[1] - INSET, box[2] - 1.0
    step = (right - left) / len(group.ops)
    wide = min(step * 0.7, WIDEST)
    marks = (
        f'<g id="op-{v.id}"><title>{escape(printable(told))}</title>'
        f'<path d="M{left + k * step:.2f},{low:.1f}h{wide:.2g}v-{TALL}h-{wide:.2g}z"/></g>\n'
        for k, (v, told) in enumerate((v, " · ".join(op_lines(tape, v))) for v in group.ops)
    )
    return f'<g class="ops" fill="{COLOUR}">\n{"".join(marks)}</g>\n'
