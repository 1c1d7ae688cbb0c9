"""An index in a folder of generations."""

import pytest
from langchain_core.documents import Document

from app.adapters.stores.chroma import index as folder_index
from app.adapters.stores.chroma import store as chroma_store
from app.adapters.stores.chroma.index import FolderIndex
from app.adapters.stores.index import Recipe
from tests.fakes import WordEmbeddings


def open_index(path):
    recipe = Recipe(WordEmbeddings(), "words", lambda chunk: chunk.page_content, lambda chunk: ("", "", ""))
    return FolderIndex(path, "shelf", recipe)


def fill(index, count, *, reset):
    with index.locked():
        change = index.change(reset=reset)
        store = change.writable().store
        for number in range(count):
            store.add_documents([Document(f"word{number}", metadata={"n": number})], ids=[f"{number}"])
        saved = store.save_every
        change.publish()
    return saved


@pytest.mark.parametrize("reset", [True, False])
def test_a_large_index_is_saved_less_often_while_it_changes_and_as_a_whole_at_the_end(tmp_path, monkeypatch, reset):
    for module in (folder_index, chroma_store):
        monkeypatch.setattr(module, "SAVE_EVERY", 5)
    index = open_index(tmp_path)
    assert fill(index, 100, reset=True) == 5
    assert fill(index, 20, reset=reset) == 10

    opened = index.open()
    assert opened.store.save_every == 5
    assert list(opened.store.nearest(WordEmbeddings().embed_query("word19"), 1, {})) == ["19"]
    assert opened.store.count() == opened.words.count() == (20 if reset else 100)
    sizes = [file.stat().st_size for file in tmp_path.glob("shelf/*/*/index_metadata.pickle")]
    assert len(sizes) == 1
    assert sizes[0] > 500
