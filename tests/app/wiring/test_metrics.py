import asyncio

import pytest

from app.http.middleware.drain import InFlight
from app.http.routes.health import Readiness
from app.wiring import Services
from chains.errors import LLMUnavailableError
from tests.fakes import FakeGroq, Reply
from tests.served import QUESTION, small_services
from tests.service.desk import open_desk

DEFAULT, OTHER = "llama-3.1-8b-instant", "llama-3.3-70b-versatile"


def lines(services: Services, name: str) -> list[str]:
    """Return the figures of that name."""
    return [line for line in services.metrics.text().decode().splitlines() if line.startswith(name)]


def states(services: Services) -> dict[str, str]:
    """Return what readiness tells of the checks."""
    traffic = InFlight()
    traffic.phase = "ready"
    report = asyncio.run(Readiness(services.checks, traffic, clock=services.clock.now, within_s=30).report())
    return {name: finding.state for name, finding in report.checks.items()}


@pytest.fixture
def services(groq: FakeGroq, tmp_path) -> Services:
    """A service with two models, in which one failed call opens a breaker."""
    return small_services(tmp_path, groq, llm_allowed_models=OTHER, llm_breaker_failures=1)


def test_each_model_that_was_chosen_has_a_breaker_of_its_own_in_the_figures_and_in_readiness(services, groq):
    services.numbered_chain().invoke({"question": QUESTION})
    assert states(services) == {"vector_store": "ok", "language_model": "ok"}

    groq.replies = [Reply(status=500)]
    with pytest.raises(LLMUnavailableError):
        services.numbered_chain(OTHER).invoke({"question": QUESTION})

    assert states(services) == {"vector_store": "ok", "language_model": "ok", f"language_model:{OTHER}": "down"}
    assert lines(services, "waypoint_breaker_open") == [
        f'waypoint_breaker_open{{model="{DEFAULT}",provider="language model"}} 0.0',
        f'waypoint_breaker_open{{model="{OTHER}",provider="language model"}} 1.0',
    ]
    assert lines(services, "waypoint_llm_waiting") == [
        f'waypoint_llm_waiting{{model="{model}",provider="language model"}} 0.0' for model in (DEFAULT, OTHER)
    ]


@pytest.mark.parametrize("way", ["whole", "streamed"])
def test_the_calls_that_repeat_another_are_counted(tmp_path, way):
    with open_desk(tmp_path) as desk:
        desk.ask("answer", way)
        none = f'waypoint_llm_retries_total{{model="{DEFAULT}",provider="language model"}} 0.0'
        assert lines(desk.services, "waypoint_llm_retries") == [none]

        assert desk.ask("503", way).calls == 4
        assert lines(desk.services, "waypoint_llm_retries") == [none.replace("0.0", "3.0")]


def test_both_ways_of_citing_ask_the_same_model(services):
    services.chain.invoke({"question": QUESTION})
    model = services.model
    services.numbered_chain().invoke({"question": QUESTION})

    assert services.models == {DEFAULT: model}
