"""Tests of documents: `*.tests.yaml` beside them, with questions and what their answers must and must not say."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from chains.errors import ConfigurationError, IngestionError
from chains.regular_files import read_text
from chains.safe_yaml import YamlError, read_values
from chains.state import Answer

PATTERN = "*.tests.yaml"


def _listed(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


Texts = Annotated[list[Annotated[str, Field(min_length=1)]], BeforeValidator(_listed)]


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
        """Return what names it: its file, its place and its question."""
        return f"{self.file} [{self.place}] {self.case.question}"


def read_cases(path: Path) -> list[FileCase]:
    """Return the cases of a file, or of all files below a folder.

    Raise ConfigurationError if there is none, or one cannot be read.
    """
    files = sorted(path.rglob(PATTERN)) if path.is_dir() else [path]
    found = [case for file in files for case in _cases(file, path if path.is_dir() else path.parent)]
    if not found:
        msg = f"{path} holds no tests: write `{PATTERN}` beside the documents, like\n{EXAMPLE}"
        raise ConfigurationError(msg)
    return found


EXAMPLE = """- question: What is the GST rate on imports?
  must_say: 9 %
  must_cite: gst_guide"""


def _text(file: Path, root: Path) -> str:
    """Return the text of a file; a folder of a stranger must not show what lies outside of it."""
    try:
        is_inside = file.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError):  # Links in a circle.
        is_inside = False
    if not is_inside:
        msg = "it is a symbolic link out of the folder, or to nowhere"
        raise IngestionError(msg)
    return read_text(file)


def _cases(file: Path, root: Path) -> Iterator[FileCase]:
    name = str(file.relative_to(root))
    try:
        values = read_values(_text(file, root))
        yield from (FileCase(name, place, case) for place, case in enumerate(_CASES.validate_python(values or []), 1))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        number, *fields = first["loc"] or ("",)
        place = ".".join(map(str, [number + 1 if isinstance(number, int) else number, *fields]))
        known = "known are " + ", ".join(Case.model_fields)
        why = known if first["type"] == "extra_forbidden" else first["msg"].removeprefix("Value error, ")
        msg = f"{name}, {place or 'the file'}: {why}"
        raise ConfigurationError(msg) from error
    except (IngestionError, YamlError) as error:
        msg = f"{name} cannot be read: {error}"
        raise ConfigurationError(msg) from error


_CASES = TypeAdapter(list[Case])


def differences(case: Case, answer: Answer) -> list[str]:
    """Return what an answer lacks or has too much, a line each; none where it passes."""
    said, cited = _plain(answer["answer"]), list(_cited(answer))
    found = [f"must say       {text!r}" for text in case.must_say if not _is_said(text, said)]
    found += [f"must not say   {text!r}" for text in case.must_not_say if _is_said(text, said)]
    names = {name for names in cited for name in names}
    shown = ", ".join(sorted({next(iter(names)) for names in cited})) or "nothing"
    found += [f"must cite      {text!r}, but cites {shown}" for text in case.must_cite if not _names(text, names)]
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
    """Yield the names of each cited document: its id, title and file."""
    sources: list[Mapping[str, Any]] = [passage["metadata"] for passage in answer["documents"]]
    files = {source.get("doc_id"): str(source["file_path"]) for source in reversed(sources) if source.get("file_path")}
    for citation in answer["citations"]:
        if citation["matched"]:
            yield citation["doc_id"] or "", citation["title"], *filter(None, [files.get(citation["doc_id"])])


def _names(wanted: str, names: set[str]) -> bool:
    """Return whether a document has this id, title, file, or file name."""
    return any(wanted.casefold() in {name.casefold(), name.casefold().rpartition("/")[2]} for name in names)


def _plain(text: str) -> str:
    """Return the text in one case, without Markdown's marks, and with no blank before a sign."""
    folded = re.sub(r"[*_`]+", "", unicodedata.normalize("NFKC", text).casefold())
    return re.sub(r"\s+(?=[%‰])", "", " ".join(folded.split()))
