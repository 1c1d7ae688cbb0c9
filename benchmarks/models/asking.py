"""Ask a chain one question as a reader does, by its stream, and keep what the model wrote and what became of it."""

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NotRequired
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.outputs import LLMResult

from app.wiring import Services
from benchmarks.figures import git
from benchmarks.models.poisoned import SIGNS, seen_of
from benchmarks.models.tasks import Task
from chains.output import merge
from chains.state import Question
from evals.judge import Judge
from evals.rows import Row, row_of

ANSWERING = ("app", "chains", "prompts")
# What the prompt that makes a follow-up stand alone holds, and no other.
CONDENSING = "<conversation>"


class ModelRow(Row):
    """What became of one question; times in milliseconds from the question.

    `raw` is what the model wrote, `condensed` what it made of a follow-up, `obeyed` and `acted` the signs of a
    document's order in its words and in what the reader saw.
    """

    set: str
    commit: str
    question: str
    raw: str | None
    condensed: str | None
    first_token_ms: float | None
    first_word_ms: float | None
    latency_ms: float
    search_query: str
    usage: dict[str, int] | None
    finish_reason: str | None
    draft: NotRequired[str | None]
    unsupported: NotRequired[Any]
    obeyed: list[str]
    acted: list[str]


class Heard(BaseCallbackHandler):
    """Notes what the model wrote and when it began, apart for answers and for condensed questions."""

    run_inline = True

    def __init__(self) -> None:
        self.started = time.perf_counter()
        self.first_token_ms: float | None = None
        self.texts: dict[str, str] = {}
        self._kinds: dict[UUID, str] = {}

    def on_chat_model_start(self, serialized: Any, messages: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Note what is asked for."""
        system = str(messages[0][0].content)
        self._kinds[run_id] = "condensed" if CONDENSING in system else "raw"

    def on_llm_new_token(self, token: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Note when an answer begins."""
        if token and self.first_token_ms is None and self._kinds.get(run_id) == "raw":
            self.first_token_ms = self.elapsed_ms()

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        """Note the words."""
        self.texts[self._kinds.get(run_id, "raw")] = response.generations[0][0].text

    def elapsed_ms(self) -> float:
        """Return the milliseconds since the question."""
        return round(1000 * (time.perf_counter() - self.started), 1)


def ask(services: Services, task: Task, *, judge: Judge | None, commit: str) -> ModelRow:
    """Return the row of a task."""
    question = Question(question=task.case.question, history=list(task.case.history))
    heard, first_word_ms, parts = Heard(), None, []
    for part in services.chain.stream(question, {"callbacks": [heard]}):
        parts.append(part)
        if first_word_ms is None and str(part.get("answer") or "").strip():
            first_word_ms = heard.elapsed_ms()
    answer = merge(parts)
    raw = heard.texts.get("raw")
    row: Any = {
        **row_of(task.case.id, answer),
        **{name: answer.get(name) for name in ("draft", "unsupported") if name in answer},
        "set": task.set,
        "commit": commit,
        "question": task.case.question,
        "raw": raw,
        "condensed": heard.texts.get("condensed"),
        "first_token_ms": heard.first_token_ms,
        "first_word_ms": first_word_ms,
        **{name: answer["metadata"][name] for name in ("latency_ms", "search_query", "usage", "finish_reason")},
        "obeyed": _signs(json.dumps(raw or "", ensure_ascii=False)) if task.set == "poisoned" else [],
        "acted": _signs(seen_of(_shown(answer))) if task.set == "poisoned" else [],
    }
    if judge is not None and task.judged:
        row = {**row, **judge.judged(task.case, row)}
    found: ModelRow = row
    return found


def _shown(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return what reaches a reader as an answer; the question and the passages are not the model's."""
    return {name: value for name, value in answer.items() if name not in {"documents", "question", "closest"}}


def _signs(words: str) -> list[str]:
    return [sign for sign in SIGNS if sign in words]


def code_asked() -> str:
    """Return the last commit that changed what answers, with a plus sign where files differ from it."""
    last = git("log", "-1", "--format=%h", "--", *ANSWERING)
    return f"{last}+" if git("status", "--porcelain", "--", *ANSWERING) else last


def read_rows(file: Path) -> dict[tuple[str, str], ModelRow]:
    """Return the rows of an earlier run by set and id; a last line that was cut off is left out, also of the file."""
    if not file.exists():
        return {}
    text = file.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        file.write_text(whole, encoding="utf-8")
    return {(row["set"], row["id"]): row for row in map(json.loads, _lines(whole))}


def _lines(text: str) -> Iterator[str]:
    yield from (line for line in text.split("\n") if line.strip())
