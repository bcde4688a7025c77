"""Python source from a tape."""

from yota.codegen.layout import generate
from yota.codegen.source import Source
from yota.codegen.standalone import standalone_source

__all__ = ["Source", "generate", "standalone_source"]
