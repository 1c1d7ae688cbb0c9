from pathlib import Path
from typing import Any

import pytest

from app.settings import load_settings
from app.wiring import Service, open_service, sample_corpus
from app.wiring.library import describe_scope
from chains.errors import ConfigurationError
from chains.ingestion.files import find_files
from chains.scope import SCOPE_FILE
from chains.state import Searching

SCOPE = "intents:\n  a:\n    redirect: Ask the team.\n    examples:\n      - Where is it?\nin_scope:\n  - How?\n"
DECLINED = Searching(question="Where is it?")
REDIRECT = {"intent": "a", "text": "Ask the team."}
GUIDE = "# GST Guide\n\n## Rate\n\nThe rate of GST is nine percent."


def services(**settings: Any) -> Service:
    return open_service(load_settings(llm_provider="offline", **settings))


def folder(path: Path, *, scope: str | None = None, title: str = "GST Guide") -> Path:
    path.mkdir()
    (path / f"{title.lower().replace(' ', '_')}.md").write_text(GUIDE.replace("GST Guide", title))
    if scope is not None:
        (path / SCOPE_FILE).write_text(scope)
    return path


def described(of: Service) -> str:
    return describe_scope(of.settings, of.index.current())


def redirect(of: Service) -> object:
    assert of.answerer.scope is not None
    return of.answerer.scope.invoke(DECLINED)


@pytest.mark.parametrize("reset", [False, True])
@pytest.mark.parametrize("store", ["chroma", "memory"])
def test_the_scope_file_of_a_folder_counts_once_it_is_ingested_and_beside_a_folder_without_one_does_not(
    tmp_path, store, reset
):
    own = services(vector_store_type=store)
    assert redirect(own) is None
    desk = folder(tmp_path / "desk", scope=SCOPE)
    own.index.ingest([desk])
    assert redirect(own) == REDIRECT
    assert described(own) == f"questions are declined before the search by {desk / SCOPE_FILE}"

    (desk / SCOPE_FILE).write_text(SCOPE.replace("Ask the team.", "Ask Ann."))
    assert redirect(own) == REDIRECT
    report = own.index.ingest([desk])  # No document has changed.
    assert report.unchanged == report.chunks
    assert redirect(own) == {"intent": "a", "text": "Ask Ann."}

    other = folder(tmp_path / "other", title="Other Guide")
    own.index.ingest([other], reset=reset)
    assert redirect(own) is None
    assert described(own) == f"no question is declined before the search: {other} has no {SCOPE_FILE}"


def test_what_one_of_two_folders_answers_is_not_declined(tmp_path):
    own = services()
    own.index.ingest([folder(tmp_path / "desk", scope=SCOPE)])
    asked = SCOPE.replace("How?", "Where is it?").replace("      - Where is it?", "      - Who are you?")

    own.index.ingest([folder(tmp_path / "other", scope=asked, title="Other Guide")])
    assert redirect(own) is None


def test_a_scope_file_that_does_not_fit_is_named_and_the_one_before_stays_as_after_a_trial_run(tmp_path):
    own = services()
    desk = folder(tmp_path / "desk")
    own.index.ingest([desk])
    (desk / SCOPE_FILE).write_text(SCOPE)
    own.index.ingest([desk], dry_run=True)
    assert redirect(own) is None

    own.index.ingest([desk])
    (desk / SCOPE_FILE).write_text("intents: {}\nin_scope: [How?]\n")
    (problem,) = own.index.ingest([desk]).problems
    assert problem.path == SCOPE_FILE
    assert "line 1: intents is empty" in problem.reason
    assert redirect(own) == REDIRECT


def test_the_sample_corpus_brings_its_scope_and_declines_nothing_beside_documents_of_ones_own(tmp_path):
    own = services()

    def declined(question: str) -> bool:
        assert own.answerer.scope is not None
        return own.answerer.scope.invoke(Searching(question=question)) is not None

    own.index.ingest([sample_corpus()])
    assert declined("Recommend a hotel in Bangkok")
    assert not declined("What is the GST rate on imports?")

    own.index.ingest([folder(tmp_path / "desk", scope=SCOPE)])
    assert not declined("Recommend a hotel in Bangkok")
    assert described(own) == f"questions are declined before the search by {tmp_path / 'desk' / SCOPE_FILE}"


def test_scope_file_takes_the_place_of_those_of_the_folders_and_must_be_there_or_off(tmp_path):
    (tmp_path / "own.yaml").write_text(SCOPE)
    own = services(scope_file=tmp_path / "own.yaml")
    own.index.ingest([folder(tmp_path / "desk")])
    assert redirect(own) == REDIRECT
    assert described(own).endswith(f"SCOPE_FILE={tmp_path / 'own.yaml'}")

    off = services(scope_file="off")
    assert (off.answerer.scope, described(off)[:14]) == (None, "SCOPE_FILE=off")
    with pytest.raises(ConfigurationError, match="check SCOPE_FILE"):
        _ = services(scope_file=tmp_path / "none.yaml").answerer.scope


def test_the_scope_file_is_no_knowledge():
    found = find_files([sample_corpus()], {".md"})

    assert [file for file in found.files if "scope" in file.path.name] == []
    assert [problem.path for problem in found.skipped if "scope" in problem.path] == [SCOPE_FILE]


def test_a_question_with_a_code_of_the_documents_is_not_declined(tmp_path):
    found = services(chroma_path=tmp_path / "store")
    scope = SCOPE.replace("- Where is it?", "- Where is K7?\n      - Where is K1?")
    found.index.ingest([folder(tmp_path / "docs", scope=scope, title="Form K1")])
    gate = found.answerer.scope
    assert gate is not None
    assert gate.invoke(Searching(question="Where is K1?")) is None
    assert gate.invoke(Searching(question="Where is K7?")) == REDIRECT
