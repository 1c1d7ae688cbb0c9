"""Read files and embed texts on a Ray cluster: tasks of Ray Data read, a pool of actors embeds."""

import pickle
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache, partial
from queue import SimpleQueue
from typing import Any

from langchain_core.embeddings import Embeddings

from app.wings.ray.cluster import connect, errors_translated, size_of
from chains.errors import IngestionError
from chains.ingestion.engine import Reading, Vectors
from chains.ingestion.files import SourceFile
from chains.ingestion.parsing import Parsed

# One batch at work, and one that is there when it is done.
BATCHES_AN_ACTOR = 2


class Embedder:
    """The actor: one model."""

    def __init__(self, embeddings: Callable[[], Embeddings]) -> None:
        self._embeddings = embeddings()

    def embed(self, texts: list[str]) -> Vectors:
        return self._embeddings.embed_documents(texts)


class Actors:
    """As many actors as the cluster has cores, or GPUs. Ray starts one anew that died, on another node if need be.

    Args:
        embeddings: makes the model, in each actor.
        gpu: whether the model runs on a GPU where there is one.
    """

    def __init__(self, embeddings: Callable[[], Embeddings], *, gpu: bool) -> None:
        import ray  # noqa: PLC0415 - seconds, and an extra.

        count, gpus = size_of(gpu=gpu)
        options: dict[str, Any] = {"max_restarts": -1, "max_task_retries": -1, "scheduling_strategy": "SPREAD"}
        # An actor reserves no core: tasks that read would wait for it for ever where there are as many actors as cores.
        actor = ray.remote(Embedder).options(num_cpus=0, num_gpus=gpus, **options)
        self._actors: list[Any] = [actor.remote(embeddings) for _ in range(count)]
        self.batches = BATCHES_AN_ACTOR * count
        self._free: SimpleQueue[Any] = SimpleQueue()
        for one in self._actors * BATCHES_AN_ACTOR:
            self._free.put(one)
        self._threads = ThreadPoolExecutor(self.batches, "ray-embed")

    def embed(self, texts: list[str]) -> Future[Vectors]:
        """Begin to embed a batch, by the next actor that is free."""
        return self._threads.submit(self._embed, texts)

    def close(self) -> None:
        import ray  # noqa: PLC0415 - as above.

        self._threads.shutdown(wait=False, cancel_futures=True)
        for actor in self._actors:
            ray.kill(actor)
        self._threads.shutdown()  # Ray would start anew for a thread that calls it after it was shut down.

    def _embed(self, texts: list[str]) -> Vectors:
        import ray  # noqa: PLC0415 - as above.

        actor = self._free.get()
        try:
            with errors_translated("embed a batch"):
                found: Vectors = ray.get(actor.embed.remote(texts))
                return found
        finally:
            self._free.put(actor)


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
        return self._reading.parser.endings

    def read(self, files: Sequence[SourceFile]) -> Iterator[Parsed | IngestionError]:
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
        return self._actors.embed(texts)

    def close(self) -> None:
        self._actors.close()
        self._reading.parser.close()
        if self._started:
            import ray  # noqa: PLC0415 - seconds, and an extra.

            ray.shutdown()


def _read(row: dict[str, bytes], reading: bytes) -> dict[str, bytes]:
    return {"found": pickle.dumps(_reading(reading)(pickle.loads(row["file"])))}  # noqa: S301 - from the driver.


@lru_cache(maxsize=1)
def _reading(pickled: bytes) -> Reading:
    """Return what reads files, once for a worker: its process for hostile files takes half a second to start."""
    reading: Reading = pickle.loads(pickled)  # noqa: S301 - from the driver.
    return reading
