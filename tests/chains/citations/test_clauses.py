"""A marker inside a sentence vouches for its clause: the words since the marker before it."""

import pytest
from langchain_core.documents import Document

from chains import process_citations
from chains.citations.cited_sentences import clauses_of, sentences_of
from chains.citations.markers import find_markers
from chains.citations.support import LEAST_SUPPORT
from tests.chains.gst import Shelf, gst_chain
from tests.streams import merged

IMPORTS = Document("The rate of GST on imports is 9 %.", metadata={"title": "Imports", "score": 0.8})
EXPORTS = Document("Exports are zero-rated: the rate is 0 %.", metadata={"title": "Exports", "score": 0.8})
SHELF = Shelf(documents=[EXPORTS, IMPORTS])


def supported(answer: str) -> list[bool]:
    """Return for each marker whether its source supports what it vouches for."""
    citations = process_citations(answer, SHELF.documents, style="numbered")["citations"]
    return [one["support"] >= LEAST_SUPPORT and not one["contradicted"] for one in citations]


@pytest.mark.parametrize(
    ("answer", "verdicts"),
    [
        ("Import is 9 % [2], and export is 0 % [1].", [True, True]),
        ("The rate on imports is 9 % [2] while exports are zero-rated [1].", [True, True]),
        ("- Imports: 9 % [2]; exports: 0 % [1]", [True, True]),
        ("Imports: 9 % [2], exports: zero-rated [1]", [True, True]),
        ("Import is 9 % [1], and export is 0 % [2].", [False, False]),
        ("Import is 9 % [2], and export is 5 % [1].", [True, False]),
        ("Import is 9 % [2], export is 0 % [1], and tea is free.", [True, False]),
        ("GST for exports [1] is 9 % [2].", [False, False]),
    ],
)
def test_figures_from_two_sources_are_each_checked_against_their_own(answer, verdicts):
    assert supported(answer) == verdicts


@pytest.mark.parametrize("way", ["invoke", "stream"])
@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("The rate is 9 % on imports [2], and exports are zero-rated [1].", "answered"),
        ("The rate is 9 % on imports [2], and exports are free of storage fees [1].", "ungrounded"),
    ],
)
def test_a_sentence_is_supported_if_each_of_its_clauses_is(answer, outcome, way):
    chain = gst_chain(answer, retriever=SHELF)
    asked = {"question": "What is the rate on imports and exports?"}
    found = chain.invoke(asked) if way == "invoke" else merged(chain.stream(asked))

    assert found["outcome"] == outcome
    assert bool(found["unsupported"] or found["draft"]) == (outcome != "answered")


def test_adjacent_markers_share_a_clause_and_one_marker_has_the_sentence():
    answer = "It is 9 % [1] [2], and 0 % [3]. Tea is free [4]."
    places = [(marker.start, marker.end) for marker in find_markers(answer)]
    clauses = clauses_of(answer, sentences_of(answer, places), places)

    assert [clauses.get(start) for start, _ in places] == ["It is 9 %", "It is 9 %", "and 0 %.", None]
