from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.ports import ChunkPlace
from chains.retrieval.strategies import PER_DOCUMENT, Candidate, rank
from tests.cases import cases


def candidate(name, score, *, document=None, number=0, section="S", text=None):
    return Candidate(name, score, ChunkPlace(document or name, number, section, text or name))


def of_one_document(count, document="d", score=0.9):
    return [
        candidate(f"{document}{n}", score - n / 100, document=document, number=n, text=f"{document}{n}")
        for n in range(count)
    ]


def three(section):
    return [candidate(str(number), 0.4, document="d", number=number, section=section) for number in range(3)]


LAW = [
    candidate("faq", 0.6, text="the rate is nine percent"),
    candidate("rule", 0.5, document="law", text="the rate is nine percent now"),
    candidate("more", 0.3, document="law", number=1, text="exemptions and schemes"),
]
NEAR = [candidate("near", 0.5, document="d"), candidate("exact", 0.4, document="d", number=1)]
NAMED = [*of_one_document(1, "other", 0.6), *of_one_document(PER_DOCUMENT + 2, "named", 0.5)]
RANKED: dict[str, Any] = {
    "a chunk without section borrows from its neighbour": [(three(""), {"2": 10.0}, {}, ["2", "1", "0"])],
    "a chunk with a section borrows nothing": [(three("S"), {"2": 10.0}, {}, ["2", "0", "1"])],
    "of near duplicates the document that says more leads": [(LAW, {}, {}, ["rule", "faq", "more"])],
    "one document does not fill the list": [
        (
            [*of_one_document(PER_DOCUMENT + 2), candidate("other", 0.1)],
            {},
            {},
            [*(f"d{n}" for n in range(PER_DOCUMENT)), "other"],
        )
    ],
    "a document that the question names leads and may fill the list": [
        (NAMED, {}, {"named": 1.0}, [*(f"named{n}" for n in range(PER_DOCUMENT + 2)), "other0"]),
        (NAMED, {}, {"named": 0.2}, ["other0"]),
    ],
    "the words say less where a document is named": [
        (NEAR, {"exact": 8.0}, {}, ["exact", "near"]),
        (NEAR, {"exact": 8.0}, {"d": 1.0}, ["near", "exact"]),
    ],
}


@pytest.mark.parametrize(("chunks", "words", "named", "first"), cases(RANKED))
def test_chunks_are_ranked_by_words_sections_and_documents(chunks, words, named, first):
    assert [one.id for one in rank(chunks, words, named=named)][: len(first)] == first


def test_words_lift_a_chunk_over_a_nearer_one():
    ranked = rank([candidate("near", 0.5), candidate("exact", 0.4)], {"exact": 8.0})

    assert [(one.id, round(one.fused, 3)) for one in ranked] == [("exact", 0.6), ("near", 0.5)]


SCORES = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 20), st.integers(0, 3), st.booleans()), max_size=60)


@pytest.mark.untraced
@given(SCORES)
def test_ranking_loses_and_adds_nothing(rows):
    found = [
        candidate(str(n), score, document=f"d{document}", number=n, section="S" * headed, text=f"some words {document}")
        for n, (score, _, document, headed) in enumerate(rows)
    ]
    ranked = rank(found, {str(n): row[1] for n, row in enumerate(rows)})
    assert sorted(one.id for one in ranked) == sorted(map(str, range(len(rows))))
