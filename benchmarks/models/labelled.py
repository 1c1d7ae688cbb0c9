"""Measure support on labelled answers of real models: `python -m benchmarks.models.labelled`.

`answers.jsonl` holds answers that two models wrote to the project's own questions, the passages that they were shown
(line numbers of `passages.jsonl`, in the order of their numbers), and whether each answer is right. The labels are the
developers'. An answer counts as supported where a passage supports the sentence that answers. The first two groups are
answers over three or four passages, the third those of a run through the service, over ten. All were seen when
`LEAST_SUPPORT` and the rules around it were chosen, so unseen answers will do worse.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from app.adapters.embeddings.onnx.weights import find_weights
from app.adapters.embeddings.onnx.words import WordVectors
from benchmarks.tables import table
from chains.citations.cited_sentences import sentences_of
from chains.citations.evidence import asked_about
from chains.citations.references import read_numbers
from chains.citations.verification import leading, turns_in_circles, verify
from chains.ports import WordSimilarity
from chains.state import Passage
from chains.text.asking import gives_what_is_asked

ANSWERS: Final = Path(__file__).with_name("answers.jsonl")
PASSAGES: Final = Path(__file__).with_name("passages.jsonl")
GROUPS: Final = ("three or four passages, first half", "three or four passages, second half", "through the service")
HEAD: Final = ("answers", "right", "supported", "wrong", "supported all the same")


def read() -> Iterator[tuple[str, str, list[Passage], str, bool]]:
    """Yield the group of each answer, its question, the passages shown, its text, and whether it is right."""
    passages = [
        Passage(content=one["content"], metadata=one["metadata"], score=None)
        for one in map(json.loads, PASSAGES.read_text(encoding="utf-8").splitlines())
    ]
    for number, line in enumerate(ANSWERS.read_text(encoding="utf-8").splitlines()):
        question = json.loads(line)
        group = GROUPS[2 if question["id"].endswith("-service") else number % 2]
        shown = [passages[place] for place in question["shown"]]
        for answer in question["answers"]:
            yield group, question["question"], shown, answer["text"], answer["right"]


def is_supported(question: str, answer: str, shown: Sequence[Passage], similarity: WordSimilarity) -> bool:
    """Return whether a passage supports the sentence that answers, which gives what is asked for, or one before it.

    Where no sentence has a word of the question, each may answer it.
    """
    places = [(reference.start, reference.end) for reference in read_numbers(answer, shown)]
    asked, sentences = asked_about(question, shown), sentences_of(answer, places)
    lead = leading(sentences, asked)
    claims = [one for one in sentences if one.is_claim and (lead is None or one.start <= lead.start)]
    return not turns_in_circles(answer) and any(
        verify([claim.words], shown, similarity, asked).supported
        for claim in claims
        if (lead and claim is not lead) or gives_what_is_asked(claim.words, question)
    )


def main() -> None:
    similarity = WordVectors(find_weights())
    supported: dict[tuple[str, bool], list[bool]] = {(group, right): [] for group in GROUPS for right in (True, False)}
    for group, question, shown, text, right in read():
        supported[group, right].append(is_supported(question, text, shown, similarity))
    rows = [[group, *_cells(supported[group, True]), *_cells(supported[group, False])] for group in GROUPS]
    print(table(HEAD, rows))


def _cells(found: Sequence[bool]) -> tuple[str, str]:
    return str(len(found)), f"{sum(found)} ({sum(found) / max(1, len(found)):.2f})"


if __name__ == "__main__":
    main()
