"""`waypoint test`: `*.tests.yaml` beside documents hold questions, and what their answers must and must not say."""

import re
import subprocess
import tempfile
import time
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from xml.etree import ElementTree

import typer
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from app.cli.ingest import read_settings, service_to_ask
from app.cli.rendering import complain, show
from chains.errors import ConfigurationError, IngestionError
from chains.regular_files import read_text
from chains.safe_yaml import YamlError, read_values
from chains.state import Answer
from chains.text.letters import one_line

if TYPE_CHECKING:
    from app.wiring import Service

PATTERN = "*.tests.yaml"


Texts = Annotated[
    list[Annotated[str, Field(min_length=1)]],
    BeforeValidator(lambda value: value if isinstance(value, list) else [value]),
]


class Case(BaseModel):
    """A question, and what its answer must be like; one text or a list of them."""

    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)

    question: str = Field(min_length=1)
    must_say: Texts = []
    must_not_say: Texts = []
    must_cite: Texts = []
    must_decline: bool = False
    outcome: Texts = []
    intent: str | None = None
    audience: Literal["public", "internal"] = "internal"
    language: str | None = None

    @model_validator(mode="after")
    def _expects(self) -> "Case":
        expected = (self.must_say, self.must_not_say, self.must_cite, self.must_decline, self.outcome, self.intent)
        if not any(expected):
            msg = "it expects nothing: add must_say, must_not_say, must_cite, must_decline, outcome or intent"
            raise ValueError(msg)
        return self


@dataclass(frozen=True)
class FileCase:
    """A case, its file below the tested folder, and its place there, from 1."""

    file: str
    place: int
    case: Case

    @property
    def name(self) -> str:
        return f"{self.file} [{self.place}] {self.case.question}"


def read_cases(path: Path) -> list[FileCase]:
    """Return the cases of a file or folder. Raise ConfigurationError if there are none, or one cannot be read."""
    files = sorted(path.rglob(PATTERN)) if path.is_dir() else [path]
    found = [case for file in files for case in _cases(file, path if path.is_dir() else path.parent)]
    if not found:
        raise ConfigurationError(f"{path} holds no tests: write `{PATTERN}` beside the documents, like\n{EXAMPLE}")
    return found


EXAMPLE = """- question: What is the GST rate on imports?
  must_say: 9 %
  must_cite: gst_guide"""


def _cases(file: Path, root: Path) -> Iterator[FileCase]:
    name = str(file.relative_to(root))
    try:  # A folder of a stranger must not show what lies outside of it.
        is_inside = file.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError):  # Links in a circle.
        is_inside = False
    try:
        if not is_inside:
            raise IngestionError("it is a symbolic link out of the folder, or to nowhere")
        values = read_values(read_text(file))
        yield from (FileCase(name, place, case) for place, case in enumerate(_CASES.validate_python(values or []), 1))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        number, *fields = first["loc"] or ("",)
        place = ".".join(map(str, [number + 1 if isinstance(number, int) else number, *fields]))
        known = "known are " + ", ".join(Case.model_fields)
        why = known if first["type"] == "extra_forbidden" else first["msg"].removeprefix("Value error, ")
        raise ConfigurationError(f"{name}, {place or 'the file'}: {why}") from error
    except (IngestionError, YamlError) as error:
        raise ConfigurationError(f"{name} cannot be read: {error}") from error


_CASES = TypeAdapter(list[Case])


def differences(case: Case, answer: Answer) -> list[str]:
    """Return what an answer lacks or has too much, a line each; none where it passes."""
    said, cited = _plain(answer["answer"]), list(_cited(answer))
    found = [f"must say       {text!r}" for text in case.must_say if not _is_said(text, said)]
    found += [f"must not say   {text!r}" for text in case.must_not_say if _is_said(text, said)]
    # Of each document its id, title, file, and the file's name.
    names = {part for some in cited for name in some for part in (name.casefold(), name.casefold().rpartition("/")[2])}
    shown = ", ".join(sorted({next(iter(names)) for names in cited})) or "nothing"
    found += [f"must cite      {text!r}, but cites {shown}" for text in case.must_cite if text.casefold() not in names]
    if case.must_decline and answer["outcome"] == "answered":
        found.append("must decline   but is answered")
    if case.outcome and answer["outcome"] not in case.outcome:
        found.append(f"outcome        {' or '.join(case.outcome)}, but is {answer['outcome']}")
    if case.intent and case.intent != (intent := answer["metadata"].get("intent")):
        found.append(f"intent         {case.intent}, but is {intent}")
    return found


def _is_said(text: str, said: str) -> bool:
    """Return whether the words stand there, not as a part of longer ones: "9%" is no part of "19%"."""
    return re.search(rf"(?<![\w.,]){re.escape(_plain(text))}(?!\w)", said) is not None


def _cited(answer: Answer) -> Iterator[Sequence[str]]:
    sources: list[Mapping[str, Any]] = [passage["metadata"] for passage in answer["documents"]]
    files = {source.get("doc_id"): str(source["file_path"]) for source in reversed(sources) if source.get("file_path")}
    for citation in answer["citations"]:
        if citation["matched"]:
            yield citation["doc_id"] or "", citation["title"], *filter(None, [files.get(citation["doc_id"])])


def _plain(text: str) -> str:
    """Return the text in one case, without Markdown's marks, and with no blank before a sign."""
    folded = re.sub(r"[*_`]+", "", unicodedata.normalize("NFKC", text).casefold())
    return re.sub(r"\s+(?=[%‰])", "", " ".join(folded.split()))


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
        from app.ledger.private_files import write_atomically

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
    from app.wings.knowledge.answer_log import open_answers
    from app.wings.knowledge.insights import proposed, write_new

    store = open_answers(read_settings())
    if not (text := proposed(store.answers())):
        raise ConfigurationError(f"no logged answer that cites a document was rated well ({store.database.place})")
    write_new(file, text)
    show(f"Wrote {file}: read the tests before you keep them.")


def run(cases: Sequence[FileCase], services: "Service") -> Iterator[Result]:
    for case in cases:
        started = time.perf_counter()
        answer = _answer(case, services)
        yield Result(case, answer, differences(case.case, answer), time.perf_counter() - started)


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
    changed = 0
    for result, old in zip(results, before, strict=True):
        new = result.answer
        if (old["outcome"], old["answer"]) != (new["outcome"], new["answer"]):
            changed += 1
            show(result.case.name)
            show(f"  - {old['outcome']}: {one_line(old['answer'])}\n  + {new['outcome']}: {one_line(new['answer'])}\n")
    show(f"{changed} of {len(results)} answers changed since {commit}")


def _answers_at(folder: Path, commit: str, cases: Sequence[FileCase]) -> list[Answer]:
    """Return the answers from the folder as it was at a commit. Raise ConfigurationError if git or it is missing."""
    from app.wiring import open_service

    with tempfile.TemporaryDirectory() as place:
        documents = Path(place) / folder.resolve().name
        documents.mkdir()
        # git reads the name of a commit, never an option.
        archive = ["git", "-C", str(folder), "archive", "--format=tar", "--end-of-options", commit, "."]
        try:
            packed = subprocess.run(archive, capture_output=True, check=True).stdout  # noqa: S603
            subprocess.run(["tar", "-x", "-C", str(documents)], input=packed, check=True, capture_output=True)  # noqa: S603, S607
        except FileNotFoundError as error:
            raise ConfigurationError(f"--changed-since needs git and tar: {error}") from error
        except subprocess.CalledProcessError as error:
            why = " ".join(error.stderr.decode(errors="replace").split())
            raise ConfigurationError(f"--changed-since {commit!r}: {why}") from error
        complain(f"Ingesting the documents of {commit} ...")
        settings = read_settings().replace(
            vector_store_type="chroma", chroma_host=None, chroma_path=Path(place) / "index", min_chunks=0
        )
        services = open_service(settings, serving=False)
        services.index.ingest([documents])
        return [_answer(case, services) for case in cases]


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
    return _NO_XML.sub("?", text)
