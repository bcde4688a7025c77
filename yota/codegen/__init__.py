"""Python source from a tape."""

from yota.codegen.answer import Check
from yota.codegen.layout import generate, generate_answer, generate_entry
from yota.codegen.source import Source
from yota.codegen.standalone import standalone_source

__all__ = [
    "Check",
    "Source",
    "generate",
    "generate_answer",
    "generate_entry",
    "standalone_source",
]
