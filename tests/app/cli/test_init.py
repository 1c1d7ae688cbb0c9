"""`waypoint init`: what it writes is read by the commands that it names."""

import sys
from functools import partial
from pathlib import Path

import pytest
from dotenv import dotenv_values

from app.http.routes.page import EXAMPLES, TEAMS, file_in, offered, read_page_file
from app.settings import load_settings
from app.settings.table import FIRST
from app.wings.knowledge.testing import read_cases
from app.wiring import open_index
from chains.scope import ScopeGate, load_scope
from tests.corpora import write_documents

FILES = {".env", "handbook/examples.yaml", "handbook/first.tests.yaml", "handbook/scope.yaml", "handbook/teams.yaml"}
LEAVE = "# Leave\n\n## Notice\n\nAsk for leave two weeks before it begins.\n"
ORDINARY = [
    *("How many days of leave do I get?", "What is the GST rate on imports into Singapore?"),
    *("Who approves travel abroad?", "How do I return an order that arrived late?"),
    *("What is the retention period of account data?", "Where are the backups of the server kept?"),
]
LIVE = ["Where is my order now?", "What is the status of case 1234?", "Has my request been approved yet?"]


def files() -> set[str]:
    return {path.as_posix() for path in Path().rglob("*") if path.is_file()}


@pytest.fixture
def handbook() -> Path:
    """A folder with one document."""
    return write_documents(Path("handbook"), {"leave.md": LEAVE})


def test_a_new_folder_gets_its_first_files_and_the_next_commands(waypoint):
    code, out, _ = waypoint("init", "handbook")
    assert code == 0
    assert files() == FILES
    commands = [line.split(" ", 1)[1] for line in out.strip().splitlines()[-3:]]
    assert [command.strip().partition(" ")[2] for command in commands] == ["ingest handbook", "test handbook", "serve"]
    assert "Put your documents into handbook." in out
    assert offered_questions() == []  # There are no documents that they could be about.
    # It may hold a key. Windows has no such modes.
    assert sys.platform == "win32" or Path(".env").stat().st_mode & 0o777 == 0o600

    assert dotenv_values(".env") == {"CHROMA_PATH": "storage/handbook", "PAGE_PATH": "handbook"}
    text = Path(".env").read_text()
    assert [name for name in FIRST if f"\n# {name.upper()}=" not in text] == []
    load_settings()


def test_the_next_commands_run_on_a_folder_of_documents(waypoint, handbook):
    waypoint("init", "handbook")

    code, out, err = waypoint("ingest", "handbook")
    assert (code, out.startswith("1 files, 1 chunks")) == (0, True)
    assert "no loader reads" not in err
    code, out, _ = waypoint("test", "handbook")
    assert (code, "1 passed, 0 failed" in out) == (0, True)
    code, out, _ = waypoint("ask", "When do I ask for leave?")
    assert (code, out.startswith("Ask for leave two weeks before it begins.")) == (0, True)
    assert Path("storage/handbook").is_dir()


def test_no_file_that_is_there_is_changed_and_the_second_time_there_is_nothing_to_add(waypoint, handbook):
    for name in FILES:
        Path(name).write_text(f"# {name}, by its owner\n")
    _, out, _ = waypoint("init", "handbook")
    assert {name: Path(name).read_text() for name in FILES} == {name: f"# {name}, by its owner\n" for name in FILES}
    assert out.count(", which was there") == 5
    lines = ["CHROMA_PATH=storage/handbook", "PAGE_PATH=handbook"]
    assert "\n      ".join(["add to it:", *lines]) + "\n" in out

    for name in FILES:
        Path(name).unlink()
    waypoint("init", "handbook")
    before = {name: Path(name).read_bytes() for name in files()}
    assert "add to it" not in waypoint("init", "handbook")[1]
    assert {name: Path(name).read_bytes() for name in files()} == before


def test_the_index_of_the_folder_in_which_one_stands_is_hidden_from_ingestion(waypoint, handbook, monkeypatch):
    monkeypatch.chdir(handbook)
    waypoint("init", ".")

    assert dotenv_values(".env")["CHROMA_PATH"] == ".waypoint/handbook"
    assert dotenv_values(".env")["PAGE_PATH"] == "."


@pytest.mark.parametrize("name", ["our hand book", "it's #1", "C:\\desk", "été"])
def test_any_name_of_a_folder_is_read_back(waypoint, name):
    waypoint("init", name)
    assert load_settings().web.page == Path(name)


def test_the_first_test_shows_how_to_cite_a_document_of_the_folder(waypoint, handbook):
    waypoint("init", "handbook")

    [found] = read_cases(handbook)
    assert found.case.must_decline
    assert '#   must_cite: "leave.md"\n' in (handbook / "first.tests.yaml").read_text()
    spread = (handbook / "first.tests.yaml").read_text().replace("\n# ", "\n").replace("\n#\n", "\n\n")
    (handbook / "first.tests.yaml").write_text(spread)
    assert [case.case.must_cite for case in read_cases(handbook)] == [[], ["leave.md"]]


def test_the_first_scope_declines_what_is_live_and_nothing_that_a_document_may_say(waypoint):
    waypoint("init", "handbook")
    scope = load_scope(Path("handbook/scope.yaml"))
    gate = ScopeGate(scope, open_index(load_settings()).embeddings)

    assert [question for question in ORDINARY if gate.invoke({"question": question})] == []
    assert [question for question in LIVE if not gate.invoke({"question": question})] == []
    assert scope.intents.keys() | {"other"} == set(read_page_file(TEAMS, Path("handbook/teams.yaml")))


def test_a_file_in_the_place_of_the_folder_is_bad_usage(waypoint):
    Path("handbook").write_text("")
    code, _, err = waypoint("init", "handbook")

    assert code == 2
    assert "Traceback" not in err


def test_the_example_questions_are_headings_that_one_document_has_questions_first(waypoint, handbook):
    notes = "## Terms of use\n\nFor all.\n"
    rules = f'# Travel\n\n{notes}\n## 2. Who "approves" #1 ##\n\nYour head of team.\n\n'
    rules += "### How early do I book a flight?\n\nBook a flight a week before it leaves.\n"
    others = f"# Sick leave\n\n{notes}\n## Note of a doctor\n\nAfter three days.\n\n## Part-time work\n\n## A third\n"
    write_documents(handbook, {"travel: home/rules.md": rules, "sick.md": others, "plain.md": "No heading.\n"})
    waypoint("init", "handbook")
    waypoint("ingest", "handbook")

    first, second = ["How early do I book a flight?", "Note of a doctor"], ["Part-time work", 'Who "approves" #1']
    assert offered_questions() == first + second
    assert "Book a flight a week before it leaves." in waypoint("ask", first[0])[1]


def offered_questions() -> list[str]:
    settings = load_settings()
    examples = read_page_file(EXAMPLES, file_in(settings.web.page, EXAMPLES))
    return offered(examples, "en", partial(open_index(settings).library.present, audience="internal"))
