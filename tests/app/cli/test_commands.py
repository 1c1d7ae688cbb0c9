import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from langchain_core.documents import Document

from app.cli import COMMANDS
from app.ledger import open_database
from app.settings.values import LOCAL_SERVERS
from tests.corpora import write_documents
from tests.indexes import index_in, put
from tests.served import GUIDE


@pytest.fixture
def corpus(tmp_path) -> Path:
    return write_documents(tmp_path / "desk", {"01_regulatory/gst.md": GUIDE})


def test_ask_as_json_prints_the_whole_answer_object_and_its_options_reach_the_retriever(waypoint, corpus):
    waypoint("ingest", str(corpus))
    code, out, _ = waypoint("ask", "--json", "What is the GST rate on imports into Singapore?")
    answer = json.loads(out)
    assert code == 0
    assert answer["documents"][0]["metadata"]["doc_id"] == "01_regulatory_gst"
    assert answer["citations"][0]["matched"] is True
    assert answer["metadata"]["model"] == "offline-extractive"

    asked = ("ask", "--top-k", "1", "--threshold", "1", "What is the rate?")
    answer = json.loads(waypoint(*asked, "--json")[1])
    assert (answer["outcome"], len(answer["closest"])) == ("no_results", 1)
    assert "Closest passages:" in waypoint(*asked)[1]


def test_a_question_that_cannot_be_read_without_a_model_is_told_so_and_gets_the_closest(waypoint, corpus):
    waypoint("ingest", str(corpus))
    asked = {"in English only": ["税率是多少"], "hanya": ["Berapa tarif pajak itu?", "--language", "id"]}
    for told, words in asked.items():
        _, out, _ = waypoint("ask", "--threshold", "0", *words)
        assert [part for part in (told, "Closest passages:", "outcome: unsure") if part not in out] == []


def test_ask_without_a_key_mentions_a_model_server_on_its_usual_port_and_with_one_asks_groq(
    waypoint, corpus, groq, monkeypatch
):
    monkeypatch.setitem(LOCAL_SERVERS, "ollama", f"{groq.url}/openai/v1")
    waypoint("ingest", str(corpus))
    question = ("ask", "What is the GST rate?")
    (_, _, told), (_, _, as_json) = waypoint(*question), waypoint(*question, "--json")
    _, _, chosen = waypoint(*question, LLM_PROVIDER="offline")
    assert told.count("LLM_PROVIDER=ollama asks it") == 1
    assert "LLM_PROVIDER=ollama" not in as_json + chosen
    assert groq.requests == []

    code, out, _ = waypoint(*question, LLM_PROVIDER="groq", GROQ_API_KEY="gsk_test", LLM_BASE_URL=groq.url)
    assert (code, "Nine percent [GST Guide > Rate]." in out, "Model: llama-3.1-8b-instant" in out) == (0, True, True)


def test_what_cannot_be_asked_is_bad_usage(waypoint):
    questions = {"": "cannot be empty", " \t": "cannot be empty", "x" * 4001: "maximum length of 4000 characters"}
    for question, told in questions.items():
        code, _, err = waypoint("ask", question)
        assert (code, told in err) == (2, True)
    code, _, err = waypoint("ask", "What is the rate?", RETRIEVAL_TOP_K="many")
    assert (code, "RETRIEVAL_TOP_K='many'" in err) == (2, True)
    assert not Path("storage").exists()


def test_ingest_says_what_it_does_or_would_do_and_names_a_file_that_cannot_be_read(waypoint, corpus):
    out = waypoint("ingest", "--dry-run", str(corpus))[1]
    assert out.startswith("would add 01_regulatory/gst.md\n1 files, 1 chunks: would add 1 chunks")
    (corpus / "01_regulatory" / "broken.md").write_bytes(b"\xff\xfe")
    code, out, err = waypoint("ingest", str(corpus))
    assert code == 1
    assert "cannot use 01_regulatory/broken.md: the file is not UTF-8 text" in err
    assert out.startswith("1 files, 1 chunks: 1 added, 0 updated, 0 unchanged, 0 deleted")

    summary = json.loads(waypoint("ingest", "--json", str(corpus))[1])
    kept = {name: summary[name] for name in ("files", "chunks", "added", "updated", "unchanged", "deleted")}
    assert kept == {"files": 1, "chunks": 1, "added": 0, "updated": 0, "unchanged": 1, "deleted": 0}


@pytest.mark.parametrize(("path", "told"), [("nowhere", "does not exist"), ("loop", "cannot be read")])
def test_a_path_that_does_not_exist_or_is_a_loop_of_links_is_bad_usage(waypoint, path, told):
    Path("loop").symlink_to(Path("loop").absolute())
    code, _, err = waypoint("ingest", path)

    assert code == 2
    assert told in err
    assert "Traceback" not in err


def test_an_index_of_another_model_is_refused_and_reset_rebuilds_it(waypoint, corpus):
    index = index_in(open_database(Path("storage/chroma/waypoint_kb.ledger.sqlite3"), collection="kb"), model="other")
    put(index, {"a": Document("words")})
    code, _, err = waypoint("ask", "What is the rate?")
    assert code == 2
    assert "waypoint ingest --reset" in err

    assert waypoint("ingest", "--reset", str(corpus))[0] == 0
    assert waypoint("ask", "What is the GST rate on imports into Singapore?")[0] == 0


def test_a_model_that_cannot_be_reached_is_made_up_for_or_told_without_a_traceback(waypoint, corpus):
    waypoint("ingest", str(corpus))
    settings = {"GROQ_API_KEY": "gsk_test", "LLM_BASE_URL": "http://127.0.0.1:9", "LLM_MAX_RETRIES": "0"}
    code, out, err = waypoint("ask", "What is the GST rate?", LLM_FALLBACK="off", **settings)
    assert (code, "cannot be reached" in out + err, "Traceback" in err) == (1, True, False)

    code, out, err = waypoint("ask", "What is the GST rate?", LLM_FALLBACK="on")
    assert "low (The language model could not be reached; the words are quoted" in out
    assert (code, "outcome: degraded" in out, "Traceback" in err) == (0, True, False)


def test_a_store_that_is_in_use_or_whose_folder_cannot_be_made_is_a_clear_error(waypoint, corpus, tmp_path):
    from filelock import FileLock

    Path("storage/chroma").mkdir(parents=True)
    with FileLock("storage/chroma/waypoint_kb.ledger.sqlite3.ingest.lock"):
        code, _, err = waypoint("ingest", str(corpus))
    assert (code, "another ingestion" in err) == (1, True)

    (tmp_path / "file").write_text("in the way")
    code, _, err = waypoint("ingest", str(corpus), CHROMA_PATH=str(tmp_path / "file" / "store"))
    assert (code, "check CHROMA_PATH" in err) == (1, True)


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "http://127.0.0.1:3000/"),
        ("localhost", "http://localhost:3000/"),
        ("0.0.0.0", "http://127.0.0.1:3000/"),  # noqa: S104 - What is shown for it.
        ("::", "http://[::1]:3000/"),
        ("::1", "http://[::1]:3000/"),
    ],
)
def test_the_address_of_the_page_is_one_that_a_browser_on_this_machine_opens(host, address):
    from app.cli.serve import page_address

    assert page_address(host, 3000) == address


def test_the_version_and_the_help_of_every_command_are_shown(waypoint):
    assert waypoint("--version") == (0, f"waypoint {version('waypoint-copilot')}\n", "")
    for name in COMMANDS:
        code, out, _ = waypoint(name, "--help")
        assert (code, f"waypoint {name}" in out) == (0, True)


def test_help_and_version_import_nothing_of_langchain():
    code = """
import sys
from app.cli import main
try:
    main()
except SystemExit:
    print(sorted({"langchain_core", "pydantic", "numpy"} & set(sys.modules)))
"""
    for option in ("--help", "--version"):
        done = subprocess.run([sys.executable, "-c", code, option], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == "[]"
