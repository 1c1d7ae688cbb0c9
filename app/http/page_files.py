"""What the page shows of its owner: example questions, teams, name, greeting and logo, from the folder of PAGE_PATH."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NotRequired

from pydantic import Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from app.wiring.storage import sample_corpus
from chains.errors import ConfigurationError, IngestionError
from chains.question import QUERY_MAX_CHARACTERS
from chains.regular_files import read_text
from chains.safe_yaml import YamlError, read_values

EXAMPLES, TEAMS, OWNER, LOGOS = "examples.yaml", "teams.yaml", "page.yaml", ("logo.svg", "logo.png")
MOST_EXAMPLES = 12

_Question = Annotated[str, Field(min_length=1, max_length=QUERY_MAX_CHARACTERS)]
_Words = Annotated[str, Field(min_length=1, max_length=200)]


@with_config({"extra": "forbid"})
class Example(TypedDict):
    """A question that the page offers, and the document that answers it, by its id."""

    question: _Question
    document: NotRequired[str]


@with_config({"extra": "forbid"})
class Team(TypedDict):
    """A team and its contact: an e-mail address, a telephone number, a channel."""

    name: _Words
    contact: NotRequired[_Words]


@with_config({"extra": "forbid"})
class Owner(TypedDict):
    """What stands in the page's header and title, and above its first question."""

    name: NotRequired[Annotated[str, Field(min_length=1, max_length=80)]]
    greeting: NotRequired[Annotated[str, Field(max_length=200)]]


Examples = Mapping[str, Sequence[str | Example]]
"""The questions of each language."""

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


def read_page_file(name: str, file: Path | None) -> Any:
    """Return the content of a file, or of the sample's of that name; ConfigurationError if it is not of its form."""
    file, (adapter, form) = file or sample_corpus() / name, _FORMS[name]
    try:
        return adapter.validate_python(read_values(read_text(file)))
    except (IngestionError, YamlError, ValidationError) as error:
        issue = error.errors()[0] if isinstance(error, ValidationError) else None
        detail = " ".join(str(f"{issue['loc']}: {issue['msg']}" if issue else error).split())
        msg = f"the page's file {str(file)!r} cannot be read ({detail}); {name} needs UTF-8 YAML like {form}"
        raise ConfigurationError(msg) from error


def offered(examples: Examples, language: str, present: Callable[[Collection[str]], Collection[str]]) -> list[str]:
    """Return the questions in a language that can be answered: their documents are among the `present` ones."""
    found = [Example(question=one) if isinstance(one, str) else one for one in examples.get(language, [])]
    named = [one["document"] for one in found if "document" in one]
    held = present(named) if named else ()
    return [one["question"] for one in found if "document" not in one or one["document"] in held]


def owner_of(folder: Path | None) -> Owner:
    """Return the name and the greeting of `page.yaml`; empty where there is none. Errors are those of its reading."""
    file = file_in(folder, OWNER)
    owner: Owner = read_page_file(OWNER, file) if file else Owner()
    return owner


def file_in(folder: Path | None, *names: str) -> Path | None:
    files = (folder / name for name in names if folder is not None)
    return next((file for file in files if file.is_file()), None)
