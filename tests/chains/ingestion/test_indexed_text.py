"""What of a chunk is embedded, and what is searched by words."""

import json

from langchain_core.documents import Document

from app.ledger.words import words_of
from chains.ingestion.index import indexed_fields, indexed_text

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
