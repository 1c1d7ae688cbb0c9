"""What the page shows of its owner: example questions, teams, name, greeting and logo, from the folder of PAGE_PATH."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, NotRequired

from pydantic import Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from app.wiring.storage import sample_corpus
from chains.documents.audience import Audience
from chains.errors import ConfigurationError, IngestionError
from chains.question import QUERY_MAX_CHARACTERS
from chains.regular_files import read_text
from chains.safe_yaml import YamlError, read_values

EXAMPLES, TEAMS, OWNER, LOGOS = "examples.yaml", "teams.yaml", "page.yaml", ("logo.svg", "logo.png")


_Question = Annotated[str, Field(min_length=1, max_length=QUERY_MAX_CHARACTERS)]


@with_config({"extra": "forbid"})
class Example(TypedDict):
    """A question that the page offers, and the document that answers it, by its id."""

    question: _Question
    document: NotRequired[str]


MOST_EXAMPLES = 12


class ExampleQuestions:
    """Examples from a file, or the sample corpus's own: those that can be answered now.

    `present` returns which of the documents with these ids an audience may see; `english_only` says that questions in
    other languages cannot be answered. Raise ConfigurationError if the file is not readable as `language: [question,
    ...]`.
    """

    def __init__(
        self,
        file: Path | None,
        *,
        present: Callable[[Collection[str], Audience], Collection[str]],
        english_only: bool = False,
    ) -> None:
        self._by_language: dict[str, list[str | Example]] = _read(EXAMPLES, file)
        self._present = present
        self._english_only = english_only

    def of(self, language: str, audience: Audience) -> list[str]:
        given = [] if self._english_only and language != "en" else self._by_language.get(language, [])
        found = [Example(question=one) if isinstance(one, str) else one for one in given]
        named = [one["document"] for one in found if "document" in one]
        present = self._present(named, audience) if named else ()
        return [one["question"] for one in found if "document" not in one or one["document"] in present]


_Words = Annotated[str, Field(min_length=1, max_length=200)]


@with_config({"extra": "forbid"})
class Team(TypedDict):
    """A team and its contact: an e-mail address, a telephone number, a channel."""

    name: _Words
    contact: NotRequired[_Words]


class Teams:
    """Teams from a file, or those of the sample corpus while the index holds nothing else.

    Raise ConfigurationError if the file is not readable as `category: {name, contact}`.
    """

    def __init__(self, file: Path | None, holds_own_documents: Callable[[], bool]) -> None:
        self._chosen = file is not None
        self._holds_own_documents = holds_own_documents
        self._by_category: dict[str, Team] = _read(TEAMS, file)

    def by_category(self) -> Mapping[str, Team]:
        """Return the teams: by intent, by category, and `other`."""
        return self._by_category if self._chosen or not self._holds_own_documents() else {}


@with_config({"extra": "forbid"})
class Owner(TypedDict):
    """What stands in the page's header and title, and above its first question."""

    name: NotRequired[Annotated[str, Field(min_length=1, max_length=80)]]
    greeting: NotRequired[Annotated[str, Field(max_length=200)]]


def owner_of(folder: Path | None) -> Owner:
    """Return the name and the greeting of `page.yaml`; empty where there is none.

    Raise ConfigurationError if the file is not readable as `name: ...`, `greeting: ...`.
    """
    file = file_in(folder, OWNER)
    owner: Owner = _read(OWNER, file) if file else Owner()
    return owner


def file_in(folder: Path | None, *names: str) -> Path | None:
    files = (folder / name for name in names if folder is not None)
    return next((file for file in files if file.is_file()), None)


# What each file holds, and how that is written.
_FORMS: dict[str, tuple[TypeAdapter[Any], str]] = {
    EXAMPLES: (
        TypeAdapter(dict[str, Annotated[list[_Question | Example], Field(max_length=MOST_EXAMPLES)]]),
        f"`en: [What is GST?]`, at most {MOST_EXAMPLES} questions in each language",
    ),
    TEAMS: (
        TypeAdapter(dict[str, Team]),
        "`regulatory: {name: Customs desk, contact: customs@example.com}`, and `other` for everything else",
    ),
    OWNER: (TypeAdapter(Owner), "`name: Ask the clinic`, `greeting: What do you want to know?`"),
}


def _read(name: str, file: Path | None) -> Any:
    """Return the content of a file, or of the sample corpus's of that name."""
    file, (adapter, form) = file or sample_corpus() / name, _FORMS[name]
    try:
        return adapter.validate_python(read_values(read_text(file)))
    except (IngestionError, YamlError, ValidationError) as error:
        issue = error.errors()[0] if isinstance(error, ValidationError) else None
        detail = " ".join(str(f"{issue['loc']}: {issue['msg']}" if issue else error).split())
        msg = f"the page's file {str(file)!r} cannot be read ({detail}); {name} needs UTF-8 YAML like {form}"
        raise ConfigurationError(msg) from error
