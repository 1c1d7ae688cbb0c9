"""`waypoint test`: ask the questions beside the documents, and compare the answers with what they must be."""

import re
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from xml.etree import ElementTree

import typer

from app.adapters.private_files import write_atomically
from app.cli.ingest import read_settings, service_to_ask
from app.cli.rendering import complain, show
from app.wings.knowledge.cases import FileCase, differences, read_cases
from chains.errors import ConfigurationError
from chains.state import Answer
from chains.text.letters import one_line

if TYPE_CHECKING:
    from app.wiring import Service


_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Result:
    """A case, its answer, what differs, and how many seconds it took."""

    case: FileCase
    answer: Answer
    differences: list[str]
    seconds: float


def run_tests(
    path: Annotated[Path, typer.Argument(help="Folder of the documents, or a file of tests.", exists=True)] = Path(),
    changed_since: Annotated[
        str | None, typer.Option(help="Commit: name the answers that the documents' changes since then changed.")
    ] = None,
    junit: Annotated[Path | None, typer.Option(dir_okay=False, help="File for the results as JUnit XML.")] = None,
    propose: Annotated[
        Path | None,
        typer.Option(
            dir_okay=False, help="Write tests from the logged answers that users rated well, and ask nothing."
        ),
    ] = None,
) -> None:
    """Ask the questions of *.tests.yaml files, and check what the answers say, cite or decline; exit 1 if one fails."""
    if propose is not None:
        _propose(propose)
        return
    cases = read_cases(path)
    before = _answers_at(path if path.is_dir() else path.parent, changed_since, cases) if changed_since else []
    services = service_to_ask()
    results = []
    for result in run(cases, services):
        show("F" if result.differences else ".", end="")
        results.append(result)
    show("")
    for result in results:
        if result.differences:
            show(_failure(result))
    if changed_since:
        _show_changes(changed_since, before, results)
    if junit is not None:
        write_atomically(junit, junit_xml(results))
    failed = sum(bool(result.differences) for result in results)
    seconds = sum(result.seconds for result in results)
    passed: dict[str, list[bool]] = {}
    for result in results:
        passed.setdefault(result.case.file, []).append(not result.differences)
    for file, some in passed.items() if len(passed) > 1 else ():
        show(f"{file}: {sum(some)} of {len(some)}")
    show(f"{len(results) - failed} passed, {failed} failed in {seconds:.1f} s")
    if failed:
        raise typer.Exit(1)


def _propose(file: Path) -> None:
    """Write the proposed tests; none where no answer was rated well."""
    from app.wings.knowledge.answer_log import open_answers
    from app.wings.knowledge.insights import proposed, write_new

    store = open_answers(read_settings())
    if not (text := proposed(store.answers())):
        msg = f"no logged answer that cites a document was rated well ({store.database.place})"
        raise ConfigurationError(msg)
    write_new(file, text)
    show(f"Wrote {file}: read the tests before you keep them.")


def run(cases: Sequence[FileCase], services: "Service") -> Iterator[Result]:
    for one in cases:
        started = time.perf_counter()
        answer = _answer(one, services)
        yield Result(one, answer, differences(one.case, answer), time.perf_counter() - started)


def _answer(one: FileCase, services: "Service") -> Answer:
    asked: dict[str, Any] = {"question": one.case.question}
    if one.case.language:
        asked["language"] = one.case.language
    answer: Answer = services.chain.invoke(asked, {"configurable": {"audience": one.case.audience}})  # type: ignore[arg-type]
    return answer


def _failure(result: Result) -> str:
    answer = result.answer
    level = f", {answer['confidence']['level']}" if answer["confidence"] else ""
    lines = [result.case.name, *(f"  {line}" for line in result.differences)]
    return "\n".join([*lines, f"  {answer['outcome']}{level}: {one_line(answer['answer'])}", ""])


def _show_changes(commit: str, before: Sequence[Answer], results: Sequence[Result]) -> None:
    """Print each answer that was another one from the documents of a commit."""
    changed = 0
    for result, old in zip(results, before, strict=True):
        new = result.answer
        if (old["outcome"], old["answer"]) != (new["outcome"], new["answer"]):
            changed += 1
            show(result.case.name)
            show(f"  - {old['outcome']}: {one_line(old['answer'])}\n  + {new['outcome']}: {one_line(new['answer'])}\n")
    show(f"{changed} of {len(results)} answers changed since {commit}")


def _answers_at(folder: Path, commit: str, cases: Sequence[FileCase]) -> list[Answer]:
    """Return the answers from an index of the folder as it was at a commit."""
    from app.wiring import open_service

    with tempfile.TemporaryDirectory() as place:
        documents = Path(place) / folder.resolve().name
        _check_out(folder, commit, documents)
        complain(f"Ingesting the documents of {commit} ...")
        settings = read_settings().replace(
            vector_store_type="chroma", chroma_host=None, chroma_path=Path(place) / "index", min_chunks=0
        )
        services = open_service(settings, serving=False)
        services.index.ingest([documents])
        return [_answer(case, services) for case in cases]


def _check_out(folder: Path, commit: str, target: Path) -> None:
    """Write the folder's files as they were at a commit.

    Raise ConfigurationError if there is no git, no repository, or no such commit.
    """
    target.mkdir()
    name = "." if folder == Path() else str(folder)
    try:
        # git reads the name of a commit, never an option.
        found = ["git", "-C", name, "archive", "--format=tar", "--end-of-options", commit, "."]
        archive = subprocess.run(found, capture_output=True, check=True)  # noqa: S603
        subprocess.run(["tar", "-x", "-C", str(target)], input=archive.stdout, check=True, capture_output=True)  # noqa: S603, S607
    except FileNotFoundError as error:
        msg = f"--changed-since needs git and tar: {error}"
        raise ConfigurationError(msg) from error
    except subprocess.CalledProcessError as error:
        why = " ".join(error.stderr.decode(errors="replace").split())
        msg = f"--changed-since {commit!r}: {why}"
        raise ConfigurationError(msg) from error


def junit_xml(results: Sequence[Result]) -> bytes:
    """Return the results in the format that CI systems read (JUnit's XML)."""
    failed = sum(bool(result.differences) for result in results)
    suite = ElementTree.Element("testsuite", name="waypoint", tests=str(len(results)), failures=str(failed))
    for result in results:
        names = {"classname": _xml(result.case.file), "name": _xml(result.case.name)}
        made = ElementTree.SubElement(suite, "testcase", names, time=f"{result.seconds:.3f}")
        if result.differences:
            failure = ElementTree.SubElement(made, "failure", message=_xml("; ".join(result.differences)))
            failure.text = _xml(_failure(result))
    whole: bytes = ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)
    return whole


def _xml(text: str) -> str:
    """Return the text without what XML 1.0 cannot hold."""
    return _NO_XML.sub("?", text)
