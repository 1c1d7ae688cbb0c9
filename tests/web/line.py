"""A line to the service that a test can cut and mend: the service stays where it is."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from tests.proxy import Proxy


class Line:
    """A proxy in a thread of its own.

    Attributes:
        url: Where the service is reached through it.
    """

    def __init__(self, proxy: Proxy, loop: asyncio.AbstractEventLoop) -> None:
        self.url = f"http://127.0.0.1:{proxy.port}"
        self._proxy = proxy
        self._loop = loop

    def cut(self) -> None:
        """Break all connections, and refuse new ones."""
        self._do(self._proxy.cut())

    def mend(self) -> None:
        """Take connections again."""
        self._do(self._proxy.restore())

    def _do(self, deed: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(deed, self._loop).result()


@contextmanager
def line_to(url: str) -> Iterator[Line]:
    """Lay a line to a service while the body runs."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    proxy = Proxy(int(urlsplit(url).port or 0))
    line = Line(proxy, loop)
    line.mend()
    try:
        yield line
    finally:
        asyncio.run_coroutine_threadsafe(proxy.__aexit__(None, None, None), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
