"""Make folders and files that only their owner may read."""

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
