import pytest

from app.settings import SettingsError, load_settings
from app.wings.offline import OfflineChatModel
from app.wiring.llm import chat_model, providers
from chains.clock import SystemClock
from chains.generation.resilient import ResilientChatModel
from chains.ports import FourCharacters
from tests.fakes import WordEmbeddings

KEY = {"llm_api_key": "gsk_test"}


def model_of(**settings):
    return chat_model(load_settings(**settings), WordEmbeddings(), clock=SystemClock(), tokens=FourCharacters())


def test_without_a_provider_the_offline_answerer_answers_alone():
    assert isinstance(model_of(), OfflineChatModel)


def test_with_a_key_groq_answers_and_the_offline_answerer_is_the_last_resort():
    model = model_of(**KEY)

    assert isinstance(model, ResilientChatModel)
    assert [type(provider.model).__name__ for provider in model.providers] == ["GroqModel"]
    assert isinstance(model.last_resort, OfflineChatModel)


def test_without_fallback_there_is_neither_a_second_provider_nor_a_last_resort():
    model = model_of(**KEY, llm_fallback=False, llm_fallback_base_url="http://127.0.0.1:9/v1")

    assert isinstance(model, ResilientChatModel)
    assert (len(model.providers), model.last_resort) == (1, None)


def test_a_second_provider_has_a_breaker_of_its_own():
    first, second = providers(load_settings(**KEY, llm_fallback_base_url="http://127.0.0.1:9/v1"), SystemClock())

    assert type(second.model).__name__ == "OpenAICompatibleModel"
    assert first.breaker is not second.breaker


def test_any_openai_compatible_service_can_be_the_first():
    [provider] = providers(
        load_settings(llm_provider="openai-compatible", llm_base_url="http://127.0.0.1:9/v1"), SystemClock()
    )
    assert type(provider.model).__name__ == "OpenAICompatibleModel"


def test_openrouter_is_told_who_asks(groq):
    settings = load_settings(
        openrouter_api_key="sk-or-x",
        llm_model="google/gemma-3n-e2b-it:free",
        llm_base_url=f"{groq.url}/openai/v1",
        llm_options={"reasoning_effort": "low", "default_headers": {"HTTP-Referer": "https://desk.example.org"}},
    )
    [provider] = providers(settings, SystemClock())
    provider.model.invoke("Rate?")

    [headers], [sent] = groq.headers, groq.requests
    assert (headers["http-referer"], headers["x-title"]) == ("https://desk.example.org", "Waypoint Co-Pilot")
    assert groq.authorizations == ["Bearer sk-or-x"]
    assert (sent["model"], sent["reasoning_effort"]) == ("google/gemma-3n-e2b-it:free", "low")


def test_openrouter_has_an_address_of_its_own():
    [provider] = providers(load_settings(openrouter_api_key="sk-or-x", llm_model="m"), SystemClock())

    assert getattr(provider.model, "openai_api_base", None) == "https://openrouter.ai/api/v1"


def test_groqs_own_options_are_sent_where_they_are_set(groq):
    chosen = {"reasoning_format": "hidden", "reasoning_effort": "none", "service_tier": "flex"}
    for options in (None, chosen):
        [provider] = providers(load_settings(**KEY, llm_base_url=groq.url, llm_options=options), SystemClock())
        provider.model.invoke("Rate?")

    plain, told = groq.requests
    assert plain.get("reasoning_format") is None
    assert chosen.items() <= told.items()


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"llm_provider": "openai-compatible"}, "needs LLM_BASE_URL"),
        ({"llm_max_tokens": 900, "llm_context_tokens": 900}, "must be smaller than LLM_CONTEXT_TOKENS"),
        ({"llm_rpm": 0}, "LLM_RPM=0"),
    ],
)
def test_settings_that_cannot_work_are_refused_at_start(settings, told):
    with pytest.raises(SettingsError, match=told):
        load_settings(**settings)
