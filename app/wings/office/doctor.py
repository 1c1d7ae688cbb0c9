"""What `waypoint doctor` tries of the readers of Office files."""

from collections.abc import Iterator
from importlib.util import find_spec

from app.ports import Trial
from chains.errors import ConfigurationError

PACKAGES = ("mammoth", "openpyxl", "pptx")


def trials(_settings: object) -> Iterator[Trial]:
    yield Trial("office files", _installed, "pip install 'waypoint-copilot[office]'", required=False)


def _installed() -> str:
    missing = [package for package in PACKAGES if find_spec(package) is None]
    if missing:
        msg = f"Word, Excel and PowerPoint files are not read: {', '.join(missing)} not installed"
        raise ConfigurationError(msg)
    return "Word, Excel and PowerPoint files are read"
