"""Run the user's script once, in this terminal, and keep what the engine did."""

from yotaview.capture.rows import Capture, Failure, KeptCall, Limits, Row
from yotaview.capture.runner import run_script

__all__ = ["Capture", "Failure", "KeptCall", "Limits", "Row", "run_script"]
