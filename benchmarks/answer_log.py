"""Measure what the log of answers costs an answer: `python -m benchmarks.answer_log`.

The questions of evals/questions.jsonl are answered offline from the sample corpus, and logged several times over.
"""

import tempfile
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from statistics import median, quantiles
from typing import Any, cast
from uuid import uuid4

from app.wings.knowledge.answer_log import KeptAnswers, open_answers
from app.wiring import Services
from benchmarks.offline import QUESTIONS, offline, report
from chains.observers import Call
from chains.state import Answer
from evals.questions import read_questions

ROUNDS = 10


def main() -> None:
    """Answer, log, and print the table; keep it in docs/figures.json."""
    with tempfile.TemporaryDirectory() as place:
        services = offline(Path(place))
        calls = [answered(services, row.question) for row in read_questions(QUESTIONS)]
        costs, size = logged(services, calls)
    waits, works = zip(*costs, strict=True)
    rows = [
        ("an answer waits, ms", round(median(waits), 2), round(quantiles(waits, n=20)[-1], 2)),
        ("processor time beside it, ms", round(median(works), 2), round(quantiles(works, n=20)[-1], 2)),
        ("kB on disk", round(size / len(costs) / 1000, 2), ""),
    ]
    report("answer_log", ["what", "median", "95 of 100 at most"], rows, answers=len(costs))


def answered(services: Services, question: str) -> Call:
    """Return the call of a question, as an observer gets it."""
    return Call({"question": question}, {"user_id": "anna"}, answer=services.chain.invoke({"question": question}))


def logged(services: Services, calls: list[Call]) -> tuple[list[tuple[float, float]], int]:
    """Return for each answer what it waits for its log, and what that takes of the processor; and the file's bytes."""
    store = open_answers(services.settings)
    with closing(KeptAnswers(store, services)) as log:
        costs = [_cost(log, again(call)) for _ in range(ROUNDS) for call in calls]
    store.database.scrub()
    return costs, sum(file.stat().st_size for file in Path(store.database.place).parent.iterdir())


def again(call: Call) -> Call:
    """Return the call as if it were asked anew."""
    answer: Any = call.answer
    metadata = {**answer["metadata"], "trace_id": str(uuid4())}
    return replace(call, answer=cast("Answer", {**answer, "metadata": metadata}))


def _cost(log: KeptAnswers, call: Call) -> tuple[float, float]:
    started, worked = time.perf_counter(), time.process_time()
    log.ended(call)
    waited = time.perf_counter() - started
    log.rate("none", 0, None, user_id=None, audience="public")  # Comes behind the answer.
    return 1000 * waited, 1000 * (time.process_time() - worked)


if __name__ == "__main__":
    main()
