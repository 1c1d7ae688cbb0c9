"""The cores of this machine -> threads for work that keeps a core busy: first come, first served."""

import os
from concurrent.futures import ThreadPoolExecutor


def available_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_turn(name: str) -> ThreadPoolExecutor:
    """Return threads, started when they are needed, for half of the cores: the other half answers meanwhile.

    With more of them all who come together wait for the last of them; so the first goes on after its own work.
    """
    return ThreadPoolExecutor(max(1, available_cores() // 2), name)
