"""A real Chromium before a real service: one browser for the run, one service for each module."""

import asyncio.events
import shutil
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from playwright.sync_api import Browser, Page, expect, sync_playwright
from redis import Redis

from tests.access import open_redis
from tests.web import corpus as documents
from tests.web.asking import GST, GST_ANSWER, PDF_ANSWER, PDF_QUESTION
from tests.web.axe import SIZES
from tests.web.chromium import LAUNCH, PATIENCE_MS, chromium
from tests.web.model import ScriptedModel, scripted_model
from tests.web.service import serving
from tests.web.watch import Watch
from tests.website import Website, website

REDIS = "redis://127.0.0.1:6379/9"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test here as one that needs a program of this machine; a busy machine may take long."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.service)
            item.add_marker(pytest.mark.timeout(900))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = chromium()
    if program is None:
        pytest.skip("Chromium is not installed (Debian's package chromium-headless-shell)")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, **LAUNCH)
        yield browser
        browser.close()


@pytest.fixture(autouse=True)
def _playwrights_loop(browser) -> Iterator[None]:
    """Take Playwright's event loop off the thread between tests: others start their own there."""
    loop = browser._impl_obj._loop
    asyncio.events._set_running_loop(loop)
    yield
    asyncio.events._set_running_loop(None)


@pytest.fixture(scope="module")
def site() -> Iterator[Website]:
    """Somebody else's web site, which may embed the page."""
    with website() as site:
        yield site


@pytest.fixture(scope="session")
def corpus(tmp_path_factory, worker_id) -> Path:
    """The sample corpus and a few documents more, indexed once for all processes of the run."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "corpus"
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            folder.mkdir()
            documents.indexed_corpus(folder)
    return folder / "store"


@pytest.fixture(scope="module")
def store(corpus, tmp_path_factory) -> Path:
    """A copy of the index, which the module changes or holds locked."""
    return Path(shutil.copytree(corpus, tmp_path_factory.mktemp("own") / "store"))


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModel]:
    """A language model that says what it is told to."""
    with scripted_model() as model:
        yield model


@pytest.fixture(autouse=True)
def _said(model) -> None:
    """Have the model answer two questions; a test may have it say something else."""
    model.say(GST, GST_ANSWER)
    model.say(PDF_QUESTION, PDF_ANSWER)


@pytest.fixture(scope="module")
def url(corpus, model) -> Iterator[str]:
    """The service for the user of this machine."""
    with serving(corpus, model) as url:
        yield url


@pytest.fixture(scope="module")
def redis() -> Iterator[Redis]:
    with open_redis(REDIS) as redis:
        yield redis


@pytest.fixture(scope="module")
def session_url(corpus, model, redis) -> Iterator[str]:
    """The service where everybody needs a session, which is in Redis."""
    with serving(corpus, model, auth_mode="session", redis_url=REDIS) as url:
        yield url


@pytest.fixture
def watch() -> Watch:
    """What pages asked for and complained of; a test says here which complaints it causes."""
    return Watch()


@pytest.fixture
def open_page(browser, watch, url) -> Iterator[Callable[..., Page]]:
    """Open a page in a context of its own; what it did is judged when the test ends."""
    contexts = []

    def opened(path: str = "/", **options: Any) -> Page:
        context = browser.new_context(base_url=url, **options)
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        watch.follow(context)
        page: Page = context.new_page()
        page.goto(path)
        return page

    yield opened
    for context in contexts:
        context.close()
    watch.judge()


@pytest.fixture(params=product(SIZES, ("light", "dark")), ids="-".join)
def shape(request) -> dict[str, Any]:
    """A phone or a desk, in light or dark colours: options of `open_page`."""
    size, scheme = request.param
    return {"viewport": SIZES[size], "color_scheme": scheme}


@pytest.fixture
def page(open_page) -> Page:
    opened: Page = open_page()
    return opened
