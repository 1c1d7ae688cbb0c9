"""Embeddings by sentence-transformers on torch, from the extra `huggingface`: on the processor or on a GPU."""

from typing import TYPE_CHECKING, Literal

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from app.adapters.embeddings.batches import batches
from app.adapters.embeddings.onnx.weights import MODEL, find_weights
from chains.errors import ConfigurationError, EmbeddingError

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

Device = Literal["auto", "cpu", "cuda"]

# How many tokens one pass through the model may hold: a GPU is busy only with many texts at once.
CPU_TOKENS, GPU_TOKENS = 2048, 32_768


class TorchEmbeddings(Embeddings):
    """Embed texts with a sentence-transformers model; every vector has length one.

    On a CUDA device the model computes in half precision. Texts of nearly the same length share a pass.
    """

    def __init__(self, model: "SentenceTransformer") -> None:
        on_gpu = model.device.type == "cuda"
        self._model = model.half() if on_gpu else model
        self._tokens = GPU_TOKENS if on_gpu else CPU_TOKENS

    @property
    def device(self) -> str:
        """Return where the model runs, like `cpu` or `cuda:0`."""
        return str(self._model.device)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors of the texts, in their order.

        Raises:
            EmbeddingError: torch failed, perhaps because the memory of the GPU is full.
        """
        lengths = self._lengths(texts)
        vectors: dict[int, list[float]] = {}
        for batch in batches(lengths, tokens=self._tokens):
            vectors.update(zip(batch, self._encode([texts[index] for index in batch]).tolist(), strict=True))
        return [vectors[index] for index in range(len(texts))]

    def embed_query(self, text: str) -> list[float]:
        """Return the text's vector."""
        found: list[float] = self._encode([text])[0].tolist()
        return found

    def _lengths(self, texts: list[str]) -> list[int]:
        most = int(self._model.max_seq_length or self._tokens)
        found = self._model.tokenizer(texts, truncation=True, max_length=most)["input_ids"] if texts else []
        return [len(ids) for ids in found]

    def _encode(self, texts: list[str]) -> NDArray[np.float32]:
        try:
            found = self._model.encode(texts, batch_size=len(texts), show_progress_bar=False)
        except RuntimeError as error:
            msg = f"torch could not embed {len(texts)} texts on {self.device!r}: {str(error).splitlines()[0]}"
            raise EmbeddingError(msg) from error
        vectors = np.asarray(found, dtype=np.float32)  # Half precision is too coarse for a length of one.
        unit: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit


def torch_embeddings(model: str, *, device: Device = "auto") -> TorchEmbeddings:
    """Return embeddings of any sentence-transformers model; the packaged one needs no hub.

    Args:
        model: a folder, or a name that the hub knows.
        device: auto takes a GPU where there is one.

    Raises:
        ConfigurationError: the extra is not installed, the model cannot be loaded, or there is no such device.
    """
    try:
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - it takes seconds, and an extra.
    except ImportError as error:
        msg = "EMBEDDING_BACKEND=torch needs the extra: pip install 'waypoint-copilot[huggingface]'"
        raise ConfigurationError(msg) from error
    place = str(find_weights()) if model == MODEL else model
    try:
        return TorchEmbeddings(SentenceTransformer(place, device=None if device == "auto" else device))
    except (OSError, ValueError) as error:
        msg = f"the embedding model {model!r} cannot be loaded; give a folder, or a name that the hub knows"
        raise ConfigurationError(msg) from error
    except (AssertionError, RuntimeError) as error:  # torch's own words for a missing or unusable device.
        reason = str(error).splitlines()[0]
        msg = f"EMBEDDING_DEVICE={device}: torch cannot use it ({reason}); try EMBEDDING_DEVICE=cpu, or see nvidia-smi"
        raise ConfigurationError(msg) from error
