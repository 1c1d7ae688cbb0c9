"""How often a passage supports the sentence that answers, in answers that two models wrote to the project's questions.

Each has the passages that its model was shown (lines of `model_passages.jsonl`, by their numbers) and a developer's
label. All were seen when `LEAST_SUPPORT` and the rules around it were chosen, so unseen answers will do worse.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from app.adapters.embeddings.onnx import WordVectors, find_weights
from chains.citations.cited_sentences import sentences_of
from chains.citations.evidence import asked_about
from chains.citations.references import read_numbers
from chains.citations.verification import leading, turns_in_circles, verify
from chains.ports import WordSimilarity
from chains.state import Passage
from chains.text.asking import gives_what_is_asked


def read(name: str) -> list[dict[str, Any]]:
    text = Path(__file__).with_name(f"model_{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


PASSAGES = [Passage(content=one["content"], metadata=one["metadata"], score=None) for one in read("passages")]
QUESTIONS = list(enumerate(read("answers")))
# Of the right answers that are supported at least, and of the wrong ones at most. The first two groups are answers over
# three or four passages, the third those of a run through the service, over ten.
GROUPS = {
    "three or four passages, first half": (lambda n, id_: n % 2 == 0 and not id_.endswith("-service"), 38, 4),
    "three or four passages, second half": (lambda n, id_: n % 2 == 1 and not id_.endswith("-service"), 37, 3),
    "through the service": (lambda n, id_: id_.endswith("-service"), 34, 4),
}


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


@pytest.mark.parametrize(("is_of", "least", "most"), GROUPS.values(), ids=GROUPS)
def test_right_answers_are_supported_and_wrong_ones_are_not(is_of, least, most):
    similarity, supported = WordVectors(find_weights()), {True: 0, False: 0}
    for question in (one for number, one in QUESTIONS if is_of(number, one["id"])):
        shown = [PASSAGES[place] for place in question["shown"]]
        for answer in question["answers"]:
            supported[answer["right"]] += is_supported(question["question"], answer["text"], shown, similarity)

    assert supported[True] >= least
    assert supported[False] <= most
