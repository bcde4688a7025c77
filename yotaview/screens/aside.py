"""Threads for what the screen finds in the background: leaving it waits for none of them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any


class Aside(ThreadPoolExecutor):
    """Gives each piece of work a thread that the end of the program does not wait for.

    It is a ThreadPoolExecutor for asyncio alone, which takes no other; none of its pool is used.
    """

    def submit(self, act: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Begin the work at once."""
        future: Future[Any] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = act(*args, **kwargs)
            except BaseException as error:  # the future hands it on
                future.set_exception(error)
            else:
                future.set_result(result)

        threading.Thread(target=run, daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Wait for nothing."""
