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
    if settings.embedding.provider != "huggingface":
        msg = "--engine ray embeds in the cluster, but EMBEDDING_PROVIDER=openai-compatible asks a service: use plain"
        raise ConfigurationError(msg)
    # Makes the model in a cluster's process; it carries no secret.
    embeddings: Callable[[], Embeddings] = partial(OnnxEmbeddings, threads=1)
    if gpu := settings.embedding.backend == "torch":
        embeddings = partial(torch_embeddings, settings.embedding.model, prefixes=embedding_prefixes(settings))
    return RayEngine(reading, embeddings, address=address, gpu=gpu)
