import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from pydantic import SecretStr

import app
from app.http.middleware.limits import InFlight
from app.http.routes.health import Readiness
from app.settings import load_settings
from app.wings.events.plugin import outbox as outbox_of
from app.wiring import Service, llm, open_service
from app.wiring.observability import check_outbox
from app.wiring.storage import ledger_of
from chains.around import Call
from chains.errors import ConfigurationError, LLMUnavailableError
from chains.side_steps import side_step
from tests.fakes import FakeGroq, Reply
from tests.served import QUESTION, small_services
from tests.service.desk import open_desk, without_breaker

DOCS = Path(app.__file__).parents[1] / "docs" / "observability.md"
URL = "amqp://guest:guest@127.0.0.1:9/"
DEFAULT, OTHER = "llama-3.1-8b-instant", "llama-3.3-70b-versatile"


def lines(services: Service, name: str) -> list[str]:
    return [line for line in services.metrics.text().decode().splitlines() if line.startswith(name)]


def states(services: Service) -> dict[str, str]:
    """Return what readiness tells of the checks."""
    in_flight = InFlight()
    in_flight.phase = "ready"
    report = asyncio.run(Readiness(services.checks, in_flight, clock=services.index.clock.now, within_s=30).report())
    return {name: finding.state for name, finding in report.checks.items()}


@pytest.fixture
def services(groq: FakeGroq, tmp_path, monkeypatch) -> Service:
    """A service with two models, in which one failed call opens a breaker."""
    monkeypatch.setattr(llm, "BREAKER_FAILURES", 1)
    return small_services(tmp_path, groq, llm_allowed_models=OTHER)


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
    with without_breaker(), open_desk(tmp_path) as desk:
        desk.ask("answer", way)
        none = f'waypoint_llm_retries_total{{model="{DEFAULT}",provider="language model"}} 0.0'
        assert lines(desk.services, "waypoint_llm_retries") == [none]

        assert desk.ask("503", way).calls == 4
        assert lines(desk.services, "waypoint_llm_retries") == [none.replace("0.0", "3.0")]


def test_both_ways_of_citing_ask_the_same_model(services):
    services.chain.invoke({"question": QUESTION})
    model = services.answerer.model()
    services.numbered_chain().invoke({"question": QUESTION})

    assert services.answerer.models == {DEFAULT: model}


def test_the_docs_name_every_metric_with_its_labels(services):
    """A metric is shown once it has a value, so each gets one."""
    services = open_service(
        services.settings.replace(
            rabbitmq_url=SecretStr("amqp://127.0.0.1/"),
            otel_exporter_otlp_endpoint="http://127.0.0.1:9",
            cache_enabled=True,
        )
    )
    assert services.answerer.model() is services.answerer.models[DEFAULT]
    metrics = services.metrics
    metrics.request(method="POST", route="/chat", status=200, seconds=0.1)
    metadata = {"timings_ms": {"retrieval": 1.0}, "usage": {"input_tokens": 1}, "cache": None}
    answer: Any = {"outcome": "answered", "metadata": metadata}
    call = Call({"question": QUESTION}, answer=answer, seconds=0.1)
    metrics.started(call)
    metrics.ended(call)
    with side_step("recall"):
        raise ValueError
    shown = {
        (sample.name.removesuffix("_bucket"), frozenset(sample.labels) - {"le"})
        for family in text_string_to_metric_families(metrics.text().decode())
        for sample in family.samples
        if not sample.name.endswith(("_sum", "_count"))
    }
    services.tracing.close(within_s=0)

    assert documented() == shown


def documented() -> set[tuple[str, frozenset[str]]]:
    rows = [line.split("|")[1:3] for line in DOCS.read_text(encoding="utf-8").splitlines() if "| `waypoint_" in line]
    return {
        (name, frozenset(re.findall("`([a-z]+)`", labels)))
        for names, labels in rows
        for name in re.findall("`(waypoint_[a-z_]+)`", names)
    }


@pytest.mark.parametrize(
    ("settings", "on"),
    [({}, False), ({"rabbitmq_url": URL}, True), ({"rabbitmq_url": URL, "events_enabled": False}, False)],
)
def test_events_are_off_unless_a_broker_is_named(settings, on):
    services = open_service(load_settings(**settings))

    assert (services.index.outbox is not None) == on
    assert ("Events" in {type(observer).__name__ for observer in services.observers}) == on


def test_scores_go_to_langsmith_only_where_answers_are_traced():
    assert open_service(load_settings(langsmith_api_key="ls")).tracing.scores is None


def test_a_service_whose_ledger_is_of_a_later_version_does_not_start(tmp_path):
    settings = load_settings(rabbitmq_url=URL, chroma_path=tmp_path)
    with ledger_of(settings).changing() as connection:
        connection.exec_driver_sql("UPDATE facts SET value = '999' WHERE name = 'schema'")
    ledger_of(settings).close()

    outbox = outbox_of(settings)
    assert outbox is not None
    with pytest.raises(ConfigurationError, match="install a later version"):
        check_outbox(outbox)


async def test_a_service_whose_database_of_events_is_away_starts_and_says_so(capsys, caplog):
    outbox = outbox_of(load_settings(rabbitmq_url=URL, database_url="postgresql://user:s3cret@127.0.0.1:9/name"))

    assert outbox is not None
    check_outbox(outbox)
    async with outbox.running():
        pass
    told = capsys.readouterr().out + caplog.text  # structlog, if an earlier test set it up, else logging.
    assert "events_wait_in_memory" in told
    assert "127.0.0.1:9/name" in told
    assert "s3cret" not in told
