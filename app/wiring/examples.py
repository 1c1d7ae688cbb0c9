"""The questions that the page offers to begin with, by language, from a YAML file."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import Field, TypeAdapter, ValidationError

from app.wiring.scope import sample_corpus
from chains.errors import ConfigurationError
from chains.state import QUESTION_MAX_CHARACTERS

EXAMPLES_FILE = "examples.yaml"  # In the folder of the sample corpus, beside its scope file.
MOST = 12

_Question = Annotated[str, Field(min_length=1, max_length=QUESTION_MAX_CHARACTERS)]
_FILE = TypeAdapter(dict[str, Annotated[list[_Question], Field(max_length=MOST)]])


class ExampleQuestions:
    """The examples of a file; without one those of the sample corpus, as long as the index holds nothing else.

    Args:
        file: The file; None for the sample corpus's own.
        holds_own_documents: Whether a user's documents are in the index: the sample's questions do not fit them.

    Raises:
        ConfigurationError: the file cannot be read, or is not of the form `language: [question, ...]`.
    """

    def __init__(self, file: Path | None, holds_own_documents: Callable[[], bool]) -> None:
        self._chosen = file is not None
        self._holds_own_documents = holds_own_documents
        self._questions = _read(file or sample_corpus() / EXAMPLES_FILE)

    def of(self, language: str) -> Sequence[str]:
        """Return the questions in a language; none where the file has none in it."""
        fits = self._chosen or not self._holds_own_documents()
        return self._questions.get(language, []) if fits else []


def _read(file: Path) -> Mapping[str, Sequence[str]]:
    try:
        return _FILE.validate_python(yaml.safe_load(file.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as error:
        msg = (
            f"the example questions {str(file)!r} cannot be read ({_reason(error)}); EXAMPLES_FILE needs UTF-8 YAML "
            f'like `en: ["What is GST?"]`, at most {MOST} questions in each language'
        )
        raise ConfigurationError(msg) from error


def _reason(error: Exception) -> str:
    match error:
        case ValidationError():
            issue = error.errors()[0]
            return ": ".join([".".join(map(str, issue["loc"])), issue["msg"]]).removeprefix(": ")
        case yaml.MarkedYAMLError(problem_mark=yaml.Mark() as mark):
            return f"line {mark.line + 1}: {error.problem}"
        case OSError():
            return error.strerror or type(error).__name__
    return "it is not UTF-8 text without control characters"
