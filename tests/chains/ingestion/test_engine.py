"""The engine that works in threads of this process, and embeds while it reads."""

import signal
import threading
from contextlib import closing
from pathlib import Path

import pytest

from app.adapters.documents.process import IsolatedParser
from benchmarks.documents import pdf
from chains.errors import IngestionError
from chains.ingestion import engine as engines
from chains.ingestion import index
from chains.ingestion.chunks import Chunk, Chunker
from chains.ingestion.engine import PlainEngine, Reading
from chains.ingestion.files import SourceFile
from chains.ingestion.index import ingest
from chains.ingestion.parsing import Parsed
from tests.fakes import WordEmbeddings
from tests.shelf import Shelf

WAIT_S = 60


def chunk(text: str) -> Chunk:
    return Chunk(text=text, section="", section_path=(), start_char=0, end_char=len(text), page=None)


class Names:
    """Parses a file into one chunk, its name; `read` says how many files were begun."""

    endings = (".md",)

    def __init__(self) -> None:
        self.read = threading.Semaphore(0)
        self.begun = 0

    def parse(self, path: Path) -> Parsed:
        self.begun += 1
        self.read.release()
        if path.stem == "broken":
            raise RuntimeError(path.stem)
        if path.stem == "unreadable":
            raise IngestionError(path.stem)
        return Parsed([chunk(path.stem)], {})

    def close(self) -> None:
        """There is nothing to stop."""


def files(*names: str) -> list[SourceFile]:
    return [SourceFile(Path("/desk"), Path(f"/desk/{name}.md"), Path("/desk")) for name in names]


def test_files_come_in_their_order_with_what_cannot_be_used_in_its_place():
    with closing(PlainEngine(Reading(Names()), WordEmbeddings())) as engine:
        found = list(engine.read(files("a", "unreadable", "b")))

    assert [getattr(one, "chunks", None) or str(one) for one in found] == [[chunk("a")], "unreadable", [chunk("b")]]


def test_a_mistake_of_the_program_is_raised_where_its_file_is_taken():
    with closing(PlainEngine(Reading(Names()), WordEmbeddings())) as engine:
        found = engine.read(files("a", "broken"))
        assert isinstance(next(found), Parsed)
        with pytest.raises(RuntimeError, match="broken"):
            next(found)


def test_reading_waits_where_enough_files_are_ahead(monkeypatch):
    monkeypatch.setattr(engines, "FILES_AHEAD", 2)
    parser = Names()
    with closing(PlainEngine(Reading(parser), WordEmbeddings())) as engine:
        found = engine.read(files(*"abcdefgh"))
        for begun in (3, 4):
            next(found)
            assert parser.read.acquire(timeout=WAIT_S)
            engine._reader.submit(int).result(WAIT_S)  # What was submitted before is done.
            assert parser.begun == begun


class WaitingEmbeddings(WordEmbeddings):
    """Embeds the first batch once `event` is set."""

    def __init__(self, event: threading.Event) -> None:
        super().__init__()
        self.event = event

    def embed_documents(self, texts):
        assert self.event.wait(WAIT_S)
        return super().embed_documents(texts)


def test_files_are_read_while_others_are_embedded(tmp_path, monkeypatch):
    monkeypatch.setattr(index, "CHUNKS_A_BATCH", 1)
    shelf, last = Shelf(tmp_path), threading.Event()
    for number in range(4):
        shelf.write(f"03_reference/note{number}.md", f"# Note\n\nWords of note {number}.")

    class Parser(IsolatedParser):
        def parse(self, path):
            if path.stem == "note3":
                last.set()
            return super().parse(path)

    parser = Parser(Chunker(), timeout_s=60, memory_mb=1024)
    with closing(PlainEngine(Reading(parser), WaitingEmbeddings(last))) as engine:
        report, change = ingest([shelf.corpus], into=shelf.index, engine=engine)
    shelf.index.publish(change)

    assert (report.added, shelf.store.count(), shelf.embeddings.embedded) == (7, 7, 0)


def test_closing_ends_a_file_that_is_being_parsed(tmp_path):
    path = tmp_path / "rates.pdf"
    path.write_bytes(pdf("Nine percent."))
    parser, threads = IsolatedParser(Chunker(), timeout_s=300, memory_mb=1024), set(threading.enumerate())
    parser.parse(path)
    worker = parser.worker.process
    assert worker is not None
    worker.send_signal(signal.SIGSTOP)
    engine = PlainEngine(Reading(parser), WordEmbeddings())
    engine.read([SourceFile(tmp_path, path, tmp_path)])
    engine.close()

    assert parser.worker.process is None
    assert worker.returncode == -signal.SIGKILL
    assert set(threading.enumerate()) <= threads
