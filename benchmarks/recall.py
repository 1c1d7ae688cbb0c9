"""Edit documents by a script, and count which logged answers are recalled: `python -m benchmarks.recall`.

The questions of evals/questions.jsonl are answered offline from a copy of the sample corpus, and logged. Then one edit
at a time is made and taken back. An answer should be recalled if no file holds words that it quotes any more, or the
row of a table no longer stands with the table's first row; words are looked for in the files themselves. At last the
log is filled with 100,000 answers, and two checks are timed.
"""

import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from app.ledger.answers import AnswerStore, LoggedAnswer, Quote
from app.wings.knowledge.answer_log import KeptAnswers, open_answers
from app.wings.knowledge.recall import check, count_recalled, recalled
from app.wiring import Services, sample_corpus
from benchmarks.answer_log import answered
from benchmarks.offline import QUESTIONS, offline, report
from evals.questions import read_questions

QUOTES = 12  # Of as many documents as there are; each is edited in every way.
MANY = 100_000
MOST = 10_000
SHORTEST = 40  # Characters of a line that is a sentence.
_TOKEN = re.compile(r"\w+|[%$€£]")
_NUMBER = re.compile(r"\d")

Words = tuple[str, str]
"""A quote, and the first row of the table that it is a row of, or nothing."""

Logged = tuple[str, list[Words]]
"""An answer's trace id, and what it quotes."""

Edit = Callable[[Path, str, Path], None]
"""Changes the file that holds a quote; the other file is one that does not."""


def main() -> None:
    """Edit, count, fill the log and time it; print the tables, and keep them in docs/figures.json."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "documents"
        shutil.copytree(sample_corpus(), folder)
        editor = offline(Path(place), folder, answer_log=False)  # Its ingestions leave the log alone.
        services = Services(editor.settings.replace(answer_log=True), serving=False)
        desk = Desk(services, editor, open_answers(services.settings), folder)
        edits, seconds = measured(desk), timed(desk)
    totals = [sum(column) for column in zip(*(row[1:] for row in edits), strict=True)]
    rows = [*edits, ("all", *totals)]
    heads = ["edit", "edits", "answers that should be recalled", "recalled", "of these rightly"]
    report("recall", heads, rows, seconds=seconds)
    print(seconds)


@dataclass(frozen=True)
class Desk:
    """Services over a folder of documents, other ones that leave the log alone, and the log."""

    services: Services
    editor: Services
    store: AnswerStore
    folder: Path

    def ingest(self) -> float:
        """Bring index and log in line with the folder, and return the seconds that the log took."""
        self.editor.ingest([self.folder])
        index = self.services.index.current()
        started = time.perf_counter()
        check(self.store, index)
        count_recalled(self.store)
        return round(time.perf_counter() - started, 2)


def measured(desk: Desk) -> list[tuple[Any, ...]]:
    """Return for each edit how often it was made, and how many answers should be, were, and rightly were recalled."""
    with closing(KeptAnswers(desk.store, desk.services)) as log:
        for row in read_questions(QUESTIONS):
            log.ended(answered(desk.services, row.question))
    kept = [(one.trace_id, [*_quotes(one)]) for one in desk.store.answers() if one.certificate]
    targets = list(_targets(kept, desk.folder))
    return [(name, *_tried(edit, targets, kept, desk)) for name, edit in EDITS.items()]


def _quotes(answer: LoggedAnswer) -> Iterator[Words]:
    for sentence in (answer.certificate or {})["sentences"]:
        yield from ((source["quote"], source["table_head"]) for source in sentence["sources"])


def _targets(kept: Sequence[Logged], folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield quotes that stand word for word in a file, each of another file as far as there are files."""
    files = [file for file in sorted(folder.rglob("*.md")) if file.name != "README.md"]
    texts = {file: file.read_text(encoding="utf-8") for file in files}
    quotes = [quote for _, some in kept for quote, _ in some]
    found = [(file, quote) for quote in quotes for file in files if texts[file].count(quote) == 1]
    by_file = {file: [quote for one, quote in found if one == file] for file in files}
    turns = max(map(len, by_file.values()))
    ordered = [(file, quotes[turn]) for turn in range(turns) for file, quotes in by_file.items() if turn < len(quotes)]
    yield from list(dict.fromkeys(ordered))[:QUOTES]


def _tried(
    edit: Edit, targets: Sequence[tuple[Path, str]], kept: Sequence[Logged], desk: Desk
) -> tuple[int, int, int, int]:
    made = due = found = right = 0
    for place, (file, quote) in enumerate(targets):
        before = {one: one.read_bytes() for one in desk.folder.rglob("*.md")}
        edit(file, quote, targets[place - 1][0])
        if {one: one.read_bytes() for one in desk.folder.rglob("*.md")} == before:
            continue
        desk.ingest()
        told = {one.answer.trace_id for one in recalled(desk.store, desk.services.index.current(), limit=MOST)}
        wanted = _gone(kept, desk.folder)
        made, due, found, right = made + 1, due + len(wanted), found + len(told), right + len(told & wanted)
        for one in set(desk.folder.rglob("*.md")) - set(before):
            one.unlink()
        for one, content in before.items():
            one.write_bytes(content)
        desk.ingest()
    return made, due, found, right


def _gone(kept: Sequence[Logged], folder: Path) -> set[str]:
    """Return the answers that quote words which no file holds."""
    texts = [_plain(file.read_text(encoding="utf-8")) for file in folder.rglob("*.md")]
    return {trace for trace, quotes in kept if not all(any(_holds(text, *one) for text in texts) for one in quotes)}


def _holds(text: str, quote: str, head: str) -> bool:
    return _plain(quote) in text and (not head or _plain(head) in text)


def _plain(text: str) -> str:
    return f" {' '.join(_TOKEN.findall(text.casefold()))} "


def _rewrite(file: Path, old: str, new: str) -> None:
    file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")


def _delete(file: Path, quote: str, _other: Path) -> None:
    _rewrite(file, quote, "")


def _figure(file: Path, quote: str, _other: Path) -> None:
    found = _NUMBER.search(quote)
    if found:
        digit = str((int(found[0]) + 1) % 10 or 1)
        _rewrite(file, quote, quote[: found.start()] + digit + quote[found.end() :])


def _rephrase(file: Path, quote: str, _other: Path) -> None:
    words = quote.split(" ")
    middle = len(words) // 2
    _rewrite(file, quote, " ".join([*words[:middle], "as a rule", *words[middle:]]))


def _move_within(file: Path, quote: str, _other: Path) -> None:
    _rewrite(file, quote, "")
    file.write_text(f"{file.read_text(encoding='utf-8')}\n\n## Moved here\n\n{quote}\n", encoding="utf-8")


def _move_away(file: Path, quote: str, other: Path) -> None:
    _rewrite(file, quote, "")
    other.write_text(f"{other.read_text(encoding='utf-8')}\n\n## Moved here\n\n{quote}\n", encoding="utf-8")


def _rename(file: Path, _quote: str, _other: Path) -> None:
    file.rename(file.with_name(f"renamed_{file.name}"))


def _remove(file: Path, _quote: str, _other: Path) -> None:
    file.unlink()


def _elsewhere(file: Path, _quote: str, _other: Path) -> None:
    file.write_text(
        f"{file.read_text(encoding='utf-8')}\n\n## News\n\nThe desk has a new telephone.\n", encoding="utf-8"
    )


EDITS: dict[str, Edit] = {
    "the words deleted": _delete,
    "the file deleted": _remove,
    "a figure changed": _figure,
    "rephrased": _rephrase,
    "moved within the file": _move_within,
    "moved to another file": _move_away,
    "the file renamed": _rename,
    "another paragraph added": _elsewhere,
}


def timed(desk: Desk) -> dict[str, float]:
    """Return the seconds of a check of 100,000 answers: after one document changed, and after all did."""
    quotes = [
        Quote(one.doc_id, one.doc_id, "", line)
        for one in desk.services.index.current().documents()
        for chunk in desk.services.library.chunks(one.doc_id)
        for line in chunk.page_content.splitlines()
        if len(line) > SHORTEST
    ]
    for number in range(MANY - desk.store.count()):
        desk.store.add(_logged(), [quotes[number % len(quotes)], quotes[(7 * number) % len(quotes)]])
    desk.ingest()
    files = [file for file in sorted(desk.folder.rglob("*.md")) if file.name != "README.md"]
    found: dict[str, float] = {"answers": desk.store.count()}
    for name, changed in (("one document changed", files[:1]), ("all documents changed", files)):
        for file in changed:
            _elsewhere(file, "", file)
        found[name] = desk.ingest()
    return found


def _logged() -> LoggedAnswer:
    now = time.time()
    return LoggedAnswer(str(uuid4()), now, "What?", None, None, "internal", "answered", "high", 0.9, None, None, None)


if __name__ == "__main__":
    main()
