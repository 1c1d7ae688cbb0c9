import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.documents import Document

from chains.callbacks import Deadline
from chains.errors import DeadlineError
from chains.retrieval import SimilarityRetriever
from chains.retrieval.retriever import ChunkRetriever
from tests.clocks import StoppedClock


class Hanging(ChunkRetriever):
    """A store that does not answer before it is let go."""

    until: Any

    def find(self, query: str, **options: Any) -> list[Any]:
        self.until.wait()
        return []


def config(seconds: float, clock: StoppedClock | None = None) -> Any:
    return {"callbacks": [Deadline(seconds, clock or StoppedClock())]}


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_a_search_whose_time_is_over_is_not_begun(desk, way):
    retriever = SimilarityRetriever(store=desk.store)

    with pytest.raises(DeadlineError, match="took longer than it may"):
        retriever.invoke("GST", config(0)) if way == "invoke" else await retriever.ainvoke("GST", config(0))


async def test_a_store_that_hangs_keeps_its_thread_and_not_the_one_who_asked():
    answer = threading.Event()
    try:
        with pytest.raises(DeadlineError):
            await Hanging(until=answer).ainvoke("GST", config(0.05))
    finally:
        answer.set()


async def test_an_awaited_search_runs_in_the_retrievers_own_threads():
    class Naming(ChunkRetriever):
        def find(self, query: str, **options: Any) -> list[Any]:
            return [Document(threading.current_thread().name)]

    with ThreadPoolExecutor(1, "own") as own:
        found = await Naming(executor=own).ainvoke("GST")
    assert found[0].page_content.startswith("own")
