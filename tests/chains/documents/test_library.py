"""The text of a document, put together from its chunks again."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document

from app.wiring.storage import sample_corpus
from chains.documents.library import around, locate, parts_of
from chains.ingestion.chunks import Chunker
from chains.ingestion.files import SourceFile
from chains.ingestion.index import _documents
from chains.ingestion.parsing import parse_file
from chains.ingestion.text_files import LOADERS

SAMPLE = sorted(path for path in sample_corpus().rglob("0*/*.md"))


def chunks_of(path: Path) -> list[Document]:
    parsed = parse_file(path, LOADERS, Chunker(join=600))
    return _documents(SourceFile(path.parent, path, path.parent), path.stem, parsed)


@pytest.mark.parametrize("path", SAMPLE, ids=lambda path: path.stem)
def test_a_document_is_whole_again_and_every_offset_is_that_of_the_source(path):
    chunks = chunks_of(path)
    (part,) = parts_of(chunks)
    source = path.read_text()
    assert part.text.split() == source[part.start : part.start + len(part.text)].split()
    for chunk in chunks:
        start, end = chunk.metadata["start_char"] - part.start, chunk.metadata["end_char"] - part.start
        assert part.text[start:end] == chunk.page_content


def test_a_heading_without_words_of_its_own_comes_back(tmp_path):
    path = tmp_path / "guide.md"
    path.write_text(
        "# Guide\n\nWords of it.\n\n## Upper\n\n### Lower\n\n" + "More words. " * 80 + "\n\n### Last\n\nEnd. " * 1
    )
    (part,) = parts_of(chunks_of(path))
    assert "## Upper" in part.text


def test_of_chunks_with_equal_words_the_nearest_is_meant():
    chunks = [chunk(0, "The fee is 5.", section="Sea"), chunk(100, "The fee is 5.", section="Air", page=2)]
    assert starts(chunks, "fee is 5", near={}) == 4
    assert starts(chunks, "fee is 5", near={"section": "Air"}) == 104
    assert locate(chunks, "fee is 5", near={"section": "Sea"}, start=104) == (104, 112, 2)
    assert starts(chunks, "Fee  is: 5", near={"page": 2}) == 100
    assert locate(chunks, "fee is 6", near={}) is None
    assert locate(chunks, " ", near={}) is None


def test_of_a_long_document_the_chunks_around_a_place_are_taken():
    chunks = [chunk(number * 10, "x" * 10) for number in range(100)]
    taken = around(chunks, 555, limit=50)
    assert [one.metadata["start_char"] for one in taken] == [530, 540, 550, 560, 570]
    assert [one.metadata["start_char"] for one in around(chunks, 0, limit=30)] == [0, 10, 20]
    assert around(chunks, 10**9, limit=30)[-1] is chunks[-1]
    assert len(around(chunks, 0)) == 100
    assert all(after.metadata["start_char"] > before.metadata["start_char"] for before, after in pairwise(taken))


def starts(chunks: list[Document], quote: str, **known: Any) -> int | None:
    place = locate(chunks, quote, **known)
    return place and place.start


def chunk(start: int, text: str, **metadata: object) -> Document:
    return Document(page_content=text, metadata={"start_char": start, "end_char": start + len(text), **metadata})
