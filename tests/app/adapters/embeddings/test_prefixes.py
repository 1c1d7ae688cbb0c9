"""The prefixes that models want, by their names."""

from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest
from langchain_core.embeddings import Embeddings

from app.adapters.embeddings import NO_PREFIXES, Prefixes, prefixes_for
from app.adapters.embeddings.huggingface import TorchEmbeddings, torch_embeddings
from app.adapters.embeddings.onnx import MODEL, OnnxEmbeddings
from app.settings import SettingsError, load_settings
from app.wiring.models import embedding_label, embedding_prefixes
from chains.errors import ConfigurationError

SEARCH = "Represent this sentence for searching relevant passages: "


@pytest.mark.parametrize(
    ("model", "prefixes"),
    [
        ("intfloat/multilingual-e5-small", ("query: ", "passage: ")),
        ("e5-base-v2.Q4_K_M.gguf", ("query: ", "passage: ")),
        ("/models/multilingual_e5_small", ("query: ", "passage: ")),
        ("intfloat/multilingual-e5-large-instruct", ("", "")),
        ("BAAI/bge-small-en-v1.5", (SEARCH, "")),
        ("BAAI/bge-m3", ("", "")),
        ("ibm-granite/granite-embedding-small-english-r2", ("", "")),
        ("Snowflake/snowflake-arctic-embed-m-v2.0", ("query: ", "")),
        ("Snowflake/snowflake-arctic-embed-m-v1.5", (SEARCH, "")),
        ("nomic-ai/nomic-embed-text-v1.5", ("search_query: ", "search_document: ")),
        ("sentence-transformers/all-MiniLM-L6-v2", ("", "")),
        ("text-embedding-3-small", ("", "")),
    ],
)
def test_a_model_gets_the_prefixes_of_its_card(model, prefixes):
    assert prefixes_for(model) == prefixes


def test_a_prefix_that_is_set_takes_the_place_of_the_model_s_own():
    assert prefixes_for("intfloat/e5-small-v2", query="", passage="text: ") == ("", "text: ")


def settings(**options):
    return load_settings(
        _env_file=None,
        embedding_provider="openai-compatible",
        embedding_base_url="http://127.0.0.1:1/v1",
        embedding_model="e5-small",
        **options,
    )


def test_the_name_of_stored_vectors_has_the_model_and_the_passages_prefix():
    labels = [embedding_label(settings(**options)) for options in ({}, {"embedding_prefixes": "query: |"})]

    assert labels == ["e5-small (passage:)", "e5-small"]
    assert embedding_label(load_settings(_env_file=None)) == "sentence-transformers/all-MiniLM-L6-v2"


def test_a_service_that_adds_the_prefixes_gets_none():
    adding = settings(embedding_prefixes="input_type")

    assert embedding_prefixes(adding) == NO_PREFIXES
    assert embedding_label(adding) == "e5-small (input_type)"


@pytest.mark.parametrize(
    ("options", "needed"),
    [
        ({"embedding_prefixes": "input_type"}, "EMBEDDING_PROVIDER=openai-compatible"),
        ({"embedding_prefixes": "query: |passage: "}, "EMBEDDING_BACKEND=torch"),
    ],
)
def test_a_prefix_that_the_model_would_not_get_is_refused(options, needed):
    with pytest.raises(SettingsError, match=needed):
        load_settings(_env_file=None, **options)


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
