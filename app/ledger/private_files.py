"""Make folders and files that only their owner may read, and write a file so that it is never half written."""

import os
import tempfile
from pathlib import Path

FOLDER_MODE = 0o700
FILE_MODE = 0o600


def make_private_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for the owner alone. Raise OSError if it cannot be made."""
    for each in (*reversed(folder.parents), folder):
        each.mkdir(mode=FOLDER_MODE, exist_ok=True)


def make_private_file(file: Path) -> None:
    """Make an empty file where there is none; one that is there stays as it is. OSError if it cannot be made."""
    if not file.exists():
        file.touch(mode=FILE_MODE, exist_ok=True)


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write the file beside, flush it, and put it in the place of the old one, which stays where OSError is raised."""
    data = content.encode() if isinstance(content, str) else content
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
