"""The sample corpus answers where nothing of one's own is set up, from an index of its own."""

from pathlib import Path

import pytest

from app.cli.ingest import read_settings, service_to_ask
from app.wiring import service
from app.wiring.storage import SAMPLE_INDEX, ledger_of
from chains.errors import VectorStoreError
from tests.corpora import write_documents
from tests.indexes import put_words_back

COSMETICS = "Does a cosmetic product imported into Indonesia need a BPOM notification?"
GUIDE = "# Clinic Guide\n\n## Opening hours\n\nThe clinic in Bedok opens at 8 am.\n"
HOURS = "When does the clinic in Bedok open?"
TEST = "- question: When does the clinic in Bedok open?\n  outcome: answered\n"
SAMPLE_SAID = "the sample corpus about freight answers, from an index of its own"
ROW = '{"id": "a", "question": "When does the clinic in Bedok open?", "kind": "answerable", "gold": []}\n'
ASKING = [
    ("ask", HOURS),
    ("chat",),
    ("eval", "rows.jsonl"),
    ("test", "first.tests.yaml"),
    ("why", HOURS, "--expect", "guide.md"),
    ("mcp",),
]


@pytest.fixture(autouse=True)
def _opened_once():
    service._opened.cache_clear()
    yield
    service._opened.cache_clear()


def test_without_anything_of_ones_own_the_sample_answers_from_its_own_index_and_says_so(waypoint):
    code, out, err = waypoint("ask", COSMETICS)

    assert (code, "BPOM" in out, "Citations:" in out, "Confidence:" in out) == (0, True, True, True)
    assert SAMPLE_SAID in err
    assert (SAMPLE_INDEX.exists(), Path("storage/chroma").exists()) == (True, False)
    code, out, err = waypoint("doctor")
    assert (code, str(SAMPLE_INDEX) in out) == (0, True)
    assert service.open_chain().invoke({"question": COSMETICS})["outcome"] == "answered"
    assert "0 added, 0 updated" in waypoint("ingest")[1]

    waypoint("ingest", str(write_documents(Path("clinic"), {"guide.md": GUIDE})))
    code, out, err = waypoint("ask", COSMETICS)
    assert ("BPOM notification" in out, SAMPLE_SAID in err) == (False, False)
    assert "8 am" in waypoint("ask", HOURS)[1]
    assert service_to_ask().index.current().count() == 1


def test_a_sample_index_of_an_earlier_version_is_brought_over_without_a_word(waypoint):
    assert waypoint("ask", COSMETICS)[0] == 0
    put_words_back(ledger_of(read_settings()))

    code, out, err = waypoint("ask", COSMETICS)
    assert (code, "BPOM" in out, "migrate" in err) == (0, True, False)


@pytest.mark.parametrize("words", ASKING)
def test_an_empty_index_of_ones_own_is_an_error_that_names_the_folder(waypoint, monkeypatch, words):
    Path("rows.jsonl").write_text(ROW)
    waypoint("init", "clinic")
    Path("first.tests.yaml").write_text(TEST)
    code, _, err = waypoint(*words)

    assert (code, err) == (1, "waypoint: The index is empty; run `waypoint ingest clinic`\n")
    assert not SAMPLE_INDEX.exists()
    assert open_index_count() == 0


def open_index_count() -> int:
    with pytest.raises(VectorStoreError, match="The index is empty"):
        service_to_ask()
    return service_to_ask(serving=True).index.current().count()


def test_a_service_starts_on_an_empty_index_because_documents_may_be_added(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("CHROMA_PATH", str(tmp_path / "own"))
    services = service_to_ask(serving=True)

    assert capsys.readouterr().err == "The index is empty; run `waypoint ingest PATH`\n"
    assert services.chain.invoke({"question": COSMETICS})["outcome"] == "no_results"


def test_ingest_without_a_path_never_reaches_an_index_of_ones_own(waypoint):
    waypoint("init", "clinic")
    code, _, err = waypoint("ingest")
    assert (code, "name the folder of your documents: `waypoint ingest clinic`" in err) == (2, True)
    assert not SAMPLE_INDEX.exists()


@pytest.mark.parametrize("variable", ["CHROMA_PATH", "COLLECTION_NAME", "VECTOR_STORE_TYPE", "RETRIEVAL_URL"])
def test_a_variable_that_names_an_index_counts_as_ones_own(monkeypatch, variable):
    assert read_settings().names_index is False
    values = {"RETRIEVAL_URL": "http://127.0.0.1:1", "VECTOR_STORE_TYPE": "memory"}
    monkeypatch.setenv(variable, values.get(variable, "storage"))
    assert read_settings().names_index is True


def test_a_failed_first_ingestion_leaves_an_index_of_ones_own(waypoint):
    waypoint("ingest", "nowhere")
    code, _, err = waypoint("ask", COSMETICS)
    assert (code, "The index is empty; run `waypoint ingest PATH`" in err) == (1, True)
