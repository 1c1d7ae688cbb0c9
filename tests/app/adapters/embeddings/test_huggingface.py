"""The torch backend: its messages without the extra, and its vectors where torch is installed (`make parity`)."""

from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest
from langchain_core.embeddings import Embeddings

from app.adapters.embeddings.huggingface import TorchEmbeddings, torch_embeddings
from app.adapters.embeddings.onnx import OnnxEmbeddings
from app.adapters.embeddings.onnx.weights import MODEL
from app.adapters.embeddings.prefixes import Prefixes
from chains.errors import ConfigurationError

HAS_TORCH = find_spec("langchain_huggingface") is not None
needs_torch = pytest.mark.skipif(not HAS_TORCH, reason="the extra `huggingface` is not installed; `make parity` has it")


@pytest.mark.skipif(HAS_TORCH, reason="the extra `huggingface` is installed")
def test_without_the_extra_the_error_names_it():
    with pytest.raises(ConfigurationError, match=r"waypoint-copilot\[huggingface\]"):
        torch_embeddings(MODEL)


class PromptedEmbeddings(Embeddings):
    """Tells questions and passages apart, as HuggingFaceEmbeddings does where the two have prompts."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[0.0, 1.0] for _ in texts]

    def embed_query(self, text: str) -> list[float]:
        return [1.0, 0.0]


def test_a_question_is_embedded_as_a_question():
    embeddings = TorchEmbeddings(PromptedEmbeddings())

    assert embeddings.embed_query("a") == [1.0, 0.0]
    assert embeddings.embed_documents(["a"]) == [[0.0, 1.0]]


@needs_torch
def test_the_prefixes_stand_before_questions_and_passages():
    plain, prefixed = torch_embeddings(MODEL), torch_embeddings(MODEL, prefixes=Prefixes("query: ", "passage: "))

    assert np.allclose(prefixed.embed_query("GST"), plain.embed_query("query: GST"), atol=1e-5)
    assert np.allclose(prefixed.embed_documents(["GST"]), plain.embed_documents(["passage: GST"]), atol=1e-5)


@needs_torch
def test_texts_of_many_lengths_have_the_vectors_of_the_other_backend_in_their_order():
    texts = ["GST " * times for times in (1, 90, 3, 400, 2)]
    ours = np.array(OnnxEmbeddings().embed_documents(texts))

    assert np.allclose(torch_embeddings(MODEL, device="cpu").embed_documents(texts), ours, atol=1e-5)


@needs_torch
def test_a_gpu_that_is_not_there_is_a_clear_error():
    if import_module("torch").cuda.is_available():
        pytest.skip("there is a GPU here")
    with pytest.raises(ConfigurationError, match="torch cannot use the device cuda"):
        torch_embeddings(MODEL, device="cuda")
