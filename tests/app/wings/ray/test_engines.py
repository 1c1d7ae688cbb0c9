"""How an engine is chosen, and what is said where it cannot be had."""

import sys

import pytest

from app.settings import load_settings
from app.wiring.index import engine_of
from chains.errors import ConfigurationError
from tests.fakes import WordEmbeddings

RAY = ("ray", "127.0.0.1:9")


def test_without_the_extra_the_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setitem(sys.modules, "ray.data", None)
    with pytest.raises(ConfigurationError, match=r"waypoint-copilot\[ray\]"):
        engine_of(load_settings(_env_file=None), *RAY, WordEmbeddings())


def test_a_service_that_embeds_is_not_called_from_a_cluster():
    asked = {"embedding_provider": "openai-compatible", "embedding_base_url": "http://127.0.0.1:9/v1"}
    with pytest.raises(ConfigurationError, match="--engine ray embeds in the cluster"):
        engine_of(load_settings(_env_file=None, **asked), *RAY, WordEmbeddings())


@pytest.mark.parametrize("address", ["127.0.0.1:9", "nowhere", "127.0.0.1:port"])
def test_a_cluster_that_does_not_answer_is_a_clear_error(waypoint, tmp_path, address):
    pytest.importorskip("ray", reason="the extra `ray` is not installed")
    code, _, messages = waypoint("ingest", str(tmp_path), "--engine", "ray", "--ray-address", address)

    assert code == 2
    assert f"no Ray cluster answers at '{address}'" in messages


def test_an_address_without_its_engine_is_bad_usage(waypoint, tmp_path):
    code, _, messages = waypoint("ingest", str(tmp_path), "--ray-address", "127.0.0.1:9")

    assert code == 2
    assert "--ray-address needs --engine ray" in messages
