"""A pool of Ray actors that embed, each with a model of its own."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

from langchain_core.embeddings import Embeddings

from app.wings.ray.cluster import errors_translated, size_of
from chains.ingestion.engine import Vectors

# One batch at work, and one that is there when it is done.
BATCHES_AN_ACTOR = 2


class Embedder:
    """The actor: one model."""

    def __init__(self, embeddings: Callable[[], Embeddings]) -> None:
        self._embeddings = embeddings()

    def embed(self, texts: list[str]) -> Vectors:
        """Return the vectors of the texts."""
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
        """End the actors, and what they are at."""
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
