"""Defaults of each provider: address, model and timeouts."""

from collections.abc import Mapping
from typing import Any, Final

OPENROUTER_MODEL: Final = "google/gemma-3n-e2b-it:free"
LOCAL_SERVERS: Final = {"ollama": "http://127.0.0.1:11434/v1", "llama-cpp": "http://127.0.0.1:8080/v1"}
"""Local model servers, and the addresses they listen on by default."""
LISTED_MODEL: Final = "default"
"""The default LLM_MODEL of a local server: the first model that it lists."""

# Without a GPU a local server reads 50 to 200 tokens a second: a prompt takes half a minute or more.
_PATIENCE: Final = {"llm_timeout_s": 300, "request_timeout_s": 330, "query_reformulation_timeout_s": 30}


def preset(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the provider of these raw values stands for."""
    provider = _provider(values)
    if provider == "openrouter":
        return {"llm_model": OPENROUTER_MODEL}
    if provider in LOCAL_SERVERS:
        return {"llm_base_url": LOCAL_SERVERS[provider], "llm_model": LISTED_MODEL, **_PATIENCE}
    return {}


def _provider(values: Mapping[str, Any]) -> str:
    keyed = values.get("openrouter_api_key") and not (values.get("llm_api_key") or values.get("groq_api_key"))
    return str(values.get("llm_provider") or ("openrouter" if keyed else "")).strip().lower()
