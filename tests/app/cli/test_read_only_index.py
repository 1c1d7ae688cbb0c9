"""An index folder that the user may read and not write: an image, a mount, another user's files."""

import os
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.corpora import write_documents
from tests.ingest_and_stop import waypoint_ingest
from tests.processes import run_waypoint
from tests.served import GUIDE, QUESTION

# The superuser writes what nobody may write, until it gives that right up.
PLAIN_USER = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
STORES = ({"CHROMA_PATH": "store"}, {"VECTOR_STORE_TYPE": "memory", "CHROMA_PATH": "store"})

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        bool(PLAIN_USER) and not shutil.which("setpriv"), reason="the superuser needs setpriv to give up its rights"
    ),
]


@pytest.fixture(scope="module", params=STORES, ids=["chroma", "memory"])
def desk(request, tmp_path_factory) -> Iterator["Desk"]:
    folder = tmp_path_factory.mktemp("desk")
    corpus = write_documents(folder / "01_regulatory", {"gst.md": GUIDE})
    desk = Desk(folder, request.param)
    waypoint_ingest(folder, str(corpus), **request.param)
    for path in desk.held():
        path.chmod(path.stat().st_mode & ~0o222)
    yield desk
    for path in desk.held():
        path.chmod(path.stat().st_mode | 0o200)


class Desk:
    """A folder with an index, and the command line in it."""

    def __init__(self, folder: Path, settings: dict[str, str]) -> None:
        self.store = folder / "store"
        self.aside = folder / "aside"
        self.aside.mkdir()
        self.run = partial(run_waypoint, folder, before=PLAIN_USER, **settings, TMPDIR=str(self.aside))

    def held(self) -> list[Path]:
        return sorted([self.store, *self.store.rglob("*")], key=lambda path: len(path.parts))

    def state(self) -> list[tuple[Path, int, int]]:
        return [(path, path.stat().st_size, path.stat().st_mtime_ns) for path in self.held()]


def test_a_question_over_an_index_that_cannot_be_written_is_answered_from_a_copy_which_goes_with_the_command(desk):
    before = desk.state()

    done = desk.run("ask", QUESTION)

    assert (done.returncode, done.stderr) == (0, "")
    assert "is 9 %" in done.stdout
    assert desk.state() == before
    assert list(desk.aside.iterdir()) == []


def test_an_index_that_can_neither_be_written_nor_read_is_named(desk):
    ledger = next(desk.store.rglob("*.ledger.sqlite3"))
    ledger.chmod(0)

    done = desk.run("ask", QUESTION)
    ledger.chmod(0o400)

    assert done.returncode == 1
    assert f"{ledger.name}' cannot be used" in done.stderr
    assert list(desk.aside.iterdir()) == []
