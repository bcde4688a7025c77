"""Python source from a tape."""

from yota.codegen.layout import generate, generate_entry
from yota.codegen.source import Source
from yota.codegen.standalone import standalone_source

__all__ = ["Source", "generate", "generate_entry", "standalone_source"]
