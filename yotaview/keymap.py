"""The user's own keys: a TOML file that gives actions of the table other keys."""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from yotaview.keys import BY_ACTION, KEYS, REBOUND, SHOWN, SIGNS, Key, shown

VARIABLE = "YOTAVIEW_KEYMAP"
NAMED = {text: name for name, text in (SHOWN | SIGNS).items()} | {
    "'": "apostrophe",
    "=": "equals_sign",
    "&": "ampersand",
    " ": "space",
    "space": "space",
    "tab": "tab",
    "enter": "enter",
}
# what a terminal takes for itself, or sends as another key
TAKEN = {"ctrl+c", "ctrl+q", "ctrl+z", "ctrl+s", "ctrl+i", "ctrl+m", "ctrl+h", "ctrl+j"}


class KeymapError(ValueError):
    """A keymap that cannot be used; the text names the file, the action and what can be written."""


def find_keymap(option: str | None) -> str | None:
    """Return the file that holds the keymap: the option's, else the environment's, else None."""
    return option or os.environ.get(VARIABLE) or None


def use_keymap(path: str) -> None:
    """Take the keys of a file for this process; raises KeymapError and then changes nothing."""
    found = read_keymap(path)
    REBOUND.clear()
    REBOUND.update(found)


def read_keymap(path: str) -> dict[str, tuple[str, ...]]:
    """Return the keys of each action that a TOML file names; raises KeymapError.

    The file has one line an action, `next = "j"` or `continue = ["c", "^n"]`, keys written as the
    help shows them.
    """
    try:
        table = tomllib.loads(Path(path).expanduser().read_text(encoding="utf-8"))
    except OSError as error:
        raise KeymapError(f"{path}: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise KeymapError(f'{path}: {error}; a line is: next = "j"') from error
    found = {action: _keys(path, action, value) for action, value in table.items()}
    _check_unique(path, found)
    return found


def _keys(path: str, action: str, value: Any) -> tuple[str, ...]:
    if action not in BY_ACTION:
        near = difflib.get_close_matches(action, BY_ACTION, n=3)
        told = f"near it: {', '.join(near)}" if near else "--keys lists them"
        raise KeymapError(f"{path}: no action {action!r}; {told}")
    words = [value] if isinstance(value, str) else value
    if not isinstance(words, list) or not words or not all(isinstance(w, str) for w in words):
        raise KeymapError(f'{path}: {action} needs a key or a list of keys, as "j" or ["j", "^n"]')
    return tuple(_textual_name(path, action, w) for w in words)


def _textual_name(path: str, action: str, word: str) -> str:
    """Return a key as Textual names it; raises KeymapError for one that terminals do not send."""
    if word in NAMED:
        return NAMED[word]
    if len(word) == 1 and word.isalnum() and word.isascii():
        return word
    if match := re.fullmatch(r"(?:\^|ctrl\+)([a-zA-Z])", word):
        name = f"ctrl+{match[1].lower()}"
        if name not in TAKEN:
            return name
    if re.fullmatch(r"[fF]([1-9]|1[0-2])", word):
        return word.lower()
    raise KeymapError(
        f"{path}: {action} = {word!r} is no key that every terminal sends: write a letter, a digit,"
        " a sign, F1 to F12, ^a to ^z, space, tab or enter"
    )


def _check_unique(path: str, found: Mapping[str, tuple[str, ...]]) -> None:
    owner: dict[str, Key] = {}
    for key in KEYS:
        for name in found.get(key.action, key.usual):
            other = owner.setdefault(name, key)
            if other is not key:
                raise KeymapError(
                    f"{path}: {shown(name)} would mean both {other.action} and {key.action}; give"
                    " one of them another key"
                )
