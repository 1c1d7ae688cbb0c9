from app.wiring import Service
from tests.fakes import Reply, fake_groq
from tests.served import QUESTION, small_services

TITLED, NUMBERED = "It is 9 % [GST Guide > Rate].", "It is 9 % [1]."
OTHER_MODEL = "llama-3.3-70b-versatile"


def ask_each(services: Service) -> list[str]:
    chains = [services.chain, services.numbered_chain(), services.numbered_chain(OTHER_MODEL)]
    return [chain.invoke({"question": QUESTION})["answer"] for chain in chains]


def test_styles_and_models_never_share_a_kept_answer(tmp_path):
    with fake_groq() as groq:
        groq.replies[:] = [Reply(TITLED), Reply(NUMBERED), Reply(NUMBERED)]
        services = small_services(tmp_path, groq, cache_enabled=True, llm_allowed_models=OTHER_MODEL)

        assert ask_each(services) == [TITLED, NUMBERED, NUMBERED]
        assert ask_each(services) == [TITLED, NUMBERED, NUMBERED]
        assert [request["model"] for request in groq.requests] == [services.settings.llm.model] * 2 + [OTHER_MODEL]
