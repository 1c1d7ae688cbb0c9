"""Read files and embed texts on a Ray cluster: tasks of Ray Data read, a pool of actors embeds."""

import logging
import pickle
import socket
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache, partial
from queue import SimpleQueue
from types import ModuleType
from typing import Any

from langchain_core.embeddings import Embeddings

from app.adapters.embeddings.huggingface import torch_embeddings
from app.adapters.embeddings.onnx import OnnxEmbeddings
from app.hooks import from_extra
from app.settings import Settings
from app.wiring.models import embedding_prefixes
from chains.errors import ConfigurationError, EmbeddingError, IngestionError
from chains.ingestion.engine import Engine, Reading, Vectors
from chains.ingestion.files import SourceFile
from chains.ingestion.parsing import Parsed

CONNECT_TIMEOUT_S = 5
# Ray alone would take a third of the memory for its objects; a batch of chunks or vectors takes a megabyte.
OBJECT_STORE_BYTES = 512 * 2**20
# What has been read and not taken yet, in all of the cluster.
READ_AHEAD_BYTES = 256 * 2**20


def engine(settings: Settings, reading: Reading, address: str | None) -> Engine:
    """Return the engine on the cluster at `address`; without one, Ray is started on this machine."""
    if settings.embedding.provider != "huggingface":
        msg = "--engine ray embeds in the cluster, but EMBEDDING_PROVIDER=openai-compatible asks a service: use plain"
        raise ConfigurationError(msg)
    # Makes the model in a cluster's process; it carries no secret.
    embeddings: Callable[[], Embeddings] = partial(OnnxEmbeddings, threads=1)
    if gpu := settings.embedding.backend == "torch":
        embeddings = partial(torch_embeddings, settings.embedding.model, prefixes=embedding_prefixes(settings))
    return RayEngine(reading, embeddings, address=address, gpu=gpu)


def _join(ray: ModuleType, address: str | None) -> None:
    """Join the cluster whose head is at `address`; None starts one here."""
    if address is not None:
        host, _, port = address.rpartition(":")
        try:  # Ray itself would try for minutes, and write of it to the terminal.
            socket.create_connection((host, int(port)), CONNECT_TIMEOUT_S).close()
        except (OSError, ValueError, OverflowError) as error:
            msg = f"no Ray cluster answers at {address!r} ({error}); give the address of its head, like 10.0.0.1:6379"
            raise IngestionError(msg) from error
    options: dict[str, Any] = {"object_store_memory": OBJECT_STORE_BYTES, "include_dashboard": False}
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    try:
        ray.init(address=address or "local", **(options if address is None else {}), **quiet)
    except (OSError, RuntimeError, ValueError) as error:
        where = repr(address) if address else "this machine"
        msg = f"Ray cannot be used on {where} ({str(error).splitlines()[0]}); run this on a machine of the cluster"
        raise IngestionError(msg) from error


# One batch at work, and one that is there when it is done.
BATCHES_AN_ACTOR = 2
FILES_A_TASK, MOST_TASKS = 4, 5_000


class Embedder:
    """The actor: one model."""

    def __init__(self, embeddings: Callable[[], Embeddings]) -> None:
        self._embeddings = embeddings()

    def embed(self, texts: list[str]) -> Vectors:
        return self._embeddings.embed_documents(texts)


class RayEngine:
    """Reads files in tasks of Ray Data and embeds in actors, one model each, on a GPU where there is one.

    There are as many actors as the cluster has cores, or GPUs; `embeddings` makes the model in each. Ray starts one
    anew that died, on another node if need be. `reading` is sent to the tasks, which find the files under the same
    paths. `address` is the cluster's head, as `host:port`; None starts Ray on this machine for as long as the engine
    lives. Raise ConfigurationError if the extra is not installed; IngestionError if there is no cluster at the address.
    """

    def __init__(
        self, reading: Reading, embeddings: Callable[[], Embeddings], *, address: str | None = None, gpu: bool = False
    ) -> None:
        with from_extra("ray", "--engine ray"):
            import ray.data  # Seconds, and an extra.
        self._ray, self._reading, self._started = ray, reading, not ray.is_initialized()
        self.endings = reading.parser.endings
        if self._started:
            _join(ray, address)
        # Files in order, what is read ahead bounded, and the terminal free.
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.print_on_execution_start = False
        context.execution_options.preserve_order = True
        limits = ray.data.ExecutionResources.for_limits(object_store_memory=READ_AHEAD_BYTES)
        context.execution_options.resource_limits = limits
        for name in ("ray", "ray.data"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        gpus = int(resources.get("GPU", 0)) if gpu else 0
        count = gpus or max(1, int(resources.get("CPU", 1)))
        options: dict[str, Any] = {"max_restarts": -1, "max_task_retries": -1, "scheduling_strategy": "SPREAD"}
        # An actor reserves no core: tasks that read would wait for it for ever where there are as many actors as cores.
        actor = ray.remote(Embedder).options(num_cpus=0, num_gpus=1 if gpus else 0, **options)
        self._actors: list[Any] = [actor.remote(embeddings) for _ in range(count)]
        self.batches = BATCHES_AN_ACTOR * count
        self._free: SimpleQueue[Any] = SimpleQueue()
        for actor in self._actors * BATCHES_AN_ACTOR:
            self._free.put(actor)
        self._threads = ThreadPoolExecutor(self.batches, "ray-embed")

    def read(self, files: Sequence[SourceFile]) -> Iterator[Parsed | IngestionError]:
        if not files:
            return
        tasks = min(-(-len(files) // FILES_A_TASK), MOST_TASKS)
        rows = self._ray.data.from_items([{"file": pickle.dumps(file)} for file in files], override_num_blocks=tasks)
        read = partial(_read, reading=pickle.dumps(self._reading))
        with self._errors_translated("read the files"):
            for row in rows.map(read).iter_rows():
                yield pickle.loads(row["found"])  # noqa: S301 - the cluster is as trusted as this process.

    def embed(self, texts: list[str]) -> Future[Vectors]:
        return self._threads.submit(self._embed, texts)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        for actor in self._actors:
            self._ray.kill(actor)
        self._threads.shutdown()  # Ray would start anew for a thread that calls it after it was shut down.
        self._reading.parser.close()
        if self._started:
            self._ray.shutdown()

    def _embed(self, texts: list[str]) -> Vectors:
        actor = self._free.get()
        try:
            with self._errors_translated("embed a batch"):
                found: Vectors = self._ray.get(actor.embed.remote(texts))
                return found
        finally:
            self._free.put(actor)

    @contextmanager
    def _errors_translated(self, purpose: str) -> Iterator[None]:
        """Raise what Ray could not mend as an error of ours, with its reason."""
        try:
            yield
        except self._ray.exceptions.RayError as error:
            reason = str(getattr(error, "cause", None) or error).strip().splitlines()[-1]
            msg = f"Ray could not {purpose} ({reason}); what is written stays, and the same command goes on from there"
            raise EmbeddingError(msg) from error


def _read(row: dict[str, bytes], reading: bytes) -> dict[str, bytes]:
    return {"found": pickle.dumps(_reading(reading)(pickle.loads(row["file"])))}  # noqa: S301 - from the driver.


@lru_cache(maxsize=1)
def _reading(pickled: bytes) -> Reading:
    """Return what reads files, once for a worker: its process for hostile files takes half a second to start."""
    reading: Reading = pickle.loads(pickled)  # noqa: S301 - from the driver.
    return reading
