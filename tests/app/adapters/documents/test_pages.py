"""The queue of pages of PDF files: what is remembered, what is given up, and who gets the next turn."""

import asyncio
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from app.adapters.documents import pages as documents
from app.adapters.documents.pages import IndexedPage, PagesBusyError, PdfPages
from benchmarks.documents import heavy_pdf, pdf
from tests.waiting import await_until

WORDS = "Words that can be read"


class CountedPages(PdfPages):
    """Pages that count the tasks of their workers."""

    asked = 0

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
def pages(request, monkeypatch):
    """Pages with one worker, which one more may wait for."""
    monkeypatch.setattr(documents, "WORKERS", 1)
    monkeypatch.setattr(documents, "MOST_WAITING", 1)
    with closing(CountedPages(timeout_s=getattr(request, "param", 600), memory_mb=1024)) as pages:
        yield pages


def test_a_page_is_drawn_once_as_long_as_its_file_is_the_same(pages, good):
    async def twice() -> None:
        assert await pages.picture(good, 300) == await pages.picture(good, 300)
        assert await pages.words(good, WORDS) == await pages.words(good, WORDS)
        assert pages.asked == 2
        good.path.write_bytes(pdf(WORDS, "A second page"))
        assert (await pages.words(good, WORDS))["pages"] == 2
        assert pages.asked == 3

    asyncio.run(twice())


def test_a_page_that_cannot_be_drawn_is_not_tried_again_in_another_width(pages, tmp_path):
    broken = written(tmp_path / "broken.pdf", b"no pdf")

    async def twice() -> None:
        assert [await pages.picture(broken, width) for width in (300, 301, 302)] == [None] * 3
        assert pages.asked == 1
        broken.path.write_bytes(pdf(WORDS))
        assert await pages.picture(broken, 300)

    asyncio.run(twice())


@pytest.mark.parametrize("pages", [1], indirect=True)
def test_a_page_that_takes_more_than_it_may_is_not_tried_again(pages, slow):
    async def twice() -> None:
        assert [await pages.picture(slow, 300), await pages.picture(slow, 300)] == [None, None]

    asyncio.run(twice())
    assert pages.asked == 1


def test_a_page_is_drawn_on_while_one_of_two_readers_waits(pages, slow):
    async def leave() -> None:
        first, second = (asyncio.create_task(pages.picture(slow, 300)) for _ in range(2))
        await await_until(lambda: pages.asked)
        first.cancel()
        await asyncio.wait([first])
        assert pages.asked == 1
        with pytest.raises(PagesBusyError):
            await asyncio.gather(pages.picture(slow, 301), pages.picture(slow, 302))
        assert not second.done()
        pages.close()
        second.cancel()

    asyncio.run(leave())


def test_the_end_does_not_wait_for_a_slow_page(pages, slow):
    async def begin() -> None:
        drawing = asyncio.create_task(pages.picture(slow, 300))
        await asyncio.sleep(0)
        pages.close()
        drawing.cancel()

    asyncio.run(begin())
