"""The queue of pages of PDF files: what is remembered, what is given up, and who gets the next turn."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from app.adapters.documents.pages import IndexedPage, PageQueue, PagesBusyError, PdfPages
from app.adapters.documents.process import LimitedProcess
from benchmarks.documents import heavy_pdf, pdf
from tests.waiting import await_until

WORDS = "Words that can be read"
MODULE = "app.adapters.documents.page_worker"


class CountedQueue(PageQueue):
    """A queue that counts the tasks that it was given."""

    def __init__(self) -> None:
        super().__init__([LimitedProcess(MODULE, 600, 1024)], most_waiting=1)
        self.asked = 0

    async def ask(self, task: dict[str, Any]) -> Any:
        self.asked += 1
        return await super().ask(task)


@pytest.fixture
def slow(tmp_path) -> IndexedPage:
    return written(tmp_path / "slow.pdf", heavy_pdf(WORDS))


@pytest.fixture
def good(tmp_path) -> IndexedPage:
    return written(tmp_path / "good.pdf", pdf(WORDS))


def written(path: Path, content: bytes) -> IndexedPage:
    path.write_bytes(content)
    return IndexedPage(path, 1, [WORDS])


@pytest.fixture
def pages():
    pages = PdfPages(timeout_s=600, memory_mb=1024)
    pages.queue.close()
    pages.queue = CountedQueue()
    yield pages
    pages.close()


def test_a_page_is_drawn_once_as_long_as_its_file_is_the_same(pages, good):
    async def twice() -> None:
        assert await pages.picture(good, 300) == await pages.picture(good, 300)
        assert await pages.words(good, WORDS) == await pages.words(good, WORDS)
        assert pages.queue.asked == 2
        good.path.write_bytes(pdf(WORDS, "A second page"))
        assert (await pages.words(good, WORDS))["pages"] == 2
        assert pages.queue.asked == 3

    asyncio.run(twice())


def test_a_page_that_cannot_be_drawn_is_not_tried_again_in_another_width(pages, tmp_path):
    broken = written(tmp_path / "broken.pdf", b"no pdf")

    async def twice() -> None:
        assert [await pages.picture(broken, width) for width in (300, 301, 302)] == [None] * 3
        assert pages.queue.asked == 1
        broken.path.write_bytes(pdf(WORDS))
        assert await pages.picture(broken, 300)

    asyncio.run(twice())


def test_a_page_that_takes_more_than_it_may_is_not_tried_again(slow):
    pages = PdfPages(timeout_s=1, memory_mb=1024)
    pages.queue.close()
    pages.queue = CountedQueue()
    pages.queue._workers[0].timeout_s = 1

    async def twice() -> None:
        assert [await pages.picture(slow, 300), await pages.picture(slow, 300)] == [None, None]

    asyncio.run(twice())
    assert pages.queue.asked == 1
    pages.close()


def test_equal_requests_are_one_task(pages, good):
    async def together() -> None:
        pictures = await asyncio.gather(*(pages.picture(good, 300) for _ in range(20)))
        assert len(set(pictures)) == 1

    asyncio.run(together())
    assert pages.queue.asked == 1


def test_a_page_is_drawn_on_while_one_of_two_readers_waits(pages, slow):
    async def leave() -> None:
        first, second = (asyncio.create_task(pages.picture(slow, 300)) for _ in range(2))
        await await_until(lambda: pages.queue.asked)
        first.cancel()
        await asyncio.wait([first])
        assert pages.queue.asked == 1
        with pytest.raises(PagesBusyError):
            await asyncio.gather(pages.picture(slow, 301), pages.picture(slow, 302))
        assert not second.done()
        pages.close()
        second.cancel()

    asyncio.run(leave())


def test_the_end_does_not_wait_for_a_slow_page(slow):
    pages = PdfPages(timeout_s=600, memory_mb=1024)

    async def begin() -> None:
        drawing = asyncio.create_task(pages.picture(slow, 300))
        await asyncio.sleep(0)
        pages.close()
        drawing.cancel()

    asyncio.run(begin())
