"""Save what a source sends into a file, up to its limits."""

import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from chains.errors import IngestionError


def save(parts: Iterable[bytes], folder: Path, *, max_bytes: int, timeout_s: float) -> Path:
    """Write the parts into a new file in the folder, and return it; of one that cannot be had whole nothing is left.

    Raise IngestionError if it is larger or slower than the limits allow.
    """
    end, size = time.monotonic() + timeout_s, 0
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".part", delete=False) as file:
        path = Path(file.name)
        try:
            for part in parts:
                size += len(part)
                if size > max_bytes or time.monotonic() > end:
                    limit = f"{max_bytes // 2**20} MB or {timeout_s:g} seconds"
                    msg = f"it is larger or slower than {limit} allows"
                    raise IngestionError(msg)
                file.write(part)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
    return path
