"""The chunks of `make scale` are the same each time, and their true neighbours are the nearest of all."""

import numpy as np
import pytest
from bs4 import BeautifulSoup
from langchain_core.embeddings import DeterministicFakeEmbedding

from benchmarks.scale.chunks import BLOCK, NEIGHBOURS, ScaledChunks, true_neighbours, windows
from benchmarks.scale.plot import growth_plot

MODEL = DeterministicFakeEmbedding(size=16)
TEXTS = [f"Chunk {number} is about duty and permits." for number in range(700)]


@pytest.fixture(scope="module")
def chunks():
    real = np.asarray(MODEL.embed_documents(TEXTS), dtype=np.float32)
    return ScaledChunks(MODEL, TEXTS, real / np.linalg.norm(real, axis=1, keepdims=True))


def test_windows_cover_the_documents_in_order(tmp_path):
    (tmp_path / "a.md").write_text("a" * 1000)
    (tmp_path / "b.md").write_text("b")
    assert [len(text) for text in windows(tmp_path, 10)] == [800, 800, 640, 460, 280, 1]
    assert len(windows(tmp_path, 2)) == 2


def test_a_chunk_has_the_same_words_and_vector_in_each_run(chunks):
    first = chunks.documents(650, 100)
    vectors = chunks.embed_documents([document.page_content for document in first])
    again = chunks.documents(700, 50)
    assert again == first[50:]
    assert chunks.embed_documents([document.page_content for document in again]) == vectors[50:]


def test_real_vectors_come_first_and_drawn_ones_are_near_them(chunks):
    drawn = chunks.vectors(0, 2 * BLOCK)
    assert (drawn[700:1400] * drawn[:700]).sum(axis=1).min() > 0.6
    assert np.allclose(np.linalg.norm(drawn, axis=1), 1, atol=1e-5)
    assert len(np.unique(drawn, axis=0)) == 2 * BLOCK


def test_true_neighbours_are_those_that_a_sort_of_all_finds(chunks):
    wanted = chunks.vectors(0, BLOCK)[5:8]
    cosines = wanted @ chunks.vectors(0, 3 * BLOCK).T
    expected = [{f"{number:064d}" for number in np.argsort(-row)[:NEIGHBOURS]} for row in cosines]
    assert [set(ids) for ids in true_neighbours(chunks, 3 * BLOCK, wanted, public=False)] == expected


def test_true_neighbours_of_a_stranger_are_public(chunks):
    found = true_neighbours(chunks, 3 * BLOCK, chunks.vectors(0, BLOCK)[:1], public=True)
    documents = [chunks.documents(int(id_), 1)[0] for id_ in found[0]]
    assert {document.metadata["audience"] for document in documents} == {"public"}


def test_a_plot_is_a_picture_with_a_line_for_each_store():
    plot = growth_plot({"A & B": [(1000, 5), (10000, 50)], "C": [(1000, 0.5)]}, title="p95, ms")
    lines = BeautifulSoup(plot, "lxml-xml").find_all("polyline")
    assert len(lines) == 2
    assert "A &amp; B" in plot
