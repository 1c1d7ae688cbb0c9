"""Check a question and its limits before anything is done with them."""

import re
from collections.abc import Collection, Iterable
from typing import Any, cast

from chains.errors import ConfigurationError, QuestionError
from chains.state import Question, Searching
from chains.text.tokens import is_english

QUESTION_MAX_CHARACTERS = 4000
"""The longest question of the chain; QUERY_MAX_CHARACTERS is that of the contracts of /api/query and /chat."""
QUERY_MAX_CHARACTERS = 1000
QUESTION_PATTERN = r"[^\s\x1c-\x1f\x85]"
"""A character that `str.strip` keeps, written so that every dialect of regular expressions reads it alike."""

_HALF_A_PAIR = re.compile("[\ud800-\udfff]")


def check_question(question: object, most: int = QUESTION_MAX_CHARACTERS) -> str:
    """Return the question without blanks around it; QuestionError if it is blank, longer than `most`, or no text."""
    if not isinstance(question, str):
        raise QuestionError("Query parameter is required and must be a string")
    if not question.strip():
        raise QuestionError("Query cannot be empty")
    if len(question) > most:
        raise QuestionError(f"Query exceeds maximum length of {most} characters")
    if not is_text(question):
        raise QuestionError("Query contains invalid Unicode (unpaired surrogate)")
    return question.strip()


def question_with(text: str, **options: Any) -> Question:
    """Return a question with those of its other fields that are given: neither None nor empty."""
    given = {name: value for name, value in options.items() if value not in (None, "", [], {})}
    return cast("Question", {"question": text} | given)


def check_fields(given: Iterable[str], known: Collection[str], of: str) -> None:
    """Raise ConfigurationError for a keyword that is not `known`; most callers of a wrong one mean one of them."""
    if unknown := sorted(set(given) - set(known)):
        raise ConfigurationError(f"{unknown[0]!r} is no field of {of}; it has {', '.join(known)}")


def check_limits(top_k: object, threshold: object) -> None:
    """Raise QuestionError unless `top_k` is a whole number from 0, and `threshold` one from 0 to 1; None is none."""
    if top_k is not None and (isinstance(top_k, bool) or not isinstance(top_k, int) or top_k < 0):
        raise QuestionError(f"top_k must be a whole number of at least 0, not {top_k!r}")
    if threshold is not None and (
        isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold <= 1
    ):
        raise QuestionError(f"threshold must be a number from 0 to 1, not {threshold!r}")


def question_of(state: Question) -> str:
    """Return the question without blanks around it; QuestionError where there is none that `check_question` takes."""
    if "question" not in state:
        msg = f"Query parameter is required: pass {{'question': '...'}}, not {{{', '.join(map(repr, state))}}}"
        raise QuestionError(msg)
    return check_question(state["question"])


def readable(state: Searching) -> str:
    """Return the question in a language that the documents can be read in: its translation, or the question itself."""
    return state.get("translation") or state["question"]


def is_readable(state: Searching) -> bool:
    """Return whether what reads English only can read the question."""
    if "translation" in state:
        return True
    return not state.get("foreign") and is_english(state["question"], state.get("language"))


def query_of(state: Searching) -> str:
    """Return the search query, the reformulated one or the question itself, as `check_question` takes it."""
    query = state.get("search_query")
    return check_question(query) if query else question_of(state)


def is_text(words: str) -> bool:
    """Return whether the words are valid Unicode; JSON allows unpaired surrogates, which are not."""
    return _HALF_A_PAIR.search(words) is None
