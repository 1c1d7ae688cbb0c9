"""Make the names of uploaded files safe."""

import re
import unicodedata
from collections.abc import Collection

MAX_BYTES = 180  # Length of a name without its extension; most file systems allow 255.
_FORBIDDEN = re.compile(r'[<>:"|?*]')
_SPACES = re.compile(r"\s+")
# Windows treats them as devices, with any extension.
_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


class FileNameError(ValueError):
    """A file cannot be stored under its name; the message says why."""


def safe_name(given: str, endings: Collection[str]) -> str:
    """Return the name to store a file under: its last part, without unsafe or invisible characters.

    Raises:
        FileNameError: nothing is left of it, no loader reads its extension, or an ingestion would skip it.
    """
    last = unicodedata.normalize("NFC", given).replace("\\", "/").rpartition("/")[2]
    shown = "".join(sign for sign in last if sign.isspace() or not unicodedata.category(sign).startswith("C"))
    name = _SPACES.sub(" ", _FORBIDDEN.sub("_", shown)).strip(" .")
    stem, dot, ending = name.rpartition(".")
    if not dot or not stem.strip(" ."):
        msg = f"it needs a name with one of the extensions {', '.join(sorted(endings))}"
        raise FileNameError(msg)
    if f".{ending.lower()}" not in endings:
        msg = f"files that end in .{ending} cannot be read; the extensions are {', '.join(sorted(endings))}"
        raise FileNameError(msg)
    if stem.upper() == "README":
        msg = "a README describes a folder and is not read; give it another name"
        raise FileNameError(msg)
    stem = stem.encode()[:MAX_BYTES].decode(errors="ignore").rstrip(" .")
    return f"{'_' if _DEVICE.fullmatch(stem) else ''}{stem}.{ending.lower()}"
