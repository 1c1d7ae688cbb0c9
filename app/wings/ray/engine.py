"""Read files and embed texts on a Ray cluster: tasks of Ray Data read, a pool of actors embeds."""

import pickle
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future
from functools import lru_cache, partial

from langchain_core.embeddings import Embeddings

from app.wings.ray.actors import Actors
from app.wings.ray.cluster import connect, disconnect, errors_translated
from chains.errors import IngestionError
from chains.ingestion.engine import Reading, Vectors
from chains.ingestion.files import SourceFile
from chains.ingestion.parsing import Parsed

FILES_A_TASK = 4
MOST_TASKS = 5_000


class RayEngine:
    """Reads files in tasks of Ray Data and embeds in actors, one model each, on a GPU where there is one.

    Args:
        reading: reads one file; it is sent to the tasks, which find the files under the same paths.
        embeddings: makes the model, in each actor.
        address: of the cluster's head, as `host:port`; None starts Ray on this machine for as long as the engine lives.
        gpu: whether the model would run on a GPU.

    Raises:
        ConfigurationError: the extra is not installed.
        IngestionError: there is no cluster at the address.
    """

    def __init__(
        self, reading: Reading, embeddings: Callable[[], Embeddings], *, address: str | None = None, gpu: bool = False
    ) -> None:
        self._reading = reading
        self._started = connect(address)
        self._actors = Actors(embeddings, gpu=gpu)
        self.batches = self._actors.batches

    @property
    def endings(self) -> Collection[str]:
        """Return the endings that a loader reads."""
        return self._reading.parser.endings

    def read(self, files: Sequence[SourceFile]) -> Iterator[Parsed | IngestionError]:
        """Yield what each file holds, or why it cannot be used, in the order of the files."""
        import ray.data  # noqa: PLC0415 - seconds, and an extra.

        if not files:
            return
        tasks = min(-(-len(files) // FILES_A_TASK), MOST_TASKS)
        rows = ray.data.from_items([{"file": pickle.dumps(file)} for file in files], override_num_blocks=tasks)
        read = partial(_read, reading=pickle.dumps(self._reading))
        with errors_translated("read the files"):
            for row in rows.map(read).iter_rows():
                yield pickle.loads(row["found"])  # noqa: S301 - the cluster is as trusted as this process.

    def embed(self, texts: list[str]) -> Future[Vectors]:
        """Begin to embed a batch of texts."""
        return self._actors.embed(texts)

    def close(self) -> None:
        """End the actors, and what is under way."""
        self._actors.close()
        self._reading.parser.close()
        disconnect(stop=self._started)


def _read(row: dict[str, bytes], reading: bytes) -> dict[str, bytes]:
    """Read a file, in a task."""
    return {"found": pickle.dumps(_reading(reading)(pickle.loads(row["file"])))}  # noqa: S301 - from the driver.


@lru_cache(maxsize=1)
def _reading(pickled: bytes) -> Reading:
    """Return what reads files, once for a worker: its process for hostile files takes half a second to start."""
    reading: Reading = pickle.loads(pickled)  # noqa: S301 - from the driver.
    return reading
