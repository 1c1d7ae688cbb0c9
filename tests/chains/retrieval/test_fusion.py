from hypothesis import given
from hypothesis import strategies as st

from chains.ports import ChunkPlace
from chains.retrieval.fusion import Candidate, rank


def candidate(name, score, *, document=None, number=0, section="S", text=None):
    return Candidate(name, score, ChunkPlace(document or name, number, section, text or name))


def ids(ranked):
    return [fused.candidate.id for fused in ranked]


def test_words_lift_a_chunk_over_a_nearer_one():
    ranked = rank([candidate("near", 0.5), candidate("exact", 0.4)], {"exact": 8.0})

    assert [(fused.candidate.id, round(fused.score, 3)) for fused in ranked] == [("exact", 0.6), ("near", 0.5)]


def test_a_chunk_without_section_borrows_from_its_neighbour():
    text = [candidate(str(number), 0.4, document="d", number=number, section="") for number in range(3)]
    assert ids(rank(text, {"2": 10.0})) == ["2", "1", "0"]


def test_a_chunk_with_a_section_borrows_nothing():
    text = [candidate(str(number), 0.4, document="d", number=number) for number in range(3)]
    assert ids(rank(text, {"2": 10.0})) == ["2", "0", "1"]


def test_of_near_duplicates_the_document_that_says_more_leads():
    faq = candidate("faq", 0.6, text="the rate is nine percent")
    source = candidate("rule", 0.5, document="law", text="the rate is nine percent now")
    more = candidate("more", 0.3, document="law", number=1, text="exemptions and schemes")
    assert ids(rank([faq, source, more], {})) == ["rule", "faq", "more"]


def test_one_document_does_not_fill_the_list():
    chunks = [candidate(f"d{n}", 0.9 - n / 100, document="d", number=n, text=f"word{n}") for n in range(4)]
    assert ids(rank([*chunks, candidate("other", 0.1)], {}, per_document=2)) == ["d0", "d1", "other", "d2", "d3"]


def test_a_chunk_in_no_known_place_is_ranked_by_its_score():
    assert ids(rank([Candidate("a", 0.2), Candidate("b", 0.4), candidate("c", 0.3)], {})) == ["b", "c", "a"]


SCORES = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 20), st.integers(0, 3), st.booleans()), max_size=60)


@given(SCORES)
def test_ranking_loses_and_adds_nothing(rows):
    found = [
        candidate(str(n), score, document=f"d{document}", number=n, section="S" * headed, text=f"some words {document}")
        for n, (score, _, document, headed) in enumerate(rows)
    ]
    assert sorted(ids(rank(found, {str(n): row[1] for n, row in enumerate(rows)}))) == sorted(
        map(str, range(len(rows)))
    )
