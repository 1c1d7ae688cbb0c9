"""Embeddings by LangChain's HuggingFaceEmbeddings on torch: on the processor or on a GPU; the extra `huggingface`."""

from typing import Any, Literal

from langchain_core.embeddings import Embeddings

from app.adapters.embeddings.onnx.weights import MODEL, find_weights
from app.hooks import from_extra
from chains.errors import ConfigurationError, EmbeddingError

Device = Literal["auto", "cpu", "cuda"]


class TorchEmbeddings(Embeddings):
    """Embeds texts with `bound`, a HuggingFaceEmbeddings; every vector has length one.

    Raises:
        EmbeddingError: torch failed, perhaps because the memory of the GPU is full.
    """

    def __init__(self, bound: Any) -> None:
        self._bound: Embeddings = bound

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors of the texts, in their order."""
        try:
            return self._bound.embed_documents(texts) if texts else []
        except RuntimeError as error:
            msg = f"torch could not embed {len(texts)} texts: {str(error).splitlines()[0]}"
            raise EmbeddingError(msg) from error

    def embed_query(self, text: str) -> list[float]:
        """Return the text's vector."""
        return self.embed_documents([text])[0]


def torch_embeddings(model: str, *, device: Device = "auto") -> TorchEmbeddings:
    """Return embeddings of any sentence-transformers model; the packaged one needs no hub.

    Args:
        model: a folder, or a name that the hub knows.
        device: auto uses a GPU if there is one.

    Raises:
        ConfigurationError: the extra is not installed, the model cannot be loaded, or there is no such device.
    """
    with from_extra("huggingface", "EMBEDDING_BACKEND=torch"):
        from langchain_huggingface import HuggingFaceEmbeddings  # noqa: PLC0415 - it takes seconds, and an extra.
    place = str(find_weights()) if model == MODEL else model
    chosen = {} if device == "auto" else {"device": device}
    try:
        return TorchEmbeddings(
            HuggingFaceEmbeddings(model_name=place, model_kwargs=chosen, encode_kwargs={"normalize_embeddings": True})
        )
    except (OSError, ValueError) as error:
        msg = f"the embedding model {model!r} cannot be loaded; give a folder, or a name that the hub knows"
        raise ConfigurationError(msg) from error
    except (AssertionError, RuntimeError) as error:  # torch's own words for a missing or unusable device.
        reason = str(error).splitlines()[0]
        msg = f"EMBEDDING_DEVICE={device}: torch cannot use it ({reason}); try EMBEDDING_DEVICE=cpu, or see nvidia-smi"
        raise ConfigurationError(msg) from error
