"""Read a file of questions (JSON lines); a bad line is named by its number and the reason."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from chains.errors import ConfigurationError, QuestionError
from chains.question import check_question

Kind = Literal["answerable", "uncovered", "action", "offdomain", "followup", "underspecified"]
IN_SCOPE: frozenset[Kind] = frozenset({"answerable", "followup"})
OUT_OF_SCOPE: frozenset[Kind] = frozenset({"uncovered", "action", "offdomain"})
KINDS: tuple[Kind, ...] = get_args(Kind)

_HERE = Path(__file__).parent
PACKAGED = {"sample": _HERE / "questions.jsonl", "smoke": _HERE / "smoke.jsonl"}
"""The question sets on the sample corpus: the whole, and ten of them."""


class QuestionSetError(ConfigurationError):
    """A file of questions cannot be read, or one of its lines does not fit."""


@dataclass(frozen=True, slots=True)
class Gold:
    """Where the answer stands: a document, and, where given, its section, the words that prove it, their page."""

    doc_id: str
    section: str | None = None
    evidence: str | None = None
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One question, what kind it is of, and what a right answer rests on; `form` is how it is put, in a word."""

    id: str
    question: str
    kind: Kind
    gold: tuple[Gold, ...] = ()
    answer_facts: tuple[str, ...] = ()
    history: tuple[Any, ...] = ()
    form: str | None = None

    @property
    def in_scope(self) -> bool:
        """Return whether the documents are expected to hold the answer."""
        return self.kind in IN_SCOPE


def find_questions(name: str) -> Path:
    """Return the file of that name; where there is none, the packaged set: `sample` or `smoke`."""
    path = Path(name)
    return PACKAGED[name] if name in PACKAGED and not path.exists() else path


def read_questions(path: Path) -> list[Case]:
    """Return the cases of a file, in its order; blank lines are passed over.

    Raises:
        QuestionSetError: it cannot be read, holds no question, or a line does not fit.
    """
    cases: dict[str, Case] = {}
    for number, line in read_lines(path, QuestionSetError):
        try:
            case = case_of(json.loads(line), str(number))
            _require(case.id not in cases, f"the id {case.id!r} was used before")
        except (ValueError, QuestionError) as error:
            raise QuestionSetError(f"{str(path)!r}, line {number}: {_reason(error)}") from error
        cases[case.id] = case
    if not cases:
        raise QuestionSetError(f"{str(path)!r} holds no question; write one JSON object a line")
    return list(cases.values())


def read_lines(path: Path, error_class: type[QuestionSetError]) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file of JSON lines that are not blank, each with its number from 1.

    Raises:
        QuestionSetError: it cannot be read; of the class given.
    """
    try:
        # Not splitlines(): a JSON string may hold other characters that it takes for the end of a line.
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise error_class(f"{str(path)!r} is not UTF-8 text") from error
    except OSError as error:
        raise error_class(f"{str(path)!r} cannot be read: {error.strerror}") from error
    yield from ((number, line) for number, line in enumerate(lines, start=1) if line.strip())


def case_of(values: Any, default_id: str = "") -> Case:
    """Return a case from its JSON object.

    Raises:
        ValueError: a field does not fit.
        QuestionError: the question is none.
    """
    _require(isinstance(values, dict), "a question is a JSON object")
    kind = values.get("kind", "answerable")
    _require(kind in KINDS, f"kind is {kind!r}; allowed are {', '.join(KINDS)}")
    facts, history = values.get("answer_facts") or [], values.get("history") or []
    _require(_are_texts(facts), "answer_facts must be a list of texts")
    _require(isinstance(history, list), "history must be a list of messages")
    gold, form = values.get("gold") or [], values.get("form")
    _require(isinstance(gold, list), "gold must be a list")
    _require(form is None or isinstance(form, str), "form must be text")
    return Case(
        id=str(values.get("id", default_id)),
        question=check_question(values.get("question")),
        kind=kind,
        gold=tuple(_gold(entry) for entry in gold),
        answer_facts=tuple(facts),
        history=tuple(history),
        form=form,
    )


def _gold(values: Any) -> Gold:
    _require(isinstance(values, dict), "an entry of gold is a JSON object")
    named = values.get("doc_id") or _doc_id(values.get("file"))
    if not isinstance(named, str):
        raise ValueError("an entry of gold needs doc_id or file")
    for name in ("section", "evidence"):
        _require(values.get(name) is None or isinstance(values[name], str), f"{name} of gold must be text")
    page = values.get("page")
    _require(page is None or (type(page) is int and page > 0), "page of gold must be a number from 1")
    return Gold(named, values.get("section"), values.get("evidence"), page)


def _doc_id(file: Any) -> str | None:
    """Return the document id of a path below the corpus folder: folders and name, joined by underscores."""
    return "_".join(Path(file).with_suffix("").parts) if isinstance(file, str) and file else None


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _require(holds: bool, reason: str) -> None:
    if not holds:
        raise ValueError(reason)


def _reason(error: Exception) -> str:
    return f"no JSON ({error.msg})" if isinstance(error, json.JSONDecodeError) else str(error)
