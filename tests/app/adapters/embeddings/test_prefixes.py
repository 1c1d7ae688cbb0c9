"""The prefixes that models want, by their names."""

import pytest

from app.adapters.embeddings.prefixes import NO_PREFIXES, prefixes_for
from app.settings import SettingsError, load_settings
from app.wiring.models import embedding_label, embedding_prefixes

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
