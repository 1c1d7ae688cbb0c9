"""Measure how long `waypoint insights` takes over 10,000 logged answers: `python -m benchmarks.insights`.

The questions of evals/questions.jsonl are answered offline and logged, then logged again in five wordings over ten
weeks. How well the groups keep apart what is meant is counted on the questions that one section answers: pairs of one
section that share a group, and pairs of two sections that do.
"""

import tempfile
import time
from contextlib import closing
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from uuid import uuid4

from app.ledger.answers import DAY_S, AnswerStore, LoggedAnswer
from app.wings.knowledge.answer_log import KeptAnswers, open_answers
from app.wings.knowledge.insights import grouped, insights, lacks_answer
from app.wiring import Services
from benchmarks.offline import QUESTIONS, offline, report
from chains.observers import Call
from evals.questions import Case, read_questions

LOGGED = 10_000
WORDINGS = ("{}", "Please tell me: {}", "{} Thanks", "A customer asks: {}", "Urgent! {}")


def main() -> None:
    """Log, report, print the table, and keep it in docs/figures.json."""
    cases = [case for case in read_questions(QUESTIONS) if not case.history]
    with tempfile.TemporaryDirectory() as place:
        services = offline(Path(place))
        store = open_answers(services.settings)
        first = _first(services, cases)
        _log(store, first)
        started = time.perf_counter()
        found = insights(store, services, since=0)
        seconds = time.perf_counter() - started
        lacking = {one.question for one in store.answers() if lacks_answer(one)}
        apart = _apart(cases, services)
    rows = [
        ("logged answers", found.asked),
        ("different questions without a sure answer", len(lacking)),
        ("groups shown", len(found.gaps)),
        ("seconds", round(seconds, 1)),
        ("pairs of one section in one group", f"{apart[0]} of {apart[1]}"),
        ("pairs of two sections in one group", f"{apart[2]} of {apart[3]}"),
    ]
    report("insights", ("what", "measured"), rows)


def _first(services: Services, cases: list[Case]) -> list[LoggedAnswer]:
    """Return each question's answer as it is logged."""
    store = open_answers(services.settings)
    with closing(KeptAnswers(store, services)) as log:
        for case in cases:
            answer = services.chain.invoke({"question": case.question})
            log.ended(Call({"question": case.question}, answer=answer))
        log.rate("none", 0, None, user_id=None, audience="public")  # Comes behind the answers.
    return list(store.answers())


def _log(store: AnswerStore, first: list[LoggedAnswer]) -> None:
    for number in range(LOGGED - len(first)):
        one = first[number % len(first)]
        question = WORDINGS[number // len(first) % len(WORDINGS)].format(one.question)
        at = store.now() - number * 70 * DAY_S / LOGGED
        store.add(replace(one, trace_id=str(uuid4()), question=question, at=at))


def _apart(cases: list[Case], services: Services) -> tuple[int, int, int, int]:
    sections = {case.question: (case.gold[0].doc_id, case.gold[0].section) for case in cases if case.gold}
    answers = [
        LoggedAnswer(str(uuid4()), 0, question, None, None, "internal", "unsure", None, None, None, None, None)
        for question in sections
    ]
    groups = {one.question: number for number, some in enumerate(grouped(answers, services.embedder)) for one in some}
    pairs = [
        (sections[first] == sections[second], groups[first] == groups[second])
        for first, second in combinations(sections, 2)
    ]
    same, other = [together for one, together in pairs if one], [together for one, together in pairs if not one]
    return sum(same), len(same), sum(other), len(other)


if __name__ == "__main__":
    main()
