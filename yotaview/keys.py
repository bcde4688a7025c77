"""Every key of the screen, once: bindings, help, footer, palette and README come from here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

ABOUT = {
    "step": "the tape op by op, each value, and why it is what it is",
    "passes": "each rewrite before and after, with its reason",
    "code": "the generated code, and what each buffer holds now",
    "graph": "the tape drawn, forward above and reverse below",
    "profile": "time by op and by line, live bytes",
    "tapes": "every captured call",
}
VIEWS = tuple(ABOUT)
TITLES = {v: v.capitalize() for v in VIEWS}
Scope = Literal["view", "global", "pane"]


@dataclass(frozen=True, slots=True)
class Key:
    """One action: its keys as Textual names them, a label, a line of help, and who handles it.

    Scope `view` means that each view has its own `do_<action>`, `global` that the screen has the
    one, `pane` that the focused pane has it.
    """

    action: str
    usual: tuple[str, ...]
    label: str
    help: str
    scope: Scope = "global"

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys, as the user's keymap has them."""
        return REBOUND.get(self.action, self.usual)

    @property
    def show(self) -> str:
        """The keys as a reader knows them."""
        return " ".join(map(shown, self.keys))

    @property
    def told(self) -> str:
        """The help, with the name of the view for the key of one."""
        return f"{self.label}: {self.help}" if self.action.startswith("view_") else self.help


# action → keys, where a keymap says otherwise: one for the whole process, as Textual's is
REBOUND: dict[str, tuple[str, ...]] = {}

SHOWN = {
    "question_mark": "?",
    "f1": "F1",
    "f8": "F8",
    "ctrl+p": "^p",
    "ctrl+o": "^o",
    "ctrl+e": "^e",
    "left_parenthesis": "(",
    "right_parenthesis": ")",
    "escape": "esc",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "pagedown": "PgDn",
    "pageup": "PgUp",
    "exclamation_mark": "!",
    "percent_sign": "%",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "slash": "/",
    "ampersand": "&",
    "comma": ",",
    "full_stop": ".",
    "plus": "+",
    "minus": "-",
    "equals_sign": "=",
    "colon": ":",
    "apostrophe": "'",
    "ctrl+c": "^c",
}
# signs that no key of the table has, but one of a keymap may
SIGNS = {
    "quotation_mark": '"',
    "asterisk": "*",
    "underscore": "_",
    "tilde": "~",
    "semicolon": ";",
    "at": "@",
    "number_sign": "#",
    "dollar_sign": "$",
    "vertical_line": "|",
    "backslash": "\\",
    "grave_accent": "`",
}


def shown(name: str) -> str:
    """Return a key as a reader knows it: `^p`, `F1`, `?`."""
    if name.startswith("ctrl+"):
        return f"^{name[5:]}"
    if re.fullmatch(r"f\d+", name):
        return name.upper()
    return SHOWN.get(name) or SIGNS.get(name, name)


# what each pane shows and what its rows are: the help of the focused pane
PANES: dict[str, str] = {
    "step.tape": "one op a row: number, call, shape, whose cotangent; ↑ ↓ step, enter jumps",
    "step.value": "the value of the op at the position: v changes how, V takes the next slice",
    "step.why": "the user's line, the op's rule, what it reads and who reads it",
    "step.flow": "watches, breakpoints, alerts, and the norm of every cotangent in turn",
    "passes.stages": "what each pass did to the tape; ↑ ↓ choose a pass, n N a rewrite",
    "passes.before": "the tape before the pass, what goes marked -",
    "passes.after": "the tape after the pass, what comes marked +",
    "passes.reason": "why this rewrite is right, whether a replay agrees, and what it saves",
    "passes.pipeline": "ops, rewrites and time of each stage",
    "code.code": "the generated function: prologue P, body B, epilogue E, and the op of each line",
    "code.buffers": "what each buffer holds at the position, and until which op it is needed",
    "code.occupants": "every value that the current buffer holds in turn",
    "graph.mirror": "forward pass above, reverse below; hjkl move, enter or + unfolds a box",
    "graph.group": "the ops of the box at the position",
    "graph.near": "what the op reads and who reads it; arrows choose, enter goes, + a hop more",
    "graph.facts": "the op at the position in full",
    "graph.map": "the whole tape: where ops stand, where one is, what of the graph is in sight",
    "profile.times": "the time of each op; ↑ ↓ choose one, enter goes there in Step",
    "profile.live": "the bytes that live after each op",
    "profile.lines": "the time of each line of the script, forward and reverse",
    "profile.savings": "the ops as recorded, with CSE alone, after all passes; bytes of buffers",
    "tapes.rows": "one row a function, call site and structure; enter opens it in Step",
    "tapes.preview": "the row's inputs, ops, calls and checks",
    "tapes.printed": "what the script printed",
}

_DIGITS = tuple(
    Key(f"view_{name}", (str(k),), TITLES[name], ABOUT[name]) for k, name in enumerate(VIEWS, 1)
)

KEYS: tuple[Key, ...] = (
    *_DIGITS,
    Key("next", ("n",), "next", "next op, rewrite or row of the view", "view"),
    Key("previous", ("N",), "prev", "previous op, rewrite or row of the view", "view"),
    Key(
        "into",
        ("s",),
        "into",
        "into the next op: read, compute, write, accumulate; into a folded group",
        "view",
    ),
    Key("back_into", ("S",), "back into", "back through the same parts, or a folded group", "view"),
    Key("finish", ("f",), "finish", "finish the group: first op of the next source line", "view"),
    Key(
        "back_finish",
        ("F",),
        "start",
        "back to the start of the group, then of the one before",
        "view",
    ),
    Key("continue", ("c",), "cont", "on to the next breakpoint, watch change or alert"),
    Key(
        "back_continue",
        ("C",),
        "back",
        "back to the previous one; the seed is a fence that a second C passes",
    ),
    Key("stop", ("ctrl+c",), "stop", "give up a long c or C, as esc does"),
    Key("first", ("g",), "first", "first op or row of the view", "view"),
    Key("last", ("G",), "last", "last op or row of the view", "view"),
    Key("previous_phase", ("left_curly_bracket",), "phase back", "previous edge of a phase"),
    Key("next_phase", ("right_curly_bracket",), "phase on", "next edge of a phase"),
    Key("twin", ("percent_sign",), "twin", "between an op and the op that completes its cotangent"),
    Key("producer", ("u",), "up", "to what the op reads; back by < and u again: the next"),
    Key("consumer", ("d",), "down", "to what reads the op; back by < and d again: the next"),
    Key("previous_call", ("left_square_bracket",), "prev call", "previous kept call of this row"),
    Key("next_call", ("right_square_bracket",), "next call", "next kept call of this row"),
    Key("diff", ("D",), "diff", "compare with the call marked in Tapes, else with the one before"),
    Key("filter", ("ampersand",), "filter", "list only the tapes that hold a text, as in less"),
    Key("bisect", ("X",), "bisect", "the first bad call of the row: not finite, or as you say"),
    Key("history_back", ("less_than_sign",), "jump back", "back in the history of jumps"),
    Key("history_on", ("greater_than_sign",), "jump on", "forward in the history of jumps"),
    Key("alert", ("exclamation_mark",), "alert", "next alert, with its autopsy: cause and cure"),
    Key("why", ("W",), "why", "the explanation; in Step why this number: its terms", "view"),
    Key("layout", ("L",), "layout", "the view's other layout or form", "view"),
    Key("group", ("t",), "group", "group or mark", "view"),
    Key("map", ("M",), "map", "the map of the whole tape, in Graph", "view"),
    Key("fit", ("0",), "fit", "bring the current op or row into sight", "view"),
    Key("more", ("plus",), "unfold", "one level less folded", "view"),
    Key("less", ("minus",), "fold", "one level more folded", "view"),
    Key("hidden", ("a",), "hidden", "show what the view hides as without effect, or not", "view"),
    Key(
        "verify",
        ("equals_sign",),
        "verify",
        "verify rewrites, in Code buffers, in Step rules: runs your primitives; in Profile measure",
        "view",
    ),
    Key("next_access", ("J",), "next access", "next op that writes or reads the buffer", "view"),
    Key("previous_access", ("K",), "prev access", "previous op that does", "view"),
    Key("find", ("slash",), "find", "find text in the view"),
    Key("find_previous", ("comma",), "prev match", "previous match"),
    Key("find_next", ("full_stop",), "next match", "next match"),
    Key(
        "goto",
        ("colon",),
        "goto",
        "go to :46 :%46 :50% :line 9 :seed; counts :10n :3C :46G; :b :w :p",
    ),
    Key("breakpoint", ("b",), "brk", "set or clear a breakpoint on the current op"),
    Key(
        "breakpoints",
        ("B",),
        "list",
        "breakpoints, watches, marks, what-ifs: add, disable, delete, go to one",
    ),
    Key("watch", ("w",), "watch", "watch the op and its cotangent, in Code the buffer"),
    Key("evaluate", ("p",), "eval", "evaluate an expression once, x being the current value"),
    Key("mark", ("m",), "mark", "set a mark here: m and a letter"),
    Key("visit", ("apostrophe",), "to mark", "go to a mark: ' and its letter; '' where one was"),
    Key("value", ("v",), "value", "value as grid, heat, histogram, summary or over calls"),
    Key("slice", ("V",), "slice", "next slice of a value with more than two axes"),
    Key("whatif", ("e",), "what if", "edit a value: only what depends on it is run again"),
    Key("pin", ("P",), "pin", "keep this value in sight below the others, or no longer"),
    Key("copy", ("y",), "copy", "copy what the view stands on"),
    Key("copy_file", ("Y",), "copy to file", "write what the view stands on to a file"),
    Key("export", ("x",), "export", "export to a file; its suffix is the format"),
    Key("output", ("O",), "output", "what the script printed; the text of a lesson"),
    Key("focus_next", ("tab",), "next pane", "focus the next pane"),
    Key("focus_previous", ("shift+tab",), "prev pane", "focus the previous pane"),
    Key("jump", ("ctrl+o",), "panes", "a letter on each pane: press it to go there"),
    Key("zoom", ("z",), "zoom", "the focused pane alone, and back"),
    Key("grow", ("right_parenthesis",), "grow", "make the focused pane larger"),
    Key("shrink", ("left_parenthesis",), "shrink", "make the focused pane smaller"),
    Key("reset_panes", ("Z",), "reset", "give every pane its own size again"),
    Key("edit", ("ctrl+e",), "editor", "open the current line in $VISUAL or $EDITOR"),
    Key("rerun", ("R",), "re-run", "run the script again and come back to this place"),
    Key("help", ("question_mark", "f1"), "help", "this help"),
    Key("commands", ("ctrl+p",), "commands", "every action by name"),
    Key("theme", ("T",), "theme", "next theme"),
    Key("screenshot", ("f8",), "screenshot", "write the screen to an SVG file"),
    Key("leave", ("escape",), "out", "one level out, back along what was followed"),
    Key("quit", ("q",), "quit", "quit"),
    Key("row_up", ("up", "k"), "up", "row up in the focused pane", "pane"),
    Key("row_down", ("down", "j"), "down", "row down in the focused pane", "pane"),
    Key("row_left", ("left", "h"), "left", "left in the focused pane", "pane"),
    Key("row_right", ("right", "l"), "right", "right in the focused pane", "pane"),
    Key("page_up", ("pageup",), "page up", "page up in the focused pane", "pane"),
    Key("page_down", ("pagedown",), "page down", "page down in the focused pane", "pane"),
    Key("open", ("enter",), "open", "open the row, ask why of a value, follow a term", "pane"),
)
BY_ACTION = {k.action: k for k in KEYS}

PAIRS = {
    "next": ("previous", "next/prev"),
    "into": ("back_into", "in"),
    "continue": ("back_continue", "cont"),
    "finish": ("back_finish", "finish"),
    "more": ("less", "fold"),
    "value": ("slice", "value"),
    "next_call": ("previous_call", "call"),
    "find_next": ("find_previous", "match"),
    "next_access": ("previous_access", "buffer access"),
    "producer": ("consumer", "edge"),
}

DEFAULT_FOOTER = ("next", "layout", "find", "goto", "why", "copy", "export")
FOOTERS: dict[str, tuple[str, ...]] = {
    "step": (
        "next",
        "into",
        "continue",
        "twin",
        "breakpoint",
        "value",
        "why",
        "find",
        "goto",
        "finish",
        "whatif",
    ),
    "passes": ("next", "verify", "hidden", "more", "layout", "find", "open", "goto", "why", "copy"),
    "code": (
        "next",
        "next_access",
        "layout",
        "more",
        "verify",
        "find",
        "breakpoint",
        "goto",
        "copy",
    ),
    "graph": ("next", "more", "producer", "twin", "layout", "group", "find", "goto", "export"),
    "profile": ("next", "open", "group", "layout", "find", "goto", "copy", "export"),
    "tapes": ("open", "next", "next_call", "group", "diff", "alert", "bisect", "layout", "output"),
}


def footer_hints(view: str) -> list[tuple[str, str]]:
    """Return keys and labels for the footer of a view, the most wanted first."""
    return [hint(a) for a in FOOTERS.get(view, DEFAULT_FOOTER)]


def hint(action: str) -> tuple[str, str]:
    """Return keys and label of an action as the footer shows them, its opposite included."""
    key = BY_ACTION[action]
    first = shown(key.keys[0])
    if action in PAIRS:
        other, label = PAIRS[action]
        second = shown(BY_ACTION[other].keys[0])
        return f"{first}/{second}", label
    return first, key.label


def readme_table() -> str:
    """Return the table of keys for the README, in Markdown."""
    rows = [f"| {' '.join(f'`{s}`' for s in k.show.split())} | {k.told} |" for k in KEYS]
    return "\n".join(["| key | what it does |", "|---|---|", *rows]) + "\n"


def keys_text() -> str:
    """Return the table of keys as text, with the action's name that a keymap uses."""
    width = max(len(k.show) for k in KEYS)
    return "".join(f"{k.show:<{width}}  {k.action:<15}  {k.told}\n" for k in KEYS)
