import subprocess
import sys
from importlib.metadata import EntryPoint, EntryPoints

import pytest

from app import hooks
from app.settings import load_settings
from app.wiring import open_index, open_service
from chains.errors import ConfigurationError


@pytest.fixture(autouse=True)
def _forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("app.wings.office.docx")]:
        monkeypatch.delitem(sys.modules, name)


def test_every_built_in_part_can_be_imported():
    heavy = {"cross-encoder"}  # Brings torch, which only `make parity` installs.
    found = [hooks.load(kind, name) for kind in hooks.KINDS for name in hooks.names(kind) if name not in heavy]

    assert None not in found


def test_no_part_brings_the_command_line():
    code = """
import sys
from app import hooks
for kind in hooks.KINDS:
    for name in hooks.names(kind):
        if name != "cross-encoder":
            hooks.load(kind, name)
print("app.cli" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)

    assert (done.stdout, done.stderr) == ("False\n", "")


def test_every_kind_has_a_built_in_part():
    for_others_alone = {"commands", "observers"}
    assert {kind for kind in hooks.KINDS if not hooks.names(kind)} == for_others_alone


def test_a_wing_that_was_left_out_is_passed_over_or_named():
    assert [part.__name__ for part in hooks.wings("gone.plugin:routes", "uploads.plugin:routes")] == ["routes"]
    with pytest.raises(hooks.LeftOutError, match="the folder of `gone` was left out"):
        hooks.wing("gone.plugin:routes")


def test_an_unknown_part_is_refused_with_those_there_are_and_a_missing_package_with_its_extra(monkeypatch):
    with pytest.raises(ConfigurationError, match="'pinecone' among the vectors; there are chroma"):
        hooks.load("vectors", "pinecone")
    monkeypatch.setitem(sys.modules, "mammoth", None)
    with pytest.raises(ConfigurationError, match=r"'docx' needs the package mammoth: pip install 'waypoint"):
        hooks.load("readers", "docx")


def test_events_that_are_wanted_without_their_package_stop_the_program(monkeypatch):
    monkeypatch.delitem(sys.modules, "app.wings.events.outbox", raising=False)
    monkeypatch.setitem(sys.modules, "aio_pika", None)

    assert open_index(load_settings()).outbox is None
    with pytest.raises(ConfigurationError, match=r"RABBITMQ_URL needs the package aio_pika: pip install 'waypoint-co"):
        _ = open_index(load_settings(rabbitmq_url="amqp://guest:guest@127.0.0.1:5672/")).outbox


@pytest.mark.parametrize(
    ("package", "modules", "needed_for", "chosen"),
    [
        ("openai", "app.adapters.llm.", "LLM_PROVIDER=openrouter", {"openrouter_api_key": "k"}),
        ("openai", "app.adapters.llm.", "LLM_PROVIDER=ollama", {"llm_provider": "ollama"}),
    ],
)
def test_what_needs_an_extra_says_which_to_install(monkeypatch, package, modules, needed_for, chosen):
    for name in [name for name in sys.modules if name.startswith((modules, f"{package}."))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)

    services = open_service(load_settings(**chosen))
    with pytest.raises(
        ConfigurationError, match=rf"{needed_for} needs the package {package}: pip install '.*\[{package}\]'"
    ):
        _ = services.answerer.model()


def test_each_passes_over_a_wing_that_was_left_out_and_stops_at_a_package_that_is_missing(monkeypatch):
    def installed(**parts: str) -> None:
        found = EntryPoints(EntryPoint(name, place, "waypoint.routes") for name, place in parts.items())
        monkeypatch.setattr(hooks, "_installed", lambda: found)
        hooks._parts.cache_clear()

    try:
        installed(gone="app.wings.gone:router", mcp="app.wings.mcp.routes:mcp_router")
        assert [made.__name__ for made in hooks.each("routes")] == ["mcp_router"]
        installed(mcp="app.wings.mcp.routes:mcp_router", tickets="tickets_plugin:router")
        with pytest.raises(ConfigurationError, match="'tickets' of tickets_plugin:router needs the package tickets_pl"):
            list(hooks.each("routes"))
    finally:
        hooks._parts.cache_clear()
