"""Themes of our own beside Textual's: high contrast, and colours that everybody tells apart."""

from __future__ import annotations

from textual.theme import BUILTIN_THEMES, Theme

# blue and orange are told apart by people who cannot tell red from green:
# Okabe and Ito, Color Universal Design, 2008
_BLUE, _SKY, _ORANGE, _VERMILION = "#0072b2", "#56b4e9", "#e69f00", "#d55e00"

THEMES = (
    Theme(
        name="contrast-dark",
        primary="#ffff00",
        secondary="#00ffff",
        accent="#ff80ff",
        success="#00ff00",
        warning="#ffff00",
        error="#ff6060",
        foreground="#ffffff",
        background="#000000",
        surface="#000000",
        panel="#303030",
        dark=True,
    ),
    Theme(
        name="contrast-light",
        primary="#0000c0",
        secondary="#005050",
        accent="#800080",
        success="#005000",
        warning="#603000",
        error="#a00000",
        foreground="#000000",
        background="#ffffff",
        surface="#ffffff",
        panel="#d8d8d8",
        dark=False,
    ),
    Theme(
        name="blue-orange",
        primary=_SKY,
        secondary=_SKY,
        accent=_ORANGE,
        success=_SKY,
        warning=_ORANGE,
        error=_VERMILION,
        foreground="#e8e8e8",
        background="#101418",
        surface="#181c20",
        panel="#20282f",
        dark=True,
    ),
    Theme(
        name="blue-orange-light",
        primary=_BLUE,
        secondary=_BLUE,
        accent="#a35200",
        success=_BLUE,
        warning="#a35200",
        error="#b03a00",
        foreground="#101010",
        background="#fafafa",
        surface="#f2f2f2",
        panel="#e2e6ea",
        dark=False,
    ),
)
# the order of the key that takes the next one
ROUND = (
    "textual-dark",
    "textual-light",
    "contrast-dark",
    "contrast-light",
    "blue-orange",
    "blue-orange-light",
    "nord",
    "gruvbox",
    "solarized-light",
    "catppuccin-latte",
    "ansi-dark",
    "ansi-light",
)


def names() -> tuple[str, ...]:
    """Return the name of every theme."""
    return (*(t.name for t in THEMES), *BUILTIN_THEMES)
