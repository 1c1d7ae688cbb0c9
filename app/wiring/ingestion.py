"""Settings, a store and the index of its words -> both in line with a folder of files."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.settings import Settings
from app.wiring.caches import index_version
from app.wiring.storage import alone, beside, delete_store, parser
from chains.ingestion import Index, ingest

if TYPE_CHECKING:
    from langchain_core.indexing import RecordManager

    from app.adapters.stores.fts import LexicalIndex
    from app.wiring.storage import Store
    from chains.ingestion import Report
    from chains.ports import Progress


@dataclass(frozen=True)
class Ingestion:
    """Writes what `store` and `words` open; `reopen` is called when the store is to be opened anew."""

    settings: Settings
    store: "Callable[[], Store]"
    words: "Callable[[], LexicalIndex]"
    reopen: Callable[[], None]

    def run(self, paths: list[Path], *, reset: bool, dry_run: bool, progress: "Progress | None") -> "Report":
        """Bring the store in line with the files, alone and under a new version of the index."""
        with alone(beside(self.settings)[0]):
            if dry_run:
                return self._ingest(paths, dry_run=True, progress=progress)
            with index_version(self.settings).changing() as keep:
                if reset:
                    self._reset()
                report = self._ingest(paths, dry_run=False, progress=progress)
                if not (reset or report.changed):
                    keep()
                return report

    def _ingest(self, paths: list[Path], *, dry_run: bool, progress: "Progress | None") -> "Report":
        with parser(self.settings) as files:
            return ingest(
                paths,
                into=self._index(),
                parser=files,
                progress=progress,
                dry_run=dry_run,
                min_chunks=self.settings.min_chunks,
            )

    def _index(self) -> Index:
        store = self.store()
        if store.count() == 0:
            self._forget()  # A store that was emptied or deleted holds nothing, whatever the records say.
        return Index(store, *self._records(), store.ids)

    def _records(self) -> "tuple[RecordManager, RecordManager]":
        from app.adapters.stores.records import open_records

        folder, name = beside(self.settings)
        return open_records(folder, name), open_records(folder, f"{name}/sources")

    def _reset(self) -> None:
        self.reopen()
        delete_store(self.settings)
        self.words().clear()
        self._forget()

    def _forget(self) -> None:
        for records in self._records():
            if keys := records.list_keys():
                records.delete_keys(keys)
