"""Checks: each goes from the values of a call to findings."""

from yotaview.model.findings import Finding

__all__ = ["Finding"]
