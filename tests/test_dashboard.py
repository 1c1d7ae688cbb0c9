"""The dashboard for Grafana shows figures that the service has, and can be imported."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from app.settings import load_settings
from app.wiring import open_service

DASHBOARD: dict[str, Any] = json.loads((Path(__file__).parents[1] / "docs" / "grafana.json").read_text("utf-8"))
TARGETS = [target for panel in DASHBOARD["panels"] for target in panel["targets"]]


@pytest.fixture(scope="module")
def exposed(tmp_path_factory) -> dict[str, str]:
    """The families of metrics of a service with everything on, and their kinds."""
    folder = tmp_path_factory.mktemp("metrics")
    settings = load_settings(
        _env_file=None,
        vector_store_type="memory",
        chroma_path=folder / "index",
        rabbitmq_url="amqp://nobody:here@127.0.0.1:1/",
        llm_provider="groq",
        llm_api_key="gsk_test",
    )
    text = open_service(settings, serving=True).metrics.text().decode()
    return dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.MULTILINE))


def test_every_figure_of_the_dashboard_is_one_of_metrics(exposed):
    parts = {"histogram": ("_bucket", "_sum", "_count")}
    known = {name + part for name, kind in exposed.items() for part in parts.get(kind, ("",))}
    shown = {name for target in TARGETS for name in re.findall(r"waypoint_\w+", target["expr"])}

    assert shown
    assert shown - known == set()


def test_the_labels_of_the_dashboard_are_those_that_the_page_names():
    page = (Path(__file__).parents[1] / "docs" / "observability.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+)`", page)) | {"job", "le"}
    grouped = [
        name
        for target in TARGETS
        for group in re.findall(r"by \(([^)]*)\)", target["expr"])
        for name in group.split(", ")
    ]

    assert set(grouped) - named == set()


def test_an_import_asks_for_the_data_source():
    [asked] = DASHBOARD["__inputs"]
    sources = [target["datasource"]["uid"] for target in TARGETS]

    assert asked["type"] == "datasource"
    assert set(sources) == {f"${{{asked['name']}}}"}


def test_no_panel_covers_another_and_ids_are_unique():
    places = [tuple(panel["gridPos"].values()) for panel in DASHBOARD["panels"]]
    assert len(set(places)) == len(places)
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(places)
