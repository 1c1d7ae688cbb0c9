"""The LCEL chatbot's settings: its cases, read by ours; where ours differ on purpose, why."""

import pytest

from app.settings import Settings, SettingsError, load_settings
from tests.contract.recorded import recorded

# Its names, and where ours stand.
NAMES = {
    "chunkSize": "ingestion.chunk_size",
    "chunkOverlap": "ingestion.chunk_overlap",
    "minChunks": "ingestion.min_chunks",
    "chromaPort": "chroma.port",
    "chromaSsl": "chroma.ssl",
    "safetyEnabled": "safety.enabled",
    "logLevel": "logs.level",
    "cacheEnabled": "cache.enabled",
    "cacheTtl": "cache.ttl",
    "confidenceEnabled": "confidence.enabled",
    "confidenceLowThreshold": "confidence.low_threshold",
    "confidenceMediumThreshold": "confidence.medium_threshold",
    "confidenceHighThreshold": "confidence.high_threshold",
    "confidenceIncludeFactors": "confidence.include_factors",
}
OTHERS = {
    ("llmProvider", "llmModel", "openaiApiKey"): "the first model is Groq's",
    ("embeddingProvider", "embeddingModel"): "texts are embedded on this machine",
    ("vectorStoreType", "chromaCollectionName", "chromaHost"): "Chroma is a folder, or the server CHROMA_HOST",
    ("retrieverType", "topK", "scoreThreshold"): "hybrid retrieval has another scale of scores",
    ("rerankEnabled", "rerankTopN", "rerankTopK"): "RERANKER names what puts passages in order again",
    ("cacheEmbeddings", "cacheRetrieval", "cacheLLM"): "CACHE_ENABLED turns all three on",
    ("nodeEnv",): "there is no Node",
}
OUR_NAMES = {"TOP_K": "RETRIEVAL_TOP_K"}


def value_of(settings: Settings, path: str) -> object:
    group, name = path.split(".")
    return getattr(getattr(settings, group), name)


@pytest.mark.parametrize("case", recorded("config"))
def test_the_environment_is_read_as_the_contract_says(case, monkeypatch):
    expected = case["expected"]
    given = {OUR_NAMES.get(name, name): value for name, value in case["input"].get("env", {}).items()}
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    if "error" in expected:
        with pytest.raises(SettingsError) as caught:
            load_settings(_env_file=None)
        assert any(name in str(caught.value) for name in given)
    elif "has" in expected:  # The address of an OpenAI-compatible service; ours is LLM_BASE_URL.
        address = "http://127.0.0.1:9/v1"
        assert load_settings(_env_file=None, llm_base_url=address).llm.base_url == address
    else:
        settings, known = load_settings(_env_file=None), {name for names in OTHERS for name in names}
        ours = {name: value_of(settings, NAMES[name]) for name in expected if name not in known}
        assert ours == {name: value for name, value in expected.items() if name not in known}
