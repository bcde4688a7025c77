"""A tape as a Graphviz graph; the element of op %n carries the id `op-n`."""

from __future__ import annotations

from collections.abc import Iterable

import graphviz

from yota.tape import Call, Constant, Input, Op, Tape, Var, format_call, format_value
from yotaview.capture.structure import gradient_names
from yotaview.model.replay import seed_of
from yotaview.render.fold import Group, by_line, each_alone

LABEL_WIDTH = 48
FONT = "Courier"
LEGEND = "blue forward, violet reverse; dashed: kept for the reverse pass; dotted: to the seed"
STYLES = {
    "input": {"shape": "ellipse", "fillcolor": "#d9f0d3"},
    "constant": {"shape": "ellipse", "fillcolor": "#eeeeee"},
    "forward": {"shape": "box", "fillcolor": "#dbe9f6"},
    "seed": {"shape": "hexagon", "fillcolor": "#ffe9a8"},
    "reverse": {"shape": "box", "fillcolor": "#ecdff2"},
    "rest": {"shape": "box3d", "fillcolor": "#f4f4f4"},
}


def to_dot(tape: Tape, *, direction: str = "TB", fold: bool = False, at: Var | None = None) -> str:
    """Return DOT source; folded, an op stands with all others of its phase and line."""
    groups, note = by_line(tape, at) if fold else (each_alone(tape), "")
    return draw_groups(tape, groups, note, direction)


def draw_groups(tape: Tape, groups: list[Group], note: str, direction: str = "TB") -> str:
    """Return DOT source with a node for each group of ops."""
    graph = _new_graph(tape, direction, note)
    for group in groups:
        _add_node(graph, tape, group)
    _add_edges(graph, tape, groups)
    return str(graph.source)


def _new_graph(tape: Tape, direction: str, note: str) -> graphviz.Digraph:
    title = f"{tape.entry.name}: {len(tape):,} ops"
    legend = LEGEND if tape.reverse_start is not None else ""
    label = "\\n".join(escape(t) for t in (title, note, legend) if t)
    return graphviz.Digraph(
        "tape",
        graph_attr={
            "rankdir": direction,
            "fontname": FONT,
            "label": graphviz.nohtml(label),
            "labelloc": "t",
        },
        node_attr={"fontname": FONT, "fontsize": "10", "style": "filled", "color": "#555555"},
        edge_attr={"color": "#777777", "arrowsize": "0.7"},
    )


def escape(text: str) -> str:
    """Return text that Graphviz shows as it is, on one line, without control characters."""
    return str(graphviz.escape(printable(text).replace("&", "&amp;")))


def printable(text: str) -> str:
    """Return text on one line, each control character replaced by a sign for it."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _add_node(graph: graphviz.Digraph, tape: Tape, group: Group) -> None:
    first = group.ops[0]
    lines = op_lines(tape, first) if len(group.ops) == 1 else _several(tape, group)
    attrs = dict(STYLES[group.phase])
    marks = _marks(tape, group.ops)
    if marks:
        lines = [*lines, marks]
        attrs |= {"penwidth": "2.5", "peripheries": "2" if marks.startswith("∂") else "1"}
    label = "\\n".join(escape(cut(line)) for line in lines)
    tip = "\\n".join(escape(line) for line in lines)
    texts = {"label": graphviz.nohtml(label), "tooltip": graphviz.nohtml(tip)}
    graph.node(f"n{first.id}", id=group.element, **texts, **attrs)


def cut(text: str) -> str:
    """Return `text` at the width of a label."""
    return text if len(text) <= LABEL_WIDTH else text[: LABEL_WIDTH - 1] + "…"


def op_lines(tape: Tape, var: Var) -> list[str]:
    """Return what is told of an op: its call, then type, line and whose cotangent it adds to."""
    op = tape[var]
    wrt = op.origin.wrt
    adjoint = f"δ{wrt}" if wrt is not None and tape.is_reverse(var) else ""
    about = (op.spec.text(short=True), op.origin.place, adjoint)
    return [f"{var} {_what(op)}", " · ".join(part for part in about if part)]


def _what(op: Op) -> str:
    match op:
        case Input():
            return op.name
        case Constant():
            seed = "seed " if op.origin.role == "seed" else ""
            return f"{seed}{op.name or format_value(op.value)}"
        case Call():
            return format_call(op)
    return ""


def _several(tape: Tape, group: Group) -> list[str]:
    ops = [tape[v] for v in group.ops]
    names = dict.fromkeys(op.name if isinstance(op, Call) else _what(op) for op in ops)
    about = f"{group.ops[0]} … {group.ops[-1]} · {len(group.ops):,} ops"
    return [about, ", ".join(names), *([group.place] if group.place else [])]


def _marks(tape: Tape, ops: Iterable[Var]) -> str:
    wanted = set(ops)
    names = [
        f"∂{name}"
        for var, name in zip(tape.gradient_vars, gradient_names(tape), strict=False)
        if var in wanted
    ]
    if wanted.intersection(tape.result_vars):
        names.append("result")
    return ", ".join(dict.fromkeys(names))


def _add_edges(graph: graphviz.Digraph, tape: Tape, groups: list[Group]) -> None:
    home = {v: k for k, g in enumerate(groups) if g.phase != "rest" for v in g.ops}
    edges: dict[tuple[int, int], bool] = {}
    for var, op in tape:
        for operand in op.operands if isinstance(op, Call) and var in home else ():
            ends = (home.get(operand, home[var]), home[var])
            if ends[0] != ends[1]:
                saved = tape.is_reverse(var) and not tape.is_reverse(operand)
                edges[ends] = edges.get(ends, True) and saved
    names = [f"n{g.ops[0].id}" for g in groups]
    for k in range(len(groups) - 1):
        # one line to the rest: its true edges would span the whole drawing
        if "rest" in (groups[k].phase, groups[k + 1].phase):
            graph.edge(names[k], names[k + 1], style="dotted", dir="none")
    seed = seed_of(tape)
    for var in tape.result_vars:
        if var in home and seed is not None and seed in home:
            graph.edge(names[home[var]], names[home[seed]], style="dotted", constraint="false")
    for (source, to), saved in edges.items():
        style = {"style": "dashed", "constraint": "false"} if saved else {}
        graph.edge(names[source], names[to], **style)
