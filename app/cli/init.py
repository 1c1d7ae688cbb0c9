"""`waypoint init`: the first files for documents of one's own."""

import json
import os
import re
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from app.cli.rendering import show
from chains.ingestion.files import SourceFile, find_files

STARTER = Path(__file__).parent / "starter"
TESTS, EXAMPLES = "first.tests.yaml", "examples.yaml"
FILES = ("scope.yaml", "teams.yaml", EXAMPLES, TESTS)
MOST_QUESTIONS, OF_EACH = 8, 2  # Of all documents, and of one: the page tries each before it offers it.
_HEADING = re.compile(r"^#{2,4} +(?:\d[\d.)]* +)?+(\S+ .{0,80}?)[ #]*$", re.MULTILINE)
NEXT = ("ingest {folder}", "test {folder}", "serve")
_PLAIN = re.compile(r"[\w./-]+")


def init(
    folder: Annotated[Path, typer.Argument(help="Folder of your documents; made if absent.", file_okay=False)],
) -> None:
    """Write a commented .env here; scope, teams, examples and a first test into the folder. No file is overwritten."""
    from app import hooks
    from chains.ingestion import text_files

    folder.mkdir(parents=True, exist_ok=True)
    endings = {*text_files.LOADERS, *(f".{name}" for name in hooks.names("readers"))}
    documents = find_files([folder], endings).files
    texts = {folder / name: (STARTER / name).read_text(encoding="utf-8") for name in FILES}
    document = documents[0].relative if documents else "handbook.md"
    texts[folder / TESTS] = texts[folder / TESTS].replace('"DOCUMENT"', json.dumps(document))
    if questions := _questions(documents):
        texts[folder / EXAMPLES] = texts[folder / EXAMPLES].partition("en: [")[0] + "en:\n" + "".join(questions)
    for path, text in texts.items():
        show(f"wrote {path}" if _write_new(path, text) else f"kept  {path}, which was there")
    _write_settings(folder)
    show(f"\nWrite your teams and their contacts into {folder / 'teams.yaml'}: the page names them.")
    show("\nNext:\n" if documents else f"\nPut your documents into {folder}. Then:\n")
    program = "waypoint" if shutil.which("waypoint") else shlex.quote(os.path.relpath(sys.argv[0]))
    for words in NEXT:
        show(f"    {program} {words.format(folder=shlex.quote(str(folder)))}")


def _write_settings(folder: Path) -> None:
    from app.settings.table import starter_file

    # The index goes not among the documents, unless hidden.
    within = Path.cwd().is_relative_to(folder.resolve())
    index = Path(".waypoint" if within else "storage", folder.resolve().name or "index")
    lines = [f"{name}={_quoted(value)}" for name, value in {"CHROMA_PATH": index, "PAGE_PATH": folder}.items()]
    head = f"# The documents in {json.dumps(str(folder), ensure_ascii=False)}, in an index of their own.\n"
    if _write_new(Path(".env"), head + "".join(f"{line}\n" for line in lines) + starter_file(), mode=0o600):
        show("wrote .env")
        return
    there = Path(".env").read_text(encoding="utf-8", errors="replace").splitlines()
    show("kept  .env, which was there")
    if absent := [line for line in lines if line not in there]:
        show("      For an index of their own, add to it:\n" + "\n".join(f"      {line}" for line in absent))


def _write_new(path: Path, text: str, *, mode: int = 0o666) -> bool:
    try:
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError:
        return False
    with open(number, "w", encoding="utf-8") as file:
        file.write(text)
    return True


def _questions(documents: Sequence[SourceFile]) -> list[str]:
    """Return lines of example questions: headings that one document alone has, in turn from each, questions first."""
    markdown = [file for file in documents if file.path.suffix == ".md"]
    headings = [_HEADING.findall(file.path.read_text(encoding="utf-8", errors="replace")) for file in markdown]
    times, turns = Counter(chain.from_iterable(headings)), list[tuple[int, bool, str, str]]()
    for file, of_file in zip(markdown, headings, strict=True):
        own = sorted((heading for heading in of_file if times[heading] == 1), key=lambda one: not one.endswith("?"))
        turns += [(turn, not text.endswith("?"), text, file.doc_id) for turn, text in enumerate(own[:OF_EACH])]
    pairs = (map(json.dumps, (text, doc_id)) for *_, text, doc_id in sorted(turns)[:MOST_QUESTIONS])
    return [f"- {{question: {text}, document: {doc_id}, sure: true}}\n" for text, doc_id in pairs]


def _quoted(value: Path) -> str:
    text = str(value)
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return text if _PLAIN.fullmatch(text) else f"'{escaped}'"
