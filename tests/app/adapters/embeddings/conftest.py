"""The embedding model, opened with a cache folder of its own."""

import pytest

from app.adapters.embeddings.onnx import OnnxEmbeddings


@pytest.fixture(scope="session")
def cache_dir(tmp_path_factory):
    return tmp_path_factory.mktemp("onnx")


@pytest.fixture(scope="session")
def embeddings(cache_dir):
    return OnnxEmbeddings(cache_dir=cache_dir)
