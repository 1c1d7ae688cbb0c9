"""Example questions of the page, by language, from a YAML file."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter

from app.wiring.page_file import PageFile
from chains.state import QUERY_MAX_CHARACTERS

MOST = 12

_Question = Annotated[str, Field(min_length=1, max_length=QUERY_MAX_CHARACTERS)]
_FORM = TypeAdapter(dict[str, Annotated[list[_Question], Field(max_length=MOST)]])
_NEEDED = f"`en: [What is GST?]`, at most {MOST} questions in each language"


class ExampleQuestions:
    """Examples from a file, or those of the sample corpus while the index holds nothing else.

    Args:
        file: The file; None for the sample corpus's own.
        holds_own_documents: Whether a user's documents are in the index, which the sample's questions do not match.

    Raises:
        ConfigurationError: the file is not readable as `language: [question, ...]`.
    """

    def __init__(self, file: Path | None, holds_own_documents: Callable[[], bool]) -> None:
        self._file = PageFile("EXAMPLES_FILE", file, _FORM, form=_NEEDED, holds_own_documents=holds_own_documents)

    def of(self, language: str) -> Sequence[str]:
        """Return the questions in a language, if there are any."""
        return (self._file.content() or {}).get(language, [])
