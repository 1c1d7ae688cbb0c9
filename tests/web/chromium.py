"""Where Chromium is, and how it is started."""

import shutil
from typing import Any

PATIENCE_MS = 60_000  # Generous, for a machine that runs much else: whoever waits goes on as soon as it holds.
LAUNCH: dict[str, Any] = {
    "chromium_sandbox": False,  # Root has none, and CI is root; it opens pages of loopback only.
    "args": ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],  # There is no Internet.
}


def chromium() -> str | None:
    """Return where Chromium is; None is nowhere."""
    return shutil.which("chromium", path="/usr/bin:/usr/local/bin:/snap/bin")
