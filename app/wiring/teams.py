"""Teams to contact when the documents have no answer, by the question's intent or the nearest document's category."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, NotRequired

from pydantic import Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from app.wiring.page_file import PageFile

_Words = Annotated[str, Field(min_length=1, max_length=200)]
_NEEDED = "`regulatory: {name: Customs desk, contact: customs@example.com}`, and `other` for everything else"


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
        self._file = PageFile("TEAMS_FILE", file, _FORM, form=_NEEDED, holds_own_documents=holds_own_documents)

    def by_category(self) -> Mapping[str, Team]:
        """Return the teams: by intent, by category, and `other`."""
        return self._file.content() or {}
