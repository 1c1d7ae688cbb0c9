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

DOCUMENT = "# GST Guide\n\n## Rate\n\nThe rate of GST on imports into Singapore is 9 %.\n"


@pytest.fixture
def corpus(tmp_path) -> Path:
    return write_documents(tmp_path / "desk", {"01_regulatory/gst.md": DOCUMENT})


def test_ask_as_json_prints_the_whole_answer_object(waypoint, corpus):
    waypoint("ingest", str(corpus))
    code, out, _ = waypoint("ask", "--json", "What is the GST rate on imports into Singapore?")

    answer = json.loads(out)
    assert code == 0
    assert answer["documents"][0]["metadata"]["doc_id"] == "01_regulatory_gst"
    assert answer["citations"][0]["matched"] is True
    assert answer["metadata"]["model"] == "offline-extractive"


def test_the_options_of_ask_reach_the_retriever(waypoint, corpus):
    waypoint("ingest", str(corpus))
    asked = ("ask", "--top-k", "1", "--threshold", "1", "What is the rate?")
    _, out, _ = waypoint(*asked, "--json")
    _, shown, _ = waypoint(*asked)
    answer = json.loads(out)

    assert (answer["outcome"], len(answer["closest"])) == ("no_results", 1)
    assert "Closest passages:" in shown


@pytest.mark.parametrize(
    ("options", "told"),
    [(["税率是多少"], "in English only"), (["Berapa tarif pajak itu?", "--language", "id"], "hanya")],
)
def test_a_question_that_cannot_be_read_without_a_model_is_told_so_and_gets_the_closest(
    waypoint, corpus, options, told
):
    waypoint("ingest", str(corpus))
    _, out, _ = waypoint("ask", "--threshold", "0", *options)

    assert told in out
    assert "Closest passages:" in out
    assert "outcome: unsure" in out


def test_ask_answers_through_groq_where_there_is_a_key(waypoint, corpus, groq):
    waypoint("ingest", str(corpus))
    code, out, _ = waypoint("ask", "What is the GST rate?", GROQ_API_KEY="gsk_test", LLM_BASE_URL=groq.url)

    assert code == 0
    assert "Nine percent [GST Guide > Rate]." in out
    assert "Model: llama-3.1-8b-instant" in out


@pytest.mark.parametrize(
    ("question", "told"),
    [("", "cannot be empty"), (" \t", "cannot be empty"), ("x" * 4001, "maximum length of 4000 characters")],
)
def test_a_question_that_cannot_be_asked_is_bad_usage(waypoint, question, told):
    code, _, err = waypoint("ask", question)
    assert code == 2
    assert told in err
    assert not Path("storage").exists()


def test_ingest_prints_the_summary_and_then_nothing_is_left_to_do(waypoint, corpus):
    assert waypoint("ingest", str(corpus))[1].startswith(
        "1 files, 1 chunks: 1 added, 0 updated, 0 unchanged, 0 deleted"
    )
    summary = json.loads(waypoint("ingest", "--json", str(corpus))[1])
    kept = {name: summary[name] for name in ("files", "chunks", "added", "updated", "unchanged", "deleted")}
    assert kept == {"files": 1, "chunks": 1, "added": 0, "updated": 0, "unchanged": 1, "deleted": 0}


def test_a_file_that_cannot_be_read_is_named_the_rest_goes_on_and_the_exit_code_is_1(waypoint, corpus):
    (corpus / "01_regulatory" / "broken.md").write_bytes(b"\xff\xfe")
    code, out, err = waypoint("ingest", str(corpus))

    assert code == 1
    assert "cannot use 01_regulatory/broken.md: the file is not UTF-8 text" in err
    assert out.startswith("1 files, 1 chunks: 1 added")


@pytest.mark.parametrize(("path", "told"), [("nowhere", "does not exist"), ("loop", "cannot be read")])
def test_a_path_that_does_not_exist_or_is_a_loop_of_links_is_bad_usage(waypoint, path, told):
    Path("loop").symlink_to(Path("loop").absolute())
    code, _, err = waypoint("ingest", path)

    assert code == 2
    assert told in err
    assert "Traceback" not in err


def test_a_dry_run_changes_nothing(waypoint, corpus):
    out = waypoint("ingest", "--dry-run", str(corpus))[1]
    assert out.startswith("would add 01_regulatory/gst.md\n1 files, 1 chunks: would add 1 chunks")
    assert "1 added" in waypoint("ingest", str(corpus))[1]


def test_an_index_of_another_model_is_refused_and_reset_rebuilds_it(waypoint, corpus):
    index = index_in(open_database(Path("storage/chroma/waypoint_kb.ledger.sqlite3"), collection="kb"), model="other")
    put(index, {"a": Document("words")})
    code, _, err = waypoint("ask", "What is the rate?")
    assert code == 2
    assert "waypoint ingest --reset" in err

    assert waypoint("ingest", "--reset", str(corpus))[0] == 0
    assert waypoint("ask", "What is the GST rate on imports into Singapore?")[0] == 0


def test_a_bad_setting_is_named_and_the_exit_code_is_2(waypoint):
    code, _, err = waypoint("ask", "What is the rate?", RETRIEVAL_TOP_K="many")

    assert code == 2
    assert "RETRIEVAL_TOP_K='many'" in err


@pytest.mark.parametrize(
    ("fallback", "exit_code", "told"),
    [
        ("off", 1, ["cannot be reached"]),
        ("on", 0, ["low (The language model could not be reached; the words are quoted", "outcome: degraded"]),
    ],
)
def test_a_model_that_cannot_be_reached_is_made_up_for_or_told_without_a_traceback(
    waypoint, corpus, fallback, exit_code, told
):
    waypoint("ingest", str(corpus))
    settings = {"GROQ_API_KEY": "gsk_test", "LLM_BASE_URL": "http://127.0.0.1:9", "LLM_MAX_RETRIES": "0"}
    code, out, err = waypoint("ask", "What is the GST rate?", LLM_FALLBACK=fallback, **settings)

    assert code == exit_code
    assert [words for words in told if words not in out + err] == []
    assert "Traceback" not in err


def test_two_ingestions_into_one_store_do_not_mix(waypoint, corpus):
    from filelock import FileLock

    Path("storage/chroma").mkdir(parents=True)
    with FileLock("storage/chroma/waypoint_kb.ledger.sqlite3.ingest.lock"):
        code, _, err = waypoint("ingest", str(corpus))
    assert code == 1
    assert "another ingestion" in err


def test_a_store_folder_that_cannot_be_made_is_a_clear_error(waypoint, corpus, tmp_path):
    (tmp_path / "file").write_text("in the way")
    code, _, err = waypoint("ingest", str(corpus), CHROMA_PATH=str(tmp_path / "file" / "store"))

    assert code == 1
    assert "check CHROMA_PATH" in err


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


def test_ask_without_a_key_mentions_a_model_server_on_its_usual_port(waypoint, corpus, groq, monkeypatch):
    monkeypatch.setitem(LOCAL_SERVERS, "ollama", f"{groq.url}/openai/v1")
    waypoint("ingest", str(corpus))
    question = ("ask", "What is the rate?")
    (_, _, told), (_, _, as_json) = waypoint(*question), waypoint(*question, "--json")
    _, _, chosen = waypoint(*question, LLM_PROVIDER="offline")

    assert told.count("LLM_PROVIDER=ollama asks it") == 1
    assert "LLM_PROVIDER=ollama" not in as_json + chosen
    assert groq.requests == []


def test_the_version_is_shown(waypoint):
    assert waypoint("--version") == (0, f"waypoint {version('waypoint-copilot')}\n", "")


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_can_be_called_for_its_help(waypoint, name):
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
