"""A small graph in layers from top to bottom, edges routed in the channels between layers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from yotaview.render.canvas import Canvas
from yotaview.render.line import cells

Edge = tuple[int, int]
Ports = dict[tuple[int, int], int]
Segment = tuple[int, int, bool]


@dataclass(frozen=True, slots=True)
class Node:
    """A box: its text, and the role of its colour."""

    text: str
    role: str = ""
    heavy: bool = False

    @property
    def width(self) -> int:
        """Cells of the box, frame included."""
        return cells(self.text) + 4


@dataclass(slots=True)
class _Layout:
    ranks: dict[int, int]
    chains: list[list[int]] = field(default_factory=list)
    layers: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    centre: dict[int, int] = field(default_factory=dict)


Drawing = tuple[Canvas, dict[int, tuple[int, int]]]


class Arrangement:
    """Where nodes and edges of a graph go, whatever their colours; edges go to higher keys."""

    def __init__(self, nodes: Mapping[int, Node], edges: Sequence[Edge]) -> None:
        self.layout = _Layout(_ranks(nodes, edges))
        _fill(self.layout, nodes, edges)
        _order(self.layout)
        _place(self.layout, nodes)
        self.segments = _route(self.layout, nodes)

    def draw(self, nodes: Mapping[int, Node]) -> Drawing:
        """Return the drawing and the upper left corner of each node."""
        return _draw(self.layout, nodes, self.segments)


def draw(nodes: Mapping[int, Node], edges: Sequence[Edge]) -> Drawing:
    """Return the drawing of a graph and the upper left corner of each node."""
    return Arrangement(nodes, edges).draw(nodes)


def _ranks(nodes: Mapping[int, Node], edges: Sequence[Edge]) -> dict[int, int]:
    ranks = dict.fromkeys(sorted(nodes), 0)
    into = defaultdict(list)
    for a, b in edges:
        into[b].append(a)
    for n in ranks:
        ranks[n] = max((ranks[a] + 1 for a in into[n]), default=0)
    out = defaultdict(list)
    for a, b in edges:
        out[a].append(ranks[b])
    for n in ranks:
        if not into[n] and out[n]:
            ranks[n] = min(out[n]) - 1
    return ranks


def _fill(layout: _Layout, nodes: Mapping[int, Node], edges: Sequence[Edge]) -> None:
    for n in sorted(nodes):
        layout.layers[layout.ranks[n]].append(n)
    bend = -1
    for a, b in edges:
        chain = [a]
        for rank in range(layout.ranks[a] + 1, layout.ranks[b]):
            layout.layers[rank].append(bend)
            chain.append(bend)
            bend -= 1
        layout.chains.append([*chain, b])


def _order(layout: _Layout, sweeps: int = 6) -> None:
    """Sort each layer by the mean place of its neighbours, down and up in turn."""
    up, down = defaultdict(list), defaultdict(list)
    for chain in layout.chains:
        for a, b in pairwise(chain):
            down[a].append(b)
            up[b].append(a)
    place = {n: k for layer in layout.layers.values() for k, n in enumerate(layer)}
    ranks = sorted(layout.layers)
    for sweep in range(sweeps):
        near, order = (up, ranks) if sweep % 2 == 0 else (down, ranks[::-1])
        for rank in order:
            layer = layout.layers[rank]
            mean = {
                n: sum(place[m] for m in near[n]) / len(near[n]) if near[n] else place[n]
                for n in layer
            }
            layer.sort(key=lambda n: (mean[n], n))
            place.update({n: k for k, n in enumerate(layer)})


def _place(layout: _Layout, nodes: Mapping[int, Node]) -> None:
    """Give each node a column: packed from the left, then each layer moved under its neighbours."""
    above, links = defaultdict(list), defaultdict(list)
    for chain in layout.chains:
        for a, b in pairwise(chain):
            above[b].append(a)
            links[a].append(b)
            links[b].append(a)
    for rank in sorted(layout.layers):
        column = 0
        for n in layout.layers[rank]:
            half = _half(nodes, n)
            layout.centre[n] = column + half
            column += 2 * half + 3
    for sweep in range(12):
        for rank in sorted(layout.layers, reverse=sweep % 2 == 1):
            _settle(layout, nodes, links, layout.layers[rank])
    for rank in sorted(layout.layers):
        _settle(layout, nodes, above, layout.layers[rank])
    low = min((c - _half(nodes, n) for n, c in layout.centre.items()), default=0)
    for n in layout.centre:
        layout.centre[n] -= low


def _settle(
    layout: _Layout, nodes: Mapping[int, Node], links: Mapping[int, list[int]], layer: list[int]
) -> None:
    edge = -(10**6)
    wanted = []
    for n in layer:
        near = [layout.centre[m] for m in links[n] if m in layout.centre]
        wish = round(sum(near) / len(near)) if near else layout.centre[n]
        half = _half(nodes, n)
        layout.centre[n] = max(wish, edge + half + 2)
        edge = layout.centre[n] + half
        wanted.append(layout.centre[n] - wish)
    shift = round(sum(wanted) / max(len(wanted), 1))
    for n in layer:
        layout.centre[n] -= shift


def _half(nodes: Mapping[int, Node], n: int) -> int:
    return nodes[n].width // 2 if n in nodes else 0


def _ports(
    layout: _Layout, nodes: Mapping[int, Node], ends: Mapping[int, list[tuple[int, int]]]
) -> Ports:
    """Spread the lines that meet a box over its edge, in the order of their other ends."""
    found = {}
    for n, lines in ends.items():
        lines.sort()
        room = max(nodes[n].width - 4, 1)
        for k, (_, chain) in enumerate(lines):
            offset = 0 if len(lines) == 1 else round(-room / 2 + room * (k + 0.5) / len(lines))
            found[n, chain] = layout.centre[n] + offset
    return found


def _straighten(layout: _Layout, nodes: Mapping[int, Node], leave: Ports, enter: Ports) -> None:
    """Let a line leave its box right above where it ends, if that place is free."""
    for k, chain in enumerate(layout.chains):
        a, target = chain[0], enter[chain[-1], k] if len(chain) == 2 else layout.centre[chain[1]]
        others = [x for (n, j), x in leave.items() if n == a and j != k]
        inside = abs(target - layout.centre[a]) <= nodes[a].width // 2 - 2
        if inside and all(abs(x - target) > 1 for x in others):
            leave[a, k] = target


def _route(layout: _Layout, nodes: Mapping[int, Node]) -> dict[int, list[Segment]]:
    """Return the pieces of every edge by the layer that they leave."""
    outs, ins = defaultdict(list), defaultdict(list)
    for k, chain in enumerate(layout.chains):
        outs[chain[0]].append((layout.centre[chain[1]], k))
        ins[chain[-1]].append((layout.centre[chain[-2]], k))
    leave, enter = _ports(layout, nodes, outs), _ports(layout, nodes, ins)
    _straighten(layout, nodes, leave, enter)
    segments: dict[int, list[Segment]] = defaultdict(list)
    for k, chain in enumerate(layout.chains):
        columns = [
            leave[chain[0], k],
            *(layout.centre[n] for n in chain[1:-1]),
            enter[chain[-1], k],
        ]
        first = layout.ranks[chain[0]]
        for j in range(len(columns) - 1):
            segments[first + j].append((columns[j], columns[j + 1], j == len(columns) - 2))
    return segments


def _tracks(lines: list[Segment]) -> tuple[dict[Segment, int], int]:
    """Give each bent line of a channel a row in which it meets no other."""
    rows: list[list[tuple[int, int]]] = []
    found: dict[Segment, int] = {}
    order = sorted(set(lines), key=lambda s: (s[0] > s[1], s[0] if s[0] > s[1] else -s[0]))
    for a, b, last in order:
        if a == b:
            continue
        low, high = min(a, b), max(a, b)
        for k, used in enumerate(rows):
            if all(high + 1 < x or low - 1 > y for x, y in used):
                used.append((low, high))
                found[a, b, last] = k
                break
        else:
            rows.append([(low, high)])
            found[a, b, last] = len(rows) - 1
    return found, len(rows)


def _draw(
    layout: _Layout, nodes: Mapping[int, Node], segments: Mapping[int, list[Segment]]
) -> Drawing:
    canvas = Canvas()
    corners: dict[int, tuple[int, int]] = {}
    top = 0
    for rank in sorted(layout.layers):
        for n in layout.layers[rank]:
            if n in nodes:
                node = nodes[n]
                corners[n] = (layout.centre[n] - node.width // 2, top)
                canvas.box(*corners[n], node.width, [node.text], node.role, node.heavy)
            else:
                canvas.vertical(layout.centre[n], top - 1, top + 3)
        tracks, count = _tracks(segments.get(rank, []))
        below = top + 4 + count
        for a, b, last in segments.get(rank, []):
            row = top + 3 + tracks.get((a, b, last), 0)
            canvas.vertical(a, top + 2, row)
            canvas.horizontal(a, b, row)
            canvas.vertical(b, row, below)
            if last:
                canvas.text(b, below - 1, "▾", "dim")
        top = below
    return canvas, corners
