"""The YAML files with data for the page: example questions and teams, the user's own or the sample corpus's."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Generic, NotRequired, TypeVar

import yaml
from pydantic import Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from app.wiring.scope import sample_corpus
from chains.errors import ConfigurationError
from chains.question import QUERY_MAX_CHARACTERS

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


MOST_EXAMPLES = 12

_Question = Annotated[str, Field(min_length=1, max_length=QUERY_MAX_CHARACTERS)]
_EXAMPLES = TypeAdapter(dict[str, Annotated[list[_Question], Field(max_length=MOST_EXAMPLES)]])
_EXAMPLES_FORM = f"`en: [What is GST?]`, at most {MOST_EXAMPLES} questions in each language"


class ExampleQuestions:
    """Examples from a file, or those of the sample corpus while the index holds nothing else.

    Args:
        file: The file; None for the sample corpus's own.
        holds_own_documents: Whether a user's documents are in the index, which the sample's questions do not match.

    Raises:
        ConfigurationError: the file is not readable as `language: [question, ...]`.
    """

    def __init__(self, file: Path | None, holds_own_documents: Callable[[], bool]) -> None:
        self._file = PageFile(
            "EXAMPLES_FILE", file, _EXAMPLES, form=_EXAMPLES_FORM, holds_own_documents=holds_own_documents
        )

    def of(self, language: str) -> Sequence[str]:
        """Return the questions in a language, if there are any."""
        return (self._file.content() or {}).get(language, [])


_Words = Annotated[str, Field(min_length=1, max_length=200)]
_TEAMS_FORM = "`regulatory: {name: Customs desk, contact: customs@example.com}`, and `other` for everything else"


@with_config({"extra": "forbid"})
class Team(TypedDict):
    """A team and its contact: an e-mail address, a telephone number, a channel."""

    name: _Words
    contact: NotRequired[_Words]


_FORM = TypeAdapter(dict[str, Team])


class Teams:
    """Teams from a file, or those of the sample corpus while the index holds nothing else.

    Raises:
        ConfigurationError: the file is not readable as `category: {name, contact}`.
    """

    def __init__(self, file: Path | None, holds_own_documents: Callable[[], bool]) -> None:
        self._file = PageFile("TEAMS_FILE", file, _FORM, form=_TEAMS_FORM, holds_own_documents=holds_own_documents)

    def by_category(self) -> Mapping[str, Team]:
        """Return the teams: by intent, by category, and `other`."""
        return self._file.content() or {}
