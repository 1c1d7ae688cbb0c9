"""Embeddings by LangChain's HuggingFaceEmbeddings on torch: on the processor or on a GPU; the extra `huggingface`."""

from collections.abc import Callable
from typing import Any, Literal, TypeVar

from langchain_core.embeddings import Embeddings

from app.adapters.embeddings import NO_PREFIXES, Prefixes
from app.adapters.embeddings.onnx import MODEL, find_weights
from app.hooks import from_extra
from chains.errors import ConfigurationError, EmbeddingError

Device = Literal["auto", "cpu", "cuda"]
Vectors = TypeVar("Vectors", list[float], list[list[float]])


class TorchEmbeddings(Embeddings):
    """Embeds texts with `bound`, a HuggingFaceEmbeddings; every vector has length one.

    Raise EmbeddingError if torch failed, perhaps because the memory of the GPU is full.
    """

    def __init__(self, bound: Any) -> None:
        self._bound: Embeddings = bound

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self._embedded(len(texts), lambda: self._bound.embed_documents(texts)) if texts else []

    def embed_query(self, text: str) -> list[float]:
        return self._embedded(1, lambda: self._bound.embed_query(text))

    def _embedded(self, texts: int, embed: Callable[[], Vectors]) -> Vectors:
        try:
            return embed()
        except RuntimeError as error:
            raise EmbeddingError(f"torch could not embed {texts} texts: {str(error).splitlines()[0]}") from error


def torch_embeddings(model: str, *, device: Device = "auto", prefixes: Prefixes = NO_PREFIXES) -> TorchEmbeddings:
    """Return embeddings of any sentence-transformers model: a folder, or a name that the hub knows.

    The packaged model needs no hub; `auto` uses a GPU if there is one. Raise ConfigurationError if the extra is not
    installed, or the model cannot be loaded.
    """
    with from_extra("huggingface", "EMBEDDING_BACKEND=torch"):
        from langchain_huggingface import HuggingFaceEmbeddings  # noqa: PLC0415 - it takes seconds, and an extra.
    place = str(find_weights()) if model == MODEL else model
    chosen = {} if device == "auto" else {"device": device}
    passages, questions = ({"normalize_embeddings": True, "prompt": prefix or None} for prefix in prefixes[::-1])
    try:
        return TorchEmbeddings(
            HuggingFaceEmbeddings(
                model_name=place, model_kwargs=chosen, encode_kwargs=passages, query_encode_kwargs=questions
            )
        )
    except (OSError, ValueError) as error:
        msg = f"the embedding model {model!r} cannot be loaded; give a folder, or a name that the hub knows"
        raise ConfigurationError(msg) from error
    except (AssertionError, RuntimeError) as error:  # torch's own words for a missing or unusable device.
        reason = str(error).splitlines()[0]
        msg = f"torch cannot use the device {device} ({reason}); see nvidia-smi, or hide the GPU: CUDA_VISIBLE_DEVICES="
        raise ConfigurationError(msg) from error
