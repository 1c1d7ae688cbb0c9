import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document

from app.ledger import open_database, words
from app.ledger.schema import BLOCK
from app.ledger.words import LONG
from chains.ports import ChunkPlace
from tests.indexes import Shelves, shelves


def chunk(text, **metadata):
    return Document(text, metadata=metadata)


@pytest.fixture
def index(database):
    index = Shelves(database)
    chunks = [
        chunk("VGM two days before departure", title="Sea freight", doc_id="sea", chunk_index=3, section="Cut-off"),
        chunk("Volume weight of parcels", title="Air freight", audience="public", category="carrier"),
        chunk("Live animals need permits", title="Air freight", audience="internal", jurisdiction="SG"),
    ]
    index.add(["a", "b", "c"], chunks)
    return index


def found(index, question, limit=100, **where):
    return list(index.search(question, limit, where))


def corrected(index, question, **where):
    return index.corrected(question, where, lambda _word: False)


def test_stems_and_titles_are_found(index):
    assert found(index, "parcel in the air") == ["b", "c"]
    assert found(index, "parcel in the air", limit=1) == ["b"]
    assert all(score > 0 for score in index.search("parcel in the air", 9, {}).values())


@pytest.mark.parametrize("question", ["", "?", '"" OR (', "zebra", "the", "*", "NEAR(x", "a:b", "\0"])
def test_a_question_without_known_words_finds_nothing(index, question):
    assert found(index, question) == []


def report(company, *, pages=LONG, **metadata):
    """Return the chunks of a long document whose title begins with the company, by id."""
    doc_id = f"{company}-{metadata.get('year', '')}"
    title = f"{company} Inc. {metadata.pop('year', '2022')} annual report"
    about = {"title": title, "doc_id": doc_id, "audience": "public"} | metadata
    return {f"{doc_id}/{n}": chunk(f"revenue and other figures {n}", chunk_index=n, **about) for n in range(pages)}


def with_reports(index, *reports):
    for one in reports:
        index.add(list(one), list(one.values()))
    return index


def test_a_question_names_the_long_documents_whose_titles_hold_its_words(index):
    with_reports(index, report("Acme"), report("Globex", year="2021"), report("Globex", year="2022"))

    assert index.named("What was the revenue of ACME?", {}) == {"Acme-": 1.0}
    assert index.named("What was the revenue of Globex in FY22?", {}) == {
        "Globex-2022": 1.0, "Globex-2021": 0.5, "Acme-": 0.5
    }  # fmt: skip


@pytest.mark.parametrize(
    "question",
    [
        "What was the revenue?",  # No title holds it.
        "Where is the annual report?",  # All do.
        "Which parcels have a volume weight?",
        "",
    ],
)
def test_a_question_without_a_name_names_no_document(index, question):
    assert with_reports(index, report("Acme"), report("Globex")).named(question, {}) == {}


def test_a_word_that_many_other_chunks_hold_is_no_name(index):
    with_reports(index, report("Acme"), report("Globex"))
    index.add([f"n{n}" for n in range(LONG)], [chunk("a note on Acme", doc_id="notes") for _ in range(LONG)])

    assert index.named("What was the revenue of Acme?", {}) == {}


def test_only_long_documents_are_named(index):
    with_reports(index, report("Acme"), report("Globex", pages=LONG - 1))

    assert index.named("What was the revenue of Globex?", {}) == {}


def test_a_stranger_names_public_documents_alone(index):
    with_reports(index, report("Acme"), report("Globex"), report("Initech", audience="internal"))
    stranger = {"audience": "public"}

    assert index.named("the revenue of Initech", {}) == {"Initech-": 1.0}
    assert index.named("the revenue of Initech", stranger) == {}
    assert index.named("the revenue of Acme", stranger) == {"Acme-": 1.0}


def test_names_follow_a_change_of_the_index(index):
    with_reports(index, report("Acme"), report("Globex"))
    assert index.named("the revenue of Acme", {})

    index.delete(list(report("Acme"))[:1])
    assert index.named("the revenue of Acme", {}) == {}


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        *((error, "parcels") for error in ("prcels", "parrcels", "porcels", "pacrels")),
        *((word, word) for word in ("lice", "parce1s", "prcls")),  # Short, a code, two errors.
    ],
)
def test_a_word_with_one_typing_error_is_corrected_and_no_short_word_code_or_one_with_two(index, word, expected):
    assert corrected(index, word) == expected


def public(text):
    return chunk(text, audience="public")


def test_a_stranger_is_ranked_and_corrected_by_public_chunks_alone(tmp_path):
    texts = ["Parcels travel by air", "Pallets travel by sea and by air", "Live animals need permits"]
    alone, beside = (shelves(tmp_path / name) for name in ("alone", "beside"))
    for number, text in enumerate(texts):
        beside.add([f"i{number}"], [chunk("Parcals travel by rocket, as falcon does", audience="internal")])
        for index in (alone, beside):
            index.add([str(number)], [public(text)])

    for question in ("parcals by air", "falcon travel", "rockets", "permits for pallets", "parcl"):
        stranger = {"audience": "public"}
        assert list(alone.search(question, 9, stranger).items()) == list(beside.search(question, 9, stranger).items())
        assert corrected(alone, question, **stranger) == corrected(beside, question, **stranger)
    assert corrected(alone, "parcals by air") == corrected(beside, "parcals by air", audience="public")
    assert found(beside, "falcon") == ["i0", "i1", "i2"]


def test_a_chunk_that_is_replaced_or_deleted_leaves_no_word_to_strangers(tmp_path):
    index, fresh = (shelves(tmp_path / name) for name in ("index", "fresh"))
    index.add(
        ["a", "b", "c"], [public("old parcels"), public("parcels and pallets"), chunk("old", audience="internal")]
    )
    index.add(["a"], [chunk("old parcels", audience="internal")])
    index.add(["d"], [public("new parcels")])
    index.delete(["d", "unknown"])
    fresh.add(["b"], [public("parcels and pallets")])

    for question in ("parcels", "old", "new", "pallets"):
        assert index.search(question, 9, {"audience": "public"}) == fresh.search(question, 9, {"audience": "public"})


@pytest.mark.parametrize(
    ("texts", "word", "expected"),
    [
        (["Porcels", "Porcels"], "percels", "porcels"),  # Of the words that are near, the most frequent.
        (["They pain him"], "pagination", "pagination"),  # A word of another kind.
        (["Porcels"], "porcels", "porcels"),  # A known word.
    ],
)
def test_a_word_is_corrected_to_the_most_frequent_near_one_unless_it_is_known(index, texts, word, expected):
    index.add([f"d{number}" for number in range(len(texts))], [chunk(text) for text in texts])
    assert corrected(index, word) == expected


def test_the_rest_of_the_question_stays_as_it_was_typed(index):
    assert corrected(index, "What of Prcels, for ZEBRAS (of weight)?") == "What of parcels, for ZEBRAS (of weight)?"
    assert corrected(index, "What of parcels?") == "What of parcels?"


def test_a_word_of_the_language_is_no_typing_error(index):
    assert index.corrected("prcels frieght", {}, {"prcels"}.__contains__) == "prcels freight"


def test_a_question_of_unknown_words_leaves_next_to_nothing_in_memory(index):
    questions = [" ".join(f"zq{a}{b}{c}wv" for c in "abcde") for a in "abcde" for b in "abcd"]
    corrected(index, "warm")
    tracemalloc.start()
    try:
        for question in questions:
            corrected(index, question)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    # A cache of the process that other tests filled may grow by one step; each word kept 40 kB once.
    assert kept < 4_000 * len(set(" ".join(questions).split()))


def test_a_word_that_the_chunks_write_as_two_is_searched_for_as_two(index):
    index.add(["d"], [chunk("The cut-off is noon, and the list is off.")])

    assert corrected(index, "cutoff?") == "cut off?"
    assert index.corrected("cutoff", {}, {"cutoff"}.__contains__) == "cut off"
    assert corrected(index, "offlist") == "offlist"


@pytest.mark.parametrize("unknown", ["zebra", "unheardof", "prc", "parce1s"])
def test_an_unknown_word_near_nothing_changes_nothing(index, unknown):
    assert corrected(index, f"air freight {unknown}") == f"air freight {unknown}"
    assert index.search(f"air freight {unknown}", 9, {}) == index.search("air freight", 9, {})


def test_only_the_first_unknown_words_are_corrected(index):
    unknown = " ".join(f"unheard{letter}" for letter in "abcde")

    assert corrected(index, f"prcels {unknown}") == f"parcels {unknown}"
    assert corrected(index, f"{unknown} prcels") == f"{unknown} prcels"


@given(st.text(max_size=60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_question_breaks_the_search(index, question):
    assert set(found(index, corrected(index, question))) <= {"a", "b", "c"}


def test_filters_hold_and_the_order_stays(index):
    assert found(index, "air freight", audience="public") == ["b"]
    assert found(index, "air freight", jurisdiction="SG", audience="internal") == ["c"]
    assert found(index, "freight", category="unheard of") == []
    assert index.search("air", 9, {"jurisdiction": "SG"})["c"] == index.search("air", 9, {})["c"]


def test_places_tell_where_a_chunk_stands(index):
    assert index.places(["a", "b", "unknown"]) == {
        "a": ChunkPlace("sea", 3, "Cut-off", "VGM two days before departure"),
        "b": ChunkPlace("b", 0, "", "Volume weight of parcels"),
    }
    assert index.places([]) == {}


def test_frequent_words_are_left_out_when_the_budget_is_spent(index, monkeypatch):
    monkeypatch.setattr(words, "BUDGET", 10)
    ids = [str(number) for number in range(50)]
    index.add(ids, [chunk("common" + " rare" * (id_ == "7")) for id_ in ids])

    assert found(index, "common rare") == ["7"]
    assert len(found(index, "common")) == 50


def test_words_of_several_blocks_are_found_after_deletions_as_those_of_a_new_index(tmp_path, database_url):
    """Blocks are packed anew where a passage of theirs is deleted, and filled up by the next ones."""

    def texts(numbers, word):
        audience = {True: {"audience": "public"}, False: {}}
        return {str(n): chunk(f"{word}{n % 9} number{n}" + " more" * (n % 5), **audience[n % 3 == 0]) for n in numbers}

    def searched(index, question, **where):
        return index.search(question, BLOCK, where)

    index, same = Shelves(open_database(tmp_path, database_url, collection="kb")), shelves(tmp_path)
    first, last = texts(range(BLOCK + 9), "old"), texts(range(BLOCK - 20, BLOCK + 9, 2), "new")
    gone = [*map(str, range(40)), *last]
    index.add(list(first), list(first.values()))
    index.delete(gone)
    index.add(list(last), list(last.values()))
    left = {id_: text for id_, text in first.items() if id_ not in gone} | last
    same.add(list(left), list(left.values()))

    asked = ["old1", "new7 old3", "number30", f"number{BLOCK}", f"number{BLOCK - 1}", "new2 number3999 more"]
    for question in asked:
        for where in ({}, {"audience": "public"}):
            assert searched(index, question, **where) == pytest.approx(searched(same, question, **where), abs=1e-5)
    index.delete(list(left))
    assert index.index.database.value("SELECT count(*) FROM postings") == 0


def test_a_filter_is_met_beyond_the_first_passages_of_a_common_word(index):
    others = {str(n): chunk("crates " * 9, category="other") for n in range(300)}
    few = {f"few{n}": chunk("crates and more of them", category="few") for n in range(3)}
    index.add([*others, *few], [*others.values(), *few.values()])

    assert sorted(found(index, "crates", limit=2, category="few")) == ["few0", "few1"]
    assert sorted(found(index, "crates", limit=9, category="few")) == ["few0", "few1", "few2"]


def test_many_threads_search_while_one_writes(index):
    def search(_):
        return set(found(index, "freight"))

    one_at_a_time = Lock()

    def write(number):
        with one_at_a_time:
            index.add([f"x{number}"], [chunk(f"freight {number}")])

    with ThreadPoolExecutor(4) as threads:
        writing = threads.map(write, range(30))
        results = list(threads.map(search, range(60)))
        list(writing)

    assert all(result >= {"a", "b", "c"} for result in results)
    assert len(found(index, "freight")) == 33


def test_both_dialects_rank_correct_and_name_alike(tmp_path, database_url):
    first = shelves(tmp_path)
    second = Shelves(open_database(tmp_path, database_url, collection="kb"))
    texts = [
        "Parcels travel by air, with 1,577 crates",
        "The cut-off of parcels is noon",
        "Naïve parcels: RATES 'n' rates",
    ]
    for index in (first, second):
        with_reports(index, report("Acme"), report("Globex"))
        index.add(
            ["a", "b", "c"],
            [chunk(text, audience=audience) for text, audience in zip(texts, ("public", None, "public"), strict=True)],
        )

    for question in ("naive parcel rate", "cutoff for prcels", "revenue of Acme", "1577 crates of figures"):
        for where in ({}, {"audience": "public"}):
            ranked = [
                [
                    (id_, pytest.approx(score, abs=1e-5))
                    for id_, score in index.search(question, 5, where).items()
                    if len(id_) == 1
                ]
                for index in (first, second)
            ]
            assert ranked[0] == ranked[1]
            assert corrected(first, question, **where) == corrected(second, question, **where)
            assert first.named(question, where) == second.named(question, where)
