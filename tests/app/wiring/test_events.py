import pytest

from app.settings import load_settings
from app.wiring import Services
from app.wiring.events import outbox_of
from chains.errors import ConfigurationError

URL = "amqp://guest:guest@127.0.0.1:9/"


@pytest.mark.parametrize(
    ("settings", "on"),
    [({}, False), ({"rabbitmq_url": URL}, True), ({"rabbitmq_url": URL, "events_enabled": False}, False)],
)
def test_events_are_off_unless_a_broker_is_named(settings, on):
    services = Services(load_settings(**settings))

    assert (services.outbox is not None) == on
    assert ("Events" in {type(observer).__name__ for observer in services.observers}) == on


def test_scores_go_to_langsmith_only_where_answers_are_traced():
    assert Services(load_settings(langsmith_api_key="ls")).scores is None


async def test_a_service_whose_events_cannot_be_kept_does_not_start(tmp_path):
    (tmp_path / "file").write_text("no database, but long enough to be taken for one " * 9)
    outbox = outbox_of(load_settings(rabbitmq_url=URL, events_path=tmp_path / "file"))

    assert outbox is not None
    with pytest.raises(ConfigurationError, match=r"EVENTS_PATH='.*file' cannot be used .*not a database.*move it away"):
        async with outbox.running():
            pass
