from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

import app
from app.settings import SettingsError, fields, load_settings, unused_variables, unused_warning
from app.settings.settings import GONE
from app.settings.table import example_file, settings_table
from tests.cases import cases

EXAMPLE = Path(app.__file__).parents[1] / ".env.example"


def test_the_example_file_is_what_the_settings_say():
    assert EXAMPLE.read_text(encoding="utf-8") == example_file(), (
        "run `python -m app.settings.table env > .env.example`"
    )


def test_every_setting_has_a_meaning_and_a_row_in_the_table():
    assert [name for name, field in fields().items() if not field.description] == []
    assert "| `RETRIEVAL_TOP_K` | `10` | Number of passages to retrieve |" in settings_table()


def test_the_example_file_can_be_used_as_it_is():
    Path(".env").write_text(EXAMPLE.read_text(encoding="utf-8"), encoding="utf-8")

    assert load_settings() == load_settings(_env_file=None)


FREE = "google/gemma-3n-e2b-it:free"
LANGCHAIN = {"LANGCHAIN_TRACING_V2": "true", "LANGCHAIN_API_KEY": "lsv2_x", "LANGCHAIN_PROJECT": "old"}
LEVELS = {
    "INFO": "info",
    "DEBUG": "debug",
    "Warning": "warning",
    "ERROR": "error",
    "warn": "warning",
    " Warn ": "warning",
}
OWN_SERVERS = {"ollama": "http://127.0.0.1:11434/v1", "llama-cpp": "http://127.0.0.1:8080/v1"}
PATIENT = {"llm.api_key": None, "llm.timeout_s": 300, "request_timeout_s": 330, "llm.rewriting_timeout_s": 30}
READ: dict[str, list[tuple[dict[str, str], dict[str, Any]]]] = {
    "nothing set means offline": [({}, {"llm.provider": "offline"})],
    "a key means groq, unless a provider is named": [
        ({"GROQ_API_KEY": "gsk_x"}, {"llm.provider": "groq"}),
        ({"GROQ_API_KEY": "gsk_x", "LLM_PROVIDER": "offline"}, {"llm.provider": "offline"}),
        ({"GROQ_API_KEY": "gsk_x", "OPENROUTER_API_KEY": "sk-or-x"}, {"llm.provider": "groq"}),
    ],
    "openrouter without a model takes its free one": [
        ({"OPENROUTER_API_KEY": "sk-or-x", **more}, {"llm.provider": "openrouter", "llm.model": FREE})
        for more in ({}, {"LLM_PROVIDER": "openrouter"}, {"LLM_PROVIDER": "OpenRouter"}, {"LLM_MODEL": ""})
    ],
    "a key of openrouter beside another provider changes no model": [
        ({"OPENROUTER_API_KEY": "sk-or-x", "LLM_PROVIDER": "offline"}, {"llm.model": "llama-3.1-8b-instant"})
    ],
    "the names of the chat service before mean the same": [
        (
            {"OPENROUTER_API_KEY": "sk-or-x", "PRIMARY_MODEL_ID": FREE},
            {"llm.provider": "openrouter", "llm.model": FREE},
        ),
        ({"REDIS_HOST": "redis", "REDIS_PORT": "6380"}, {"redis.url": "redis://redis:6380/0"}),
        ({"RABBITMQ_HOST": "broker"}, {"events.rabbitmq_url": "amqp://guest:guest@broker:5672/"}),
    ],
    "an address wins over a host": [
        ({"REDIS_HOST": "redis", "REDIS_URL": "redis://elsewhere:6379/1"}, {"redis.url": "redis://elsewhere:6379/1"})
    ],
    "every form of redis address is taken": [
        ({"REDIS_URL": url}, {"redis.url": url})
        for url in ("redis://127.0.0.1", "rediss://:secret@host:6379/1", "unix:///run/redis.sock")
    ],
    "a server of one's own needs nothing but its name, and gets time": [
        ({"LLM_PROVIDER": name}, {"llm.provider": name, "llm.base_url": url} | PATIENT)
        for name, url in OWN_SERVERS.items()
    ],
    "what is set wins over what the provider stands for": [
        (
            {"LLM_PROVIDER": "ollama", "LLM_BASE_URL": "http://box:11434/v1", "LLM_TIMEOUT_S": "20"}
            | {"PRIMARY_MODEL_ID": "qwen2.5:7b"},
            {"llm.base_url": "http://box:11434/v1", "llm.timeout_s": 20, "llm.model": "qwen2.5:7b"},
        )
    ],
    "a key lets a model compress": [
        ({"RETRIEVER_TYPE": "compression", "GROQ_API_KEY": "gsk_x"}, {"retrieval.strategy": "compression"})
    ],
    "a tracing server of one's own needs no key": [
        ({"LANGSMITH_TRACING": "true", "LANGSMITH_ENDPOINT": "http://127.0.0.1:1984"}, {"langsmith.tracing": True})
    ],
    "the older names of langsmith's variables work, and the newer win": [
        (LANGCHAIN, {"langsmith.tracing": True, "langsmith.project": "old"}),
        (LANGCHAIN | {"LANGSMITH_PROJECT": "new"}, {"langsmith.project": "new"}),
    ],
    "a model follows what it is of": [
        ({"RERANKER": " Cross-Encoder  org/Model"}, {"retrieval.reranker": "cross-encoder org/Model"}),
        ({"RERANKER": "http://box:80/v1 bge"}, {"retrieval.reranker": "http://box:80/v1 bge"}),
        ({"LLM_FALLBACK": "https://box/v1 m"}, {"llm.fallback": "https://box/v1 m"}),
        ({"LLM_FALLBACK": "Off"}, {"llm.fallback": False}),
    ],
    "zero is a value": [({"RELEVANCE_THRESHOLD": "0"}, {"retrieval.threshold": 0.0})],
}


@pytest.mark.parametrize(("given", "expected"), cases(READ))
def test_variables_are_read_as_they_are_meant(monkeypatch, given, expected):
    if given is LANGCHAIN or "LANGSMITH_PROJECT" in given:
        monkeypatch.delenv("LANGSMITH_TRACING")
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    settings = load_settings()
    values = {name: attrgetter(name)(settings) for name in expected}

    assert {
        name: getattr(value, "get_secret_value", lambda value=value: value)() for name, value in values.items()
    } == (expected)
    assert unused_variables() == {}


@pytest.mark.parametrize(
    ("name", "value", "taken"),
    [
        *(("LOG_LEVEL", given, level) for given, level in LEVELS.items()),
        ("LOG_FORMAT", "JSON", "json"),
        ("LLM_PROVIDER", "Offline", "offline"),
        ("RETRIEVER_TYPE", "MMR", "mmr"),
        ("SCOPE_FILE", "OFF", "off"),
        ("SAFETY_PII", "OFF", "off"),
        ("ENABLE_QUERY_REFORMULATION", "ALWAYS", "always"),
        ("LLM_MODEL", "Some/Model", "Some/Model"),
    ],
)
def test_words_of_a_list_are_taken_in_any_case(monkeypatch, name, value, taken):
    monkeypatch.setenv(name, value)
    assert load_settings().as_variables()[name.lower()] == taken


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("RETRIEVAL_TOP_K", "many", "valid integer"),
        ("RETRIEVAL_TOP_K", "0", "greater than or equal to 1"),
        ("RELEVANCE_THRESHOLD", "1.5", "less than or equal to 1"),
        ("CONFIDENCE_STRATEGY", "guess", "'calibrated', 'composite' or 'tiered'"),
        ("CONFIDENCE_HIGH_THRESHOLD", "1.5", "less than or equal to 1"),
        ("LLM_PROVIDER", "openroute", "'ollama', 'openai-compatible' or 'openrouter'"),
        ("EMBEDDING_BACKEND", "tensorflow", "'onnx' or 'torch'"),
        ("LLM_BASE_URL", "api.groq.example", "like https://host"),
        ("COLLECTION_NAME", "ab", "pattern"),
        ("RETRIEVER_TYPE", "bm25", "'compression', 'hybrid', "),
        ("VECTOR_STORE_TYPE", "faiss", "'chroma', 'memory' or 'postgres'"),
        ("CHROMA_HOST", "http://host", "pattern"),
        ("CHROMA_SSL", "maybe", "not one of 1, 0, true"),
        ("MMR_LAMBDA", "2", "less than or equal to 1"),
        ("MMR_FETCH_K", "0", "greater than 0"),
        ("EMBEDDING_BASE_URL", "localhost", "like https://host"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://host:port", "like https://host"),
        ("AUTH_MODE", "basic", "'none', 'public', 'session' or 'api_key'"),
        ("AUTH_URL", "auth:8004", "like https://host"),
        ("FRAME_ANCESTORS", "a.example", "not an origin like"),
        ("FRAME_ANCESTORS", "https://a.example; script-src *", "not an origin like"),
        ("FRAME_ANCESTORS", "https://a.example/path", "not an origin like"),
        ("TRUSTED_LINK_HOSTS", "https://gov.sg/", "not a host name"),
        ("RATE_LIMIT", "often", "pattern"),
        ("LLM_FALLBACK", "true m", "is not one of true, false, or the address of a service"),
        ("LLM_OPTIONS", "low", "must be a JSON object"),
        ("EMBEDDING_PREFIXES", "query: ", "pattern"),
        ("PORT", "70000", "less than or equal to 65535"),
        ("CHROMA_PORT", "70000", "less than or equal to 65535"),
    ],
)
def test_a_bad_value_names_the_variable_the_value_and_what_is_allowed(monkeypatch, name, value, told):
    monkeypatch.setenv(name, value)

    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert f"{name}={value!r}" in str(caught.value)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


MISFITS = {
    "an overlap as large as the chunk": (
        {"CHUNK_OVERLAP": "800"},
        r"CHUNK_OVERLAP \(800\) must be smaller than CHUNK_SIZE \(800\)",
    ),
    "thresholds that do not rise": (
        {"CONFIDENCE_LOW_THRESHOLD": "0.6"},
        r"CONFIDENCE_LOW_THRESHOLD \(0\.6\).* have to rise in this order",
    ),
    "a provider without an address": ({"LLM_PROVIDER": "openai-compatible"}, "needs LLM_BASE_URL"),
    "groq without a key": ({"LLM_PROVIDER": "groq"}, "needs a key in LLM_API_KEY or GROQ_API_KEY"),
    "openrouter without a key": (
        {"LLM_PROVIDER": "openrouter"},
        "LLM_PROVIDER=openrouter needs a key in OPENROUTER_API_KEY or LLM_API_KEY",
    ),
    "compression without a model": ({"RETRIEVER_TYPE": "compression"}, "=compression needs a language model"),
    "embeddings without an address": ({"EMBEDDING_PROVIDER": "openai-compatible"}, "needs EMBEDDING_BASE_URL"),
    "tracing without a key": ({"LANGSMITH_TRACING": "true"}, "LANGSMITH_TRACING=true needs LANGSMITH_API_KEY"),
    "keys are asked for and there are none": ({"AUTH_MODE": "api_key"}, "AUTH_MODE=api_key needs API_KEYS"),
    "all bad values are named at once": ({"PORT": "no", "LLM_RPM": "no"}, r"^LLM_RPM='no': .*\nPORT='no': "),
}


@pytest.mark.parametrize(("chosen", "told"), MISFITS.values(), ids=MISFITS)
def test_settings_that_do_not_fit_together_are_refused(monkeypatch, chosen, told):
    for name, value in chosen.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=told):
        load_settings()


def test_questions_are_limited_where_others_may_ask_or_where_it_is_said():
    assert load_settings().rate is None
    assert load_settings(auth_mode="public").rate == "60/minute"
    assert load_settings(auth_mode="session").rate == "60/minute"
    assert load_settings(auth_mode="session", rate_limit="off").rate is None
    assert load_settings(rate_limit="5/second").rate == "5/second"


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"ALLOW_ANONYMOUS": "true", "AUTH_MODE": "none"}, "access.is_public"),
        ({"AUTH_MODE": "public", "ALLOW_ANONYMOUS": "false"}, "access.is_public"),
        ({"ANSWER_LOG": "true", "ANSWER_LOG_DAYS": "30"}, "database.logs_answers"),
        ({"LANGSMITH_HIDE_INPUTS": "false", "LANGCHAIN_HIDE_OUTPUTS": "true"}, "langsmith.hides"),
    ],
)
def test_an_earlier_name_that_keeps_something_closed_still_does(monkeypatch, given, meant):
    monkeypatch.delenv("ANSWER_LOG_DAYS")
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    settings = load_settings()
    assert attrgetter(meant)(settings)
    assert unused_variables() == {}


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"ALLOW_ANONYMOUS": "true", "AUTH_MODE": "session"}, "access.is_public"),
        ({"ANSWER_LOG": "false", "ANSWER_LOG_DAYS": "90"}, "database.logs_answers"),
        ({"ANSWER_LOG_DAYS": "0"}, "database.logs_answers"),
    ],
)
def test_an_earlier_name_opens_nothing_that_is_closed(monkeypatch, given, meant):
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert not attrgetter(meant)(load_settings())


def test_a_secret_is_never_shown():
    assert "gsk_secret" not in repr(load_settings(llm_api_key="gsk_secret"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RABBITMQ_URL", "http://guest:secret@host/"),
        ("RABBITMQ_URL", "amqp://guest:secret@host:port/"),
        ("RABBITMQ_URL", "amqp://"),
        ("REDIS_URL", "http://guest:secret@host/"),
        ("REDIS_URL", "redis://guest:secret@host:port/0"),
        ("REDIS_URL", "redis://guest:secret@host/secret"),
        ("LLM_BASE_URL", "htps://guest:secret@host"),
        ("LLM_BASE_URL", "https://guest:secret@[host"),
        ("LLM_BASE_URL", "localhost/v1?key=secret"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "guest:secret@host"),
        ("LLM_PROVIDER", "gsk_secret"),
        ("PORT", "secret-0123456789abcdef-0123456789abcdef"),
    ],
)
def test_a_value_that_may_hold_a_secret_is_refused_by_name_alone(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert str(caught.value).startswith(f"{name}: ")
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_an_env_file_that_is_no_text_is_refused():
    Path(".env").write_bytes(b"LLM_MODEL=caf\xe9\n")
    with pytest.raises(SettingsError, match=r"\.env is not UTF-8 text"):
        load_settings()


@pytest.mark.parametrize("made", [True, False])
def test_metrics_need_a_folder_that_can_be_written(tmp_path, made):
    folder = tmp_path / "metrics"
    if made:
        folder.write_text("a file")
    with pytest.raises(SettingsError, match="PROMETHEUS_MULTIPROC_DIR"):
        load_settings(prometheus_multiproc_dir=folder)


def test_a_variable_that_nothing_reads_is_named(monkeypatch):
    monkeypatch.setenv("SAFETY_LEVEL", "true")
    monkeypatch.setenv("LLM_MODEL", "m")
    monkeypatch.setenv("EDITOR", "vi")
    Path(".env").write_text("RETREIVAL_TOP_K=5\nexport GROQ_API_KEY=x\n# CACHE_SIZE=1\n")

    assert unused_variables() == {"RETREIVAL_TOP_K": "RETRIEVAL_TOP_K", "SAFETY_LEVEL": None}
    assert unused_warning() == "RETREIVAL_TOP_K (use RETRIEVAL_TOP_K), SAFETY_LEVEL"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("TOP_K", "RETRIEVAL_TOP_K"),
        ("SCORE_THRESHOLD", "RELEVANCE_THRESHOLD"),
        ("SIMILARITY_THRESHOLD", "RELEVANCE_THRESHOLD"),
        ("CHROMA_COLLECTION_NAME", "COLLECTION_NAME"),
        ("OPENAI_API_KEY", "LLM_API_KEY with LLM_PROVIDER=openai-compatible and LLM_BASE_URL"),
        ("RERANK_ENABLED", "RETRIEVER_TYPE"),
        ("LLM_TEMPERATUR", "LLM_TEMPERATURE"),
    ],
)
def test_the_name_of_another_program_is_told_with_ours(monkeypatch, name, meant):
    monkeypatch.setenv(name, "sk-secret")
    assert unused_warning() == f"{name} (use {meant})"


def test_a_setting_that_went_is_named_with_what_replaces_it(monkeypatch):
    monkeypatch.setenv("LLM_SERVICE_TIER", "flex")
    monkeypatch.setenv("body_timeout_s", "3")
    assert unused_warning() == (
        "BODY_TIMEOUT_S (gone: a constant now, 10 seconds), LLM_SERVICE_TIER (gone: put it into LLM_OPTIONS, as JSON)"
    )
    assert set(GONE).isdisjoint(name.upper() for name in fields())


def test_there_is_no_setting_of_an_unknown_name():
    with pytest.raises(TypeError, match="there is no setting BODY_TIMEOUT_S"):
        load_settings(body_timeout_s=3)
