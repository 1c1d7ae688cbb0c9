from pathlib import Path

import pytest

import app
from app.settings import SettingsError, fields, load_settings, unused_variables, unused_warning
from app.settings.reading import GONE
from app.settings.table import example_file, settings_table

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


def test_nothing_set_means_offline_and_a_key_means_groq(monkeypatch):
    assert load_settings().provider == "offline"
    monkeypatch.setenv("GROQ_API_KEY", "gsk_x")
    assert load_settings().provider == "groq"
    monkeypatch.setenv("LLM_PROVIDER", "offline")
    assert load_settings().provider == "offline"


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
        ("RETRIEVER_TYPE", "bm25", "'compression', 'hybrid', 'mmr' or 'similarity'"),
        ("VECTOR_STORE_TYPE", "faiss", "'chroma', 'memory' or 'postgres'"),
        ("CHROMA_HOST", "http://host", "pattern"),
        ("CHROMA_SSL", "maybe", "not one of 1, 0, true"),
        ("MMR_LAMBDA", "2", "less than or equal to 1"),
        ("MMR_FETCH_K", "0", "greater than 0"),
        ("EMBEDDING_BASE_URL", "localhost", "like https://host"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://host:port", "like https://host"),
        ("AUTH_MODE", "basic", "'none', 'session' or 'api_key'"),
        ("AUTH_URL", "auth:8004", "like https://host"),
        ("RATE_LIMIT", "often", "pattern"),
        ("LLM_OPTIONS", "low", "must be a JSON object"),
        ("EMBEDDING_PREFIXES", "query: ", "pattern"),
        ("PORT", "70000", "less than or equal to 65535"),
    ],
)
def test_a_bad_value_names_the_variable_the_value_and_what_is_allowed(monkeypatch, name, value, told):
    monkeypatch.setenv(name, value)

    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert f"{name}={value!r}" in str(caught.value)
    assert told in str(caught.value)


MISFITS = {
    "an overlap as large as the chunk": (
        {"CHUNK_OVERLAP": "800"},
        r"CHUNK_OVERLAP \(800\) must be smaller than CHUNK_SIZE \(800\)",
    ),
    "thresholds that do not rise": (
        {"CONFIDENCE_LOW_THRESHOLD": "0.6"},
        r"CONFIDENCE_LOW_THRESHOLD \(0\.6\).* have to rise in this order",
    ),
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


def test_a_key_lets_a_model_compress_and_a_tracing_server_of_ones_own_needs_none(monkeypatch):
    chosen = {"RETRIEVER_TYPE": "compression", "GROQ_API_KEY": "gsk_x"}
    for name, value in (chosen | {"LANGSMITH_TRACING": "true", "LANGSMITH_ENDPOINT": "http://127.0.0.1:1984"}).items():
        monkeypatch.setenv(name, value)
    assert (load_settings().retrieval.strategy, load_settings().langsmith.tracing) == ("compression", True)


def test_the_older_names_of_langsmiths_variables_work_and_the_newer_win(monkeypatch):
    monkeypatch.delenv("LANGSMITH_TRACING")
    monkeypatch.setenv("LANGCHAIN_TRACING_V2", "true")
    monkeypatch.setenv("LANGCHAIN_API_KEY", "lsv2_x")
    monkeypatch.setenv("LANGCHAIN_PROJECT", "old")
    assert (load_settings().langsmith.tracing, load_settings().langsmith.project) == (True, "old")
    monkeypatch.setenv("LANGSMITH_PROJECT", "new")
    assert load_settings().langsmith.project == "new"


def test_questions_are_limited_where_others_may_ask_or_where_it_is_said():
    assert load_settings().rate is None
    assert load_settings(allow_anonymous=True).rate == "60/minute"
    assert load_settings(auth_mode="session").rate == "60/minute"
    assert load_settings(auth_mode="session", rate_limit="off").rate is None
    assert load_settings(rate_limit="5/second").rate == "5/second"


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


@pytest.mark.parametrize("url", ["redis://127.0.0.1", "rediss://:secret@host:6379/1", "unix:///run/redis.sock"])
def test_every_form_of_redis_address_is_taken(url):
    assert load_settings(redis_url=url).redis.url.get_secret_value() == url


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


def test_nothing_is_said_where_all_that_is_set_is_read(monkeypatch):
    monkeypatch.setenv("LLM_MODEL", "m")
    assert unused_warning() is None


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


def test_zero_is_a_value(monkeypatch):
    monkeypatch.setenv("RELEVANCE_THRESHOLD", "0")
    assert load_settings().retrieval.threshold == 0.0


def test_the_names_of_the_chat_service_before_mean_the_same(monkeypatch):
    told = {
        "OPENROUTER_API_KEY": "sk-or-x",
        "PRIMARY_MODEL_ID": "google/gemma-3n-e2b-it:free",
        "REDIS_HOST": "redis",
        "REDIS_PORT": "6380",
        "RABBITMQ_HOST": "broker",
    }
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    settings = load_settings()

    assert (settings.provider, settings.llm.model) == ("openrouter", "google/gemma-3n-e2b-it:free")
    assert settings.redis.url.get_secret_value() == "redis://redis:6380/0"
    assert settings.events.rabbitmq_url
    assert settings.events.rabbitmq_url.get_secret_value() == "amqp://guest:guest@broker:5672/"
    assert unused_variables() == {}


def test_an_address_wins_over_a_host(monkeypatch):
    monkeypatch.setenv("REDIS_HOST", "redis")
    monkeypatch.setenv("REDIS_URL", "redis://elsewhere:6379/1")
    assert load_settings().redis.url.get_secret_value() == "redis://elsewhere:6379/1"


def test_a_key_of_groq_wins_over_one_of_openrouter(monkeypatch):
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or-x")
    monkeypatch.setenv("GROQ_API_KEY", "gsk_x")
    assert load_settings().provider == "groq"


@pytest.mark.parametrize(
    "given", [{}, {"LLM_PROVIDER": "openrouter"}, {"LLM_PROVIDER": "OpenRouter"}, {"LLM_MODEL": ""}], ids=str
)
def test_openrouter_without_a_model_takes_its_free_one(monkeypatch, given):
    for name, value in {"OPENROUTER_API_KEY": "sk-or-x", **given}.items():
        monkeypatch.setenv(name, value)
    settings = load_settings()

    assert (settings.provider, settings.llm.model) == ("openrouter", "google/gemma-3n-e2b-it:free")


def test_a_key_of_openrouter_beside_another_provider_changes_no_model(monkeypatch):
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or-x")
    monkeypatch.setenv("LLM_PROVIDER", "offline")
    assert load_settings().llm.model == "llama-3.1-8b-instant"


@pytest.mark.parametrize(
    ("name", "value", "taken"),
    [
        *(("LOG_LEVEL", given, given.lower()) for given in ("INFO", "DEBUG", "Warning", "ERROR", "info")),
        *(("LOG_LEVEL", given, "warning") for given in ("warn", "WARN", " Warn ")),
        ("LOG_FORMAT", "JSON", "json"),
        ("LLM_PROVIDER", "Offline", "offline"),
        ("SCOPE_FILE", "OFF", "off"),
        ("RETRIEVER_TYPE", "MMR", "mmr"),
        ("SAFETY_PII", "OFF", "off"),
        ("ENABLE_QUERY_REFORMULATION", "ALWAYS", "always"),
        ("LLM_MODEL", "Some/Model", "Some/Model"),
    ],
)
def test_words_of_a_list_are_taken_in_any_case(monkeypatch, name, value, taken):
    monkeypatch.setenv(name, value)
    assert load_settings().as_variables()[name.lower()] == taken


@pytest.mark.parametrize(
    ("provider", "address"), [("ollama", "http://127.0.0.1:11434/v1"), ("llama-cpp", "http://127.0.0.1:8080/v1")]
)
def test_a_server_of_ones_own_needs_nothing_but_its_name_and_gets_time(monkeypatch, provider, address):
    monkeypatch.setenv("LLM_PROVIDER", provider)
    settings = load_settings()

    assert (settings.provider, settings.llm.base_url, settings.llm.api_key) == (provider, address, None)
    assert (settings.llm.timeout_s, settings.request_timeout_s, settings.llm.rewriting_timeout_s) == (300, 330, 30)


def test_what_is_set_wins_over_what_the_provider_stands_for(monkeypatch):
    chosen = {"LLM_PROVIDER": "ollama", "LLM_BASE_URL": "http://box:11434/v1", "LLM_TIMEOUT_S": "20"}
    for name, value in (chosen | {"PRIMARY_MODEL_ID": "qwen2.5:7b"}).items():
        monkeypatch.setenv(name, value)
    settings = load_settings()

    assert (settings.llm.base_url, settings.llm.timeout_s) == ("http://box:11434/v1", 20)
    assert settings.llm.model == "qwen2.5:7b"
