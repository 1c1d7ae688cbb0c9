"""A line to the service that a test can cut and mend: the service stays where it is."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tests.proxy import Proxy


@dataclass(frozen=True)
class Line:
    """Where the service is reached, what breaks all connections and refuses new ones, and what takes them again."""

    url: str
    cut: Callable[[], None]
    mend: Callable[[], None]


@contextmanager
def line_to(url: str) -> Iterator[Line]:
    """Lay a line to a service, a proxy in a thread of its own, while the body runs."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    proxy = Proxy(int(urlsplit(url).port or 0))

    def do(deed: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(deed, loop).result()

    do(proxy.restore())
    try:
        yield Line(f"http://127.0.0.1:{proxy.port}", lambda: do(proxy.cut()), lambda: do(proxy.restore()))
    finally:
        do(proxy.__aexit__(None, None, None))
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
