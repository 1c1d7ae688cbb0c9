"""The engines of an ingestion: threads of this process, or a Ray cluster."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from langchain_core.embeddings import Embeddings

from app.settings import Settings
from app.wiring.safety import suspicious_of
from app.wiring.storage import parser
from chains.errors import ConfigurationError
from chains.ingestion.engine import Engine, PlainEngine, Reading


@dataclass(frozen=True)
class EngineChoice:
    """An engine, and the address of its cluster; without one, Ray is started on this machine."""

    name: Literal["plain", "ray"] = "plain"
    address: str | None = None


def engine_of(settings: Settings, choice: EngineChoice, embeddings: Embeddings) -> Engine:
    """Return the engine; `embeddings` are those of this process.

    Raises:
        ConfigurationError: its extra is not installed, or the settings do not suit it.
        IngestionError: its cluster cannot be reached.
    """
    reading = Reading(parser(settings), suspicious_of(settings))
    if choice.name == "plain":
        return PlainEngine(reading, embeddings)
    from app.adapters.engines.ray import RayEngine

    gpu = settings.embedding_backend == "torch" and settings.embedding_device != "cpu"
    return RayEngine(reading, _actor_embeddings(settings), address=choice.address, gpu=gpu)


def _actor_embeddings(settings: Settings) -> Callable[[], Embeddings]:
    """Return what makes the model in a process of the cluster; it carries no secret."""
    if settings.embedding_provider != "huggingface":
        msg = (
            "--engine ray runs the model in the cluster; EMBEDDING_PROVIDER=openai-compatible asks a service: use plain"
        )
        raise ConfigurationError(msg)
    if settings.embedding_backend == "torch":
        from app.adapters.embeddings.huggingface import torch_embeddings

        return partial(torch_embeddings, settings.embedding_model, device=settings.embedding_device)
    from app.adapters.embeddings.onnx import OnnxEmbeddings

    return partial(OnnxEmbeddings, threads=1)
