"""Read a YAML file with data for the page: the user's own, or the sample corpus's."""

from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

import yaml
from pydantic import TypeAdapter, ValidationError

from app.wiring.scope import sample_corpus
from chains.errors import ConfigurationError

Content = TypeVar("Content")


class PageFile(Generic[Content]):
    """Content of a file, or that of the sample corpus while the index holds nothing else.

    Args:
        setting: The setting that names the user's own file, for messages.
        file: The file; None for the sample corpus's own, which has the setting's name.
        adapter: Checks the content.
        form: The expected form, for messages.
        holds_own_documents: Whether a user's documents are in the index, which the sample's data does not match.

    Raises:
        ConfigurationError: the file cannot be read, or has another form.
    """

    def __init__(
        self,
        setting: str,
        file: Path | None,
        adapter: TypeAdapter[Content],
        *,
        form: str,
        holds_own_documents: Callable[[], bool],
    ) -> None:
        self._chosen = file is not None
        self._holds_own_documents = holds_own_documents
        sample = sample_corpus() / f"{setting.removesuffix('_FILE').lower()}.yaml"
        self._content = _read(file or sample, adapter, f"{setting} needs UTF-8 YAML like {form}")

    def content(self) -> Content | None:
        """Return the content; None if it is the sample's and the index has other documents."""
        return self._content if self._chosen or not self._holds_own_documents() else None


def _read(file: Path, adapter: TypeAdapter[Content], needed: str) -> Content:
    try:
        return adapter.validate_python(yaml.safe_load(file.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as error:
        problem = (
            f"{error.errors()[0]['loc']}: {error.errors()[0]['msg']}" if isinstance(error, ValidationError) else error
        )
        msg = f"the page's file {str(file)!r} cannot be read ({' '.join(str(problem).split())}); {needed}"
        raise ConfigurationError(msg) from error
