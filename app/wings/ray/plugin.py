"""What Ray offers: an engine for ingestions."""

from collections.abc import Callable
from functools import partial

from langchain_core.embeddings import Embeddings

from app.adapters.embeddings.huggingface import torch_embeddings
from app.adapters.embeddings.onnx import OnnxEmbeddings
from app.settings import Settings
from app.wings.ray.engine import RayEngine
from app.wiring.models import embedding_prefixes
from chains.errors import ConfigurationError
from chains.ingestion.engine import Engine, Reading


def engine(settings: Settings, reading: Reading, address: str | None) -> Engine:
    """Return the engine on the cluster at `address`; without one, Ray is started on this machine."""
    gpu = settings.embedding.backend == "torch"
    return RayEngine(reading, _actor_embeddings(settings), address=address, gpu=gpu)


def _actor_embeddings(settings: Settings) -> Callable[[], Embeddings]:
    """Return a factory for the model in a cluster's process; it carries no secret."""
    if settings.embedding.provider != "huggingface":
        msg = "--engine ray embeds in the cluster, but EMBEDDING_PROVIDER=openai-compatible asks a service: use plain"
        raise ConfigurationError(msg)
    if settings.embedding.backend == "torch":
        return partial(torch_embeddings, settings.embedding.model, prefixes=embedding_prefixes(settings))
    return partial(OnnxEmbeddings, threads=1)
