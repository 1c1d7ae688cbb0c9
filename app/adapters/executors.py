"""Thread pools for work that keeps a core busy."""

import os
from concurrent.futures import ThreadPoolExecutor


def available_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def half_of_the_cores(name: str) -> ThreadPoolExecutor:
    """Return a pool with a thread for every second core; the other cores serve requests meanwhile.

    With more threads, callers that come together would all wait for the last one.
    """
    return ThreadPoolExecutor(max(1, available_cores() // 2), name)
