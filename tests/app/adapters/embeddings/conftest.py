import pytest

from app.adapters.embeddings.onnx import OnnxEmbeddings


@pytest.fixture(scope="session")
def embeddings():
    return OnnxEmbeddings()
