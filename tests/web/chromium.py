"""Where Chromium is, and how it is started."""

import shutil
from typing import Any

PATIENCE_MS = 60_000  # Generous, for a machine that runs much else: whoever waits goes on as soon as it holds.
LAUNCH: dict[str, Any] = {
    "chromium_sandbox": False,  # Root has none, and CI is root; it opens pages of loopback only.
    "args": ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],  # There is no Internet.
}


def chromium() -> str | None:
    """Return where Chromium is, without its windows where that is installed; None is nowhere.

    The whole browser starts its own tabs and menus beside each page, even without a window: five times the work.
    """
    places = "/usr/bin:/usr/local/bin:/snap/bin"
    return shutil.which("chromium-headless-shell", path=places) or shutil.which("chromium", path=places)
