"""The names of uploaded files, made safe: they come from strangers' machines, or from an attacker."""

import re
import unicodedata
from collections.abc import Collection

MAX_BYTES = 180  # Of a name without its ending; most file systems take 255.
_FORBIDDEN = re.compile(r'[<>:"|?*]')
_SPACES = re.compile(r"\s+")
# Windows takes them for devices, with any ending.
_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


class FileNameError(ValueError):
    """A file cannot be kept under its name; the message says why."""


def safe_name(given: str, endings: Collection[str]) -> str:
    """Return the name under which a file is kept: its last part, without what no system or screen should be shown.

    Raises:
        FileNameError: nothing is left of it, no loader reads its ending, or an ingestion would pass it over.
    """
    last = unicodedata.normalize("NFC", given).replace("\\", "/").rpartition("/")[2]
    shown = "".join(sign for sign in last if sign.isspace() or not unicodedata.category(sign).startswith("C"))
    name = _SPACES.sub(" ", _FORBIDDEN.sub("_", shown)).strip(" .")
    stem, dot, ending = name.rpartition(".")
    if not dot or not stem.strip(" ."):
        msg = f"it needs a name with one of the endings {', '.join(sorted(endings))}"
        raise FileNameError(msg)
    if f".{ending.lower()}" not in endings:
        msg = f"files that end in .{ending} cannot be read; the endings are {', '.join(sorted(endings))}"
        raise FileNameError(msg)
    if stem.upper() == "README":
        msg = "a README describes a folder and is not read; give it another name"
        raise FileNameError(msg)
    stem = stem.encode()[:MAX_BYTES].decode(errors="ignore").rstrip(" .")
    return f"{'_' if _DEVICE.fullmatch(stem) else ''}{stem}.{ending.lower()}"
