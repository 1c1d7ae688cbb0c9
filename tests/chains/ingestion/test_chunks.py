"""Chunks, and what of them is embedded and searched by words."""

import itertools
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document

from app.ledger.words import words_of
from chains.ingestion.chunks import Chunk, Chunker
from chains.ingestion.index import indexed_fields, indexed_text

HEADING = re.compile(r"^ {0,3}(#{1,6})(?=[ \t])(.*?)(?:[ \t]+#+)?[ \t]*$")  # CommonMark 4.2, closing signs too.


def slices(chunks: list[Chunk]) -> list[tuple[int, int]]:
    return [(chunk.start_char, chunk.end_char) for chunk in chunks]


def cut_text(text: str, size: int, overlap: int) -> list[tuple[int, int]]:
    return slices(Chunker(size, overlap, separator_stays="start").split_text(text))


@pytest.mark.parametrize(
    ("text", "size", "overlap", "expected"),
    [
        ("Para one is here.\n\nPara two is here.\n\nPara three is here.", 30, 5, [(0, 17), (19, 36), (38, 57)]),
        ("x" * 90, 40, 10, [(0, 40), (30, 70), (60, 90)]),
        ("Q1? A1 is yes. Q2? A2 is no! Q3? A3 is maybe.", 20, 5, [(0, 13), (13, 27), (27, 45)]),
    ],
    ids=["paragraphs are chunks", "a long word is cut with overlap", "a full stop may start the next piece"],
)
def test_a_text_is_cut_where_it_parts(text, size, overlap, expected):
    assert cut_text(text, size, overlap) == expected


def test_full_stop_stays_with_its_sentence():
    chunks = Chunker(20, 0).split_text("Q1? A1 is yes. Q2? A2 is no! Q3? A3 is maybe.")
    assert [chunk.text for chunk in chunks] == ["Q1? A1 is yes.", "Q2? A2 is no!", "Q3? A3 is maybe."]


@pytest.mark.parametrize("source", ["", " \n\n ", "# Only\n\n## Headings\n"])
def test_source_without_text_has_no_chunks(source):
    assert Chunker().split_markdown(source) == []


SECTIONS = {
    "a heading stays with its text and names the section": (
        "# Title\n\n## Parent\n\n### Child `one`\nBody.\n\nUnderlined\n----\nMore.",
        {"title": "Title"},
        [
            ("### Child `one`\nBody.", "Child one", ("Parent", "Child one")),
            ("Underlined\n----\nMore.", "Underlined", ("Underlined",)),
        ],
    ),
    "text before the first heading belongs to the heading of the title": (
        "Before.\n\n# Title\n\nAfter.",
        {"title": "Another"},
        [("Before.", "Title", ()), ("# Title\n\nAfter.", "Title", ("Title",))],
    ),
    "a short part with its subsections is one chunk on request": (
        "# T\n\n## A\n\n### A1\nOne.\n\n### A2\nTwo.\n\n## B\n\n### B1\n" + "Long text. " * 30,
        {"title": "T", "join": 200},
        [
            ("## A\n\n### A1\nOne.\n\n### A2\nTwo.", "A", ("A",)),
            ("### B1\nLong text. Long text. L", "B1", ("B", "B1")),
        ],
    ),
}


@pytest.mark.parametrize(("source", "options", "expected"), SECTIONS.values(), ids=SECTIONS)
def test_a_chunk_knows_its_section(source, options, expected):
    chunker = Chunker(join=options.get("join", 0))
    chunks = chunker.split_markdown(f"---\nx: 1\n---\n{source}", start=13, title=options["title"])
    assert [(chunk.text[:30], chunk.section, chunk.section_path) for chunk in chunks] == expected


def test_hash_in_a_code_fence_is_no_heading_and_starts_no_chunk():
    source = "## Real\n\n```\n" + "# comment of a script\nrun it\n" * 10 + "```\n"
    chunks = Chunker(60, 0).split_markdown(source)
    assert {chunk.section for chunk in chunks} == {"Real"}
    assert [chunk.text.startswith("#") for chunk in chunks] == [True] + [False] * (len(chunks) - 1)


def test_table_rows_are_whole_and_later_chunks_carry_the_header():
    head = "| Port | Days. Or so |\n|------|------|"
    rows = [f"| Port number {number} | about {number}. Or more |" for number in range(12)]
    source = "## Transit\n\n" + "\n".join([head, *rows]) + "\n\nAfter the table."
    chunks = Chunker(150, 20).split_markdown(source)
    assert all(
        line in {"## Transit", "", *head.splitlines(), *rows, "After the table."}
        for chunk in chunks
        for line in chunk.text.splitlines()
    )
    assert [chunk.context for chunk in chunks] == ["", *[head] * (len(chunks) - 1)]


def test_remnants_between_long_paragraphs_are_filled_up():
    source = "aa aa aa.\n\nbb bb bb bb bb bb bb bb bb bb bb.\n\ncc cc."
    assert [chunk.text for chunk in Chunker(30, 0).split_text(source)] == [
        "aa aa aa.",
        "bb bb bb bb bb bb bb bb bb bb",
        "bb.\n\ncc cc.",
    ]


WORDS = st.text(alphabet="abc.!?#|-é😀", min_size=1, max_size=30)
UNDERLINE = re.compile(r"\s*-+\s*")  # It would make a heading of the line above; "Under" below is one.
LINES = st.one_of(
    st.lists(WORDS, max_size=8).map(" ".join).filter(lambda line: not UNDERLINE.fullmatch(line)),
    st.builds(lambda level, name: f"{'#' * level} {name}", st.integers(1, 6), st.sampled_from(["Alpha", "Be ta", "C"])),
    st.just("| name | value |\n|---|---|\n| a b | c. d |\n| e | f g h |\n"),
    st.just("```\n# code\n```"),
    st.sampled_from(["", "", "\nUnder\n===", "\n---", "- item\n  - inner", "> quote", "\t code", "\n" + "x" * 70]),
)
SOURCES = st.lists(LINES, max_size=25).map("\n".join)
CHUNKERS = st.builds(
    Chunker,
    st.integers(20, 200),
    st.integers(0, 19),
    st.sampled_from(["start", "end"]),
    st.booleans(),
    st.integers(0, 19),
)


@given(SOURCES, CHUNKERS)
def test_offsets_are_exact_and_in_order(source, chunker):
    for chunks in (chunker.split_markdown(source), chunker.split_text(source)):
        assert all(source[chunk.start_char : chunk.end_char] == chunk.text == chunk.text.strip() for chunk in chunks)
        assert slices(chunks) == sorted(set(slices(chunks)))


@pytest.mark.untraced
@given(SOURCES, CHUNKERS)
def test_no_text_is_lost_but_headings_without_text(source, chunker):
    covered = {place for start, end in slices(chunker.split_markdown(source)) for place in range(start, end)}
    lost = "".join(character for place, character in enumerate(source) if place not in covered)
    assert all(
        HEADING.match(line) or line.strip() in {"Under", "===", ""} for line in lost.split("\n") if line.strip("#- ")
    )
    plain = {place for start, end in slices(chunker.split_text(source)) for place in range(start, end)}
    assert all(character.isspace() for place, character in enumerate(source) if place not in plain)


@given(SOURCES, CHUNKERS)
def test_chunks_are_bounded(source, chunker):
    assert all(len(chunk.text) <= chunker.size for chunk in chunker.split_text(source.replace("|", "")))
    for chunk in chunker.split_markdown(source):
        lines = [line for line in chunk.text.split("\n") if line.strip()]
        heading_and_row = "|" in chunk.text and len(lines) <= 3
        assert len(chunk.text) <= chunker.size or heading_and_row


@given(SOURCES, st.integers(0, 79))
def test_chunk_that_starts_with_a_heading_carries_it(source, join):
    source = f"---\nfront: matter\n---\n{source}"
    for chunk in Chunker(80, 10, join=join).split_markdown(source, start=22):
        assert source[chunk.start_char : chunk.end_char] == chunk.text
        match = HEADING.match(chunk.text.split("\n")[0])
        assert match is None or match[2].strip() == chunk.section


def test_offsets_are_exact_in_a_text_longer_than_a_plane():
    source = "".join(f"Sentence number {number} of many. " for number in range(10_000))
    chunks = Chunker(800, 100).split_text(source)
    assert [chunk.text[:16] for chunk in chunks] == ["Sentence number "] * len(chunks)
    assert all(source[chunk.start_char : chunk.end_char] == chunk.text for chunk in chunks)
    assert (chunks[0].start_char, chunks[-1].end_char) == (0, len(source) - 1)
    assert all(
        before.end_char - 100 <= after.start_char <= before.end_char + 1 for before, after in itertools.pairwise(chunks)
    )


@pytest.mark.untraced
def test_a_long_document_is_cut_to_its_end():
    part = "## Part\n\nSome words here. And more of them, on and on.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
    source = part * 1000 + "word " * 30_000
    assert Chunker().split_markdown(source)[-1].end_char == len(source.rstrip())


PATH = ["PART II", "Item 8. Financial Statements", "NOTES", "Note 7. Debt"]
CHUNK = Document(
    page_content="Term loan 1,577 at the end of FY22",
    metadata={"title": "ACME 2022 10-K", "section_path": json.dumps(PATH), "page": 43, "table_head": ""},
)


def test_title_end_of_the_section_path_and_page_are_embedded_above_the_words():
    assert indexed_text(CHUNK) == "ACME 2022 10-K > NOTES > Note 7. Debt > page 43\nTerm loan 1,577 at the end of FY22"


def test_without_pages_the_whole_section_path_is_embedded():
    metadata = {name: value for name, value in CHUNK.metadata.items() if name != "page"}
    text = indexed_text(Document(page_content="words", metadata=metadata))

    assert text == f"ACME 2022 10-K > {' > '.join(PATH)}\nwords"


def test_a_question_and_a_chunk_write_figures_and_fiscal_years_alike():
    assert indexed_fields(CHUNK)[2] == "Term loan 1577 at the end of FY 2022"
    assert words_of("Was the term loan $1,577 in FY2022?") == ["term", "loan", "1577", "fy", "2022"]
