"""Embeddings by sentence-transformers on torch, from the extra `huggingface`."""

from langchain_core.embeddings import Embeddings

from app.adapters.embeddings.onnx.weights import MODEL, find_weights
from chains.errors import ConfigurationError


def torch_embeddings(model: str) -> Embeddings:
    """Return embeddings of any sentence-transformers model, unit length; the packaged one needs no hub.

    Raises:
        ConfigurationError: the extra is not installed, or the model cannot be loaded.
    """
    try:
        from langchain_huggingface import HuggingFaceEmbeddings  # noqa: PLC0415 - it takes seconds, and an extra.
    except ImportError as error:
        msg = "EMBEDDING_BACKEND=torch needs the extra: pip install 'waypoint-copilot[huggingface]'"
        raise ConfigurationError(msg) from error
    try:
        embeddings: Embeddings = HuggingFaceEmbeddings(
            model_name=str(find_weights()) if model == MODEL else model,
            encode_kwargs={"normalize_embeddings": True},
        )
    except (OSError, ValueError) as error:
        msg = f"the embedding model {model!r} cannot be loaded; give a folder, or a name that the hub knows"
        raise ConfigurationError(msg) from error
    return embeddings
