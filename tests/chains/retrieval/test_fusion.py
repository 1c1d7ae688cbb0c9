from hypothesis import given
from hypothesis import strategies as st

from chains.ports import ChunkPlace
from chains.retrieval.fusion import PER_DOCUMENT, Candidate, rank


def candidate(name, score, *, document=None, number=0, section="S", text=None):
    return Candidate(name, score, ChunkPlace(document or name, number, section, text or name))


def ids(ranked):
    return [one.id for one in ranked]


def test_words_lift_a_chunk_over_a_nearer_one():
    ranked = rank([candidate("near", 0.5), candidate("exact", 0.4)], {"exact": 8.0})

    assert [(one.id, round(one.fused, 3)) for one in ranked] == [("exact", 0.6), ("near", 0.5)]


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
    ranked = ids(rank([*of_one_document(PER_DOCUMENT + 2), candidate("other", 0.1)], {}))
    assert ranked.index("other") == PER_DOCUMENT


def of_one_document(count, document="d", score=0.9):
    return [
        candidate(f"{document}{n}", score - n / 100, document=document, number=n, text=f"{document}{n}")
        for n in range(count)
    ]


def test_a_document_that_the_question_names_leads_and_may_fill_the_list():
    named = of_one_document(PER_DOCUMENT + 2, "named", 0.5)
    others = of_one_document(1, "other", 0.6)

    ranked = ids(rank([*others, *named], {}, named={"named": 1.0}))
    assert ranked.index("other0") == len(named)
    assert ids(rank([*others, *named], {}, named={"named": 0.2}))[0] == "other0"


def test_the_words_say_less_where_a_document_is_named():
    chunks = [candidate("near", 0.5, document="d"), candidate("exact", 0.4, document="d", number=1)]

    assert ids(rank(chunks, {"exact": 8.0})) == ["exact", "near"]
    assert ids(rank(chunks, {"exact": 8.0}, named={"d": 1.0})) == ["near", "exact"]


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
