"""Read documents, and return all that there is to find in them."""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal, NamedTuple
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

from app.settings import Settings
from app.wiring.index import Index
from app.wiring.storage import parser
from chains.citations.claims import Claim, ClaimReader
from chains.citations.contradiction import contradict
from chains.documents.versions import replaced, told_apart
from chains.errors import IngestionError
from chains.ingestion.chunks import Chunk
from chains.ingestion.files import SourceFile, find_files
from chains.ingestion.parsing import Parsed, Parser
from chains.ingestion.source import title_of
from chains.ingestion.text_files import FRONT_MATTER, LOADERS
from chains.ports import Progress
from chains.regular_files import read_any_text
from chains.side_steps import side_step
from chains.text.letters import letters, one_line, skeleton
from chains.text.quantities import Quantity
from chains.text.tokens import tokens
from chains.text.words import plain_words

Kind = Literal["conflict", "unreadable", "link", "old", "duplicate", "passage", "title", "version"]
ERRORS: Final[frozenset[Kind]] = frozenset({"conflict", "unreadable", "link"})


@dataclass(frozen=True, order=True)
class Finding:
    """Something that an owner of documents should look at; `line` is 0 where a file has no lines."""

    file: str
    line: int
    kind: Kind
    message: str
    other_file: str = ""
    other_line: int = 0

    @property
    def level(self) -> Literal["error", "warning"]:
        return "error" if self.kind in ERRORS else "warning"

    def __str__(self) -> str:
        return f"{place(self.file, self.line)}: {self.kind}: {self.message}"


def shown(path: Path) -> str:
    here = Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else str(path)


def place(file: str, line: int) -> str:
    return f"{file}:{line}" if line else file


@dataclass(frozen=True, eq=False)
class Document:
    """A file that was read; `text` is empty but for Markdown and plain text, whose lines can be named.

    `metadata` is what it says of itself, with its place and an id, as the index has them.
    """

    file: SourceFile
    parsed: Parsed
    text: str = ""

    @cached_property
    def name(self) -> str:
        return shown(self.file.path)

    @cached_property
    def metadata(self) -> dict[str, str]:
        return {"doc_id": self.file.relative} | self.parsed.metadata | {"file_path": self.file.relative}

    @property
    def chunks(self) -> Sequence[Chunk]:
        return self.parsed.chunks

    @cached_property
    def _lines(self) -> list[int]:
        return [found.start() for found in re.finditer("\n", self.text)]

    def line_of(self, name: str) -> int:
        """Return the line of a value of the front matter; 0 where none gives it."""
        found = re.search(rf"^{name}\b", self.text, re.MULTILINE | re.IGNORECASE)
        return self.line(found.start()) if found else 0

    def line(self, offset: int) -> int:
        """Return the line of an offset, from 1; 0 where the file has no lines."""
        return bisect_right(self._lines, offset - 1) + 1 if self.text else 0


def read_documents(
    parser: Parser,
    paths: Sequence[Path],
    findings: list[Finding],
    progress: Progress | None = None,
    *,
    endings: Collection[str] | None = None,
) -> Iterator[Document]:
    """Yield the documents below the paths, in the order of their names; files that cannot be read go to `findings`.

    Raise IngestionError if a path is neither a folder nor a file that a loader reads.
    """
    found = find_files(paths, endings or parser.endings)
    findings += [Finding(problem.path, 0, "unreadable", problem.reason) for problem in found.problems]
    for number, file in enumerate(found.files, start=1):
        try:
            parsed = parser.parse(file.path)
            faults = [warning for warning in parsed.warnings if warning.startswith(FRONT_MATTER)]
            findings += [Finding(shown(file.path), 0, "unreadable", fault) for fault in faults]
            yield Document(file, parsed, read_any_text(file.path)[0] if file.path.suffix.lower() in LOADERS else "")
            yield from (Document(file.attachment(name), more, "") for name, more in parsed.attached.items())
        except IngestionError as error:
            findings.append(Finding(shown(file.path), 0, "unreadable", str(error)))
        if progress:
            progress(number, len(found.files), file.relative)


Step = Callable[[Sequence[Document]], Iterable[Finding]]


def read_and_lint(
    paths: Sequence[Path],
    settings: Settings,
    progress: Progress | None = None,
    *,
    endings: set[str] | None = None,
    max_age_days: int = 0,
) -> tuple[list[Document], list[Finding]]:
    """Return the documents below the paths, and what there is to find in them, by file and line.

    Raise IngestionError if a path is neither a folder nor a file that can be read.
    """
    findings: list[Finding] = []
    with closing(parser(settings)) as reader:
        documents = list(read_documents(reader, paths, findings, progress, endings=endings))
    old = partial(find_old, today=datetime.now(UTC).date(), max_age_days=max_age_days)
    named = {step.__name__.removeprefix("find_").replace("_", " "): step for step in STEPS}
    steps: dict[str, Step] = {**named, "old": old}
    findings += [finding for name, step in steps.items() for finding in _found(name, step, documents)]
    return documents, sorted(findings)


def worth_a_look(index: Index, paths: Sequence[str]) -> Iterator[str]:
    """Yield a line about the Markdown and plain text below the paths, for the end of `waypoint ingest`."""
    folders = [Path(path) for path in paths if Path(path).exists()]
    _, findings = read_and_lint(folders, index.settings, endings=set(LOADERS))
    if findings:
        kinds = Counter(finding.kind for finding in findings)
        counts = ", ".join(f"{kind} {number}" for kind, number in sorted(kinds.items()))
        yield f"Worth a look: {counts}; `waypoint lint {' '.join(paths)}` shows where"


def _found(name: str, step: Step, documents: Sequence[Document]) -> list[Finding]:
    """Return what a step finds; it names the documents that it fails on, and looks at the others without them."""
    with side_step(f"lint: {name}"):
        return list(step(documents))
    if len(documents) == 1:
        return [Finding(documents[0].name, 0, "unreadable", f"the step {name!r} failed on it; the log says where")]
    alone = {document: _found(name, step, [document]) for document in documents}
    failing = {document: some for document, some in alone.items() if any(one.kind == "unreadable" for one in some)}
    named = [finding for some in failing.values() for finding in some]
    rest = [document for document in documents if document not in failing]
    return [*named, *(_found(name, step, rest) if failing and rest else ())]


MARKDOWN: Final = {".md", ".markdown"}
FEWEST_WORDS: Final = 3  # Fewer say nothing that a question could ask for.
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_NO_ANCHOR: Final = re.compile(r"[^\w\- ]")
_MARKDOWN: Final = MarkdownIt("commonmark").enable("table")


def find_old(documents: Sequence[Document], today: date, max_age_days: int = 0) -> Iterator[Finding]:
    """Yield the documents past their `review_by` or last updated more than `max_age_days` ago; 0 is no limit."""
    for document in documents:
        review, updated = (_date(document.parsed.metadata.get(name, "")) for name in ("review_by", "last_updated"))
        if review and review < today:
            yield Finding(document.name, document.line_of("review_by"), "old", f"its review was due on {review}")
        elif max_age_days and updated and (today - updated).days > max_age_days:
            message = f"last updated on {updated}, more than {max_age_days} days ago"
            yield Finding(document.name, document.line_of("last_updated"), "old", message)


def find_versions(documents: Sequence[Document]) -> Iterator[Finding]:
    """Yield the documents that are not in force, each with the version that is, where there is one."""
    for older, newer in replaced([document.metadata for document in documents]).items():
        message, other = "it says that it is not in force on this day: answers mark it so", ""
        if newer is not None:
            title, other = documents[newer].parsed.metadata["title"], documents[newer].name
            message = f"{title!r} ({other}) is the version in force: answers mark this one"
        yield Finding(documents[older].name, 0, "version", message, other)


def _date(text: str) -> date | None:
    found = _DATE.search(text)
    try:
        return date.fromisoformat(found[0]) if found else None
    except ValueError:
        return None


def find_untitled(documents: Sequence[Document]) -> Iterator[Finding]:
    """Yield the documents whose only title is the name of their file."""
    for document in documents:
        title = document.parsed.metadata["title"]
        if document.file.path.suffix.lower() in MARKDOWN and title == title_of(document.file.path):
            is_written = re.search(rf"^(?:title:|#)\W*{re.escape(title)}\W*$", document.text, re.MULTILINE)
            if not is_written:
                message = f"it has no title; citations call it {title!r}: write `title:` or a heading of level 1"
                yield Finding(document.name, 1, "title", message)


def find_alike_titles(documents: Sequence[Document]) -> Iterator[Finding]:
    """Yield the documents whose title reads like that of another one, unless answers label them apart."""
    labels = told_apart([document.metadata for document in documents])
    first: dict[str, Document] = {}
    for document in documents:
        title = document.metadata["title"]
        other = first.setdefault(skeleton(title) or document.name, document)
        mine, others = (labels.get(one.metadata["doc_id"]) for one in (document, other))
        is_labelled = letters(title) == letters(other.metadata["title"]) and mine != others
        if other is not document and not is_labelled:
            message = f"no reader of a citation can tell {title!r} from the title of {other.name}: name it otherwise"
            yield Finding(document.name, document.line_of("title"), "title", message, other.name)


def find_broken_links(documents: Sequence[Document]) -> Iterator[Finding]:
    """Yield the links to files that are not there, and to headings that their document does not have."""
    paths = {document.file.path: document.text for document in documents}
    parsed = {path: _MARKDOWN.parse(text) for path, text in paths.items() if path.suffix.lower() in MARKDOWN}
    anchors = {path: _anchors(blocks) for path, blocks in parsed.items()}
    for document in documents:
        for block in parsed.get(document.file.path, []):
            for child in block.children or []:
                target = child.attrGet("href") or child.attrGet("src")
                if isinstance(target, str) and block.map and (why := _problem(document.file.path, target, anchors)):
                    yield Finding(document.name, block.map[0] + 1, "link", f"{target!r}: {why}")


def _problem(path: Path, target: str, anchors: dict[Path, set[str]]) -> str:
    """Return why a link leads nowhere; empty where it does not, or leads out of the folder."""
    try:
        parts = urlsplit(target)
        if parts.scheme or parts.netloc or parts.path.startswith("/"):
            return ""
        named = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        is_missing = not named.exists()
    except (OSError, RuntimeError, ValueError):  # No file can have this name, or links lead in a circle.
        is_missing = True
    if is_missing:
        return "there is no such file"
    anchor = unquote(parts.fragment).lower()
    return f"{named.name} has no heading of this name" if anchor and anchor not in anchors.get(named, {anchor}) else ""


def _anchors(blocks: Sequence[Token]) -> set[str]:
    """Return the anchors of a document's headings as GitHub makes them, and those that HTML in it gives."""
    found: dict[str, int] = {}
    for opening, content in pairwise(blocks):
        if opening.type == "heading_open":
            words = "".join(child.content for child in content.children or [])
            slug = _NO_ANCHOR.sub("", words.strip().lower()).replace(" ", "-")
            found[slug] = found.get(slug, -1) + 1
    numbered = {f"{slug}-{number}" for slug, most in found.items() for number in range(1, most + 1)}
    given = re.findall(r"(?:id|name)=[\"']([^\"']+)[\"']", " ".join(block.content for block in blocks))
    return {*found, *numbered, *map(str.lower, given)}


def find_unreachable(documents: Sequence[Document]) -> Iterator[Finding]:
    """Yield passages that no question reaches: nothing but headings, or rows of a table without its head."""
    for document in documents:
        for chunk in document.chunks:
            line = document.line(chunk.start_char) or chunk.page or 0
            lines = (line.strip() for line in chunk.text.splitlines())
            said = [line for line in lines if line and not line.startswith("#")]
            is_table = len(said) > 1 and all(line.startswith("|") for line in said)
            if sum(word.weight > 0 for text in said for word in tokens(text)) < FEWEST_WORDS:
                shown = one_line(chunk.text)[:80]
                message = f"no question reaches it, it says next to nothing: {shown!r}"
                yield Finding(document.name, line, "passage", message)
            elif is_table and not any(set(line) <= set("|-: ") for line in said) and not chunk.context:
                message = "rows of a table without its head and rule: no question reaches what its columns mean"
                yield Finding(document.name, line, "passage", message)


WORDS: Final = 6  # Of a shingle: so many words in a row.
ALIKE: Final = 0.8  # The share of shingles that makes two passages the same.
FEWEST_SHINGLES: Final = 20
MOST_FILES: Final = 50  # A shingle in more files is boilerplate, and leads to none of them.
FEWEST_PAGES: Final = 4
PAGES_SHARE: Final = 0.6
SHORTEST_LINE: Final = 12


def find_duplicates(documents: Sequence[Document]) -> Iterator[Finding]:
    """Yield each document that is a copy of another one, or shares a passage with it word for word or nearly."""
    originals: dict[tuple[str, ...], Document] = {}
    for document in documents:
        words = tuple(word for chunk in document.chunks for word in plain_words(chunk.text))
        if (first := originals.setdefault(words, document)) is not document:
            yield Finding(document.name, 1, "duplicate", f"the same text as {first.name}", first.name, 1)
    pairs: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for (one, mine), (other, theirs) in _near_passages(list(originals.values())):
        pairs[other.name, one.name].append((other.line(theirs.start_char), one.line(mine.start_char)))
    for (name, other_name), lines in pairs.items():
        line, other_line = lines[0]
        subject = "a passage that is" if len(lines) == 1 else f"{len(lines)} passages that are"
        message = f"{subject} nearly word for word in {place(other_name, other_line)}"
        yield Finding(name, line, "duplicate", message, other_name, other_line)


Passage = tuple[Document, Chunk]


def _near_passages(documents: Sequence[Document]) -> Iterator[tuple[Passage, Passage]]:
    """Yield passages of two documents that have most of their shingles in common (w-shingling, Broder 1997)."""
    index: dict[int, list[int]] = defaultdict(list)
    passages: list[tuple[Passage, set[int]]] = []
    for document in documents:
        for chunk in document.chunks:
            words = plain_words(chunk.text)
            shingles = {hash(tuple(words[at : at + WORDS])) for at in range(len(words) - WORDS + 1)}
            if len(shingles) < FEWEST_SHINGLES:
                continue
            shared = Counter(place for one in shingles for place in index[one] if len(index[one]) <= MOST_FILES)
            for at, number in shared.items():
                passage, theirs = passages[at]
                if passage[0] is not document and number >= ALIKE * min(len(shingles), len(theirs)):
                    yield passage, (document, chunk)
            for shingle in shingles:
                index[shingle].append(len(passages))
            passages.append(((document, chunk), shingles))


def find_boilerplate(documents: Sequence[Document]) -> Iterator[Finding]:
    """Yield the documents whose pages repeat lines, such as a footer, which make their passages alike."""
    for document in documents:
        pages = {chunk.page for chunk in document.chunks if chunk.page}
        on: dict[str, set[int]] = defaultdict(set)
        for chunk in document.chunks if len(pages) >= FEWEST_PAGES else ():
            for line in chunk.text.splitlines():
                on[line.strip()].add(chunk.page or 0)
        repeated = [line for line, where in on.items() if len(where) >= PAGES_SHARE * len(pages)]
        if worth := [line for line in repeated if sum(map(str.isalpha, line)) >= SHORTEST_LINE]:
            message = f"{worth[0][:80]!r} stands on {len(on[worth[0]])} of {len(pages)} pages"
            more = f", and so do {len(worth) - 1} other lines" if len(worth) > 1 else ""
            yield Finding(document.name, min(on[worth[0]]), "passage", f"{message}{more}: it makes passages alike")


LONGEST_QUOTE: Final = 160
MOST_SHARED: Final = 400  # Claims that a claim is compared with for each of its words.
# Addresses, file names and codes say nothing about which words are names.
_NO_WORDS: Final = re.compile(r"\S*(?:://|www\.|@|\w\.\w{2,}|_)\S*")


class Stated(NamedTuple):
    """A claim, and where it stands."""

    document: Document
    line: int
    claim: Claim
    quote: str


def find_conflicts(documents: Sequence[Document]) -> Iterator[Finding]:
    """Yield a finding for each two statements that cannot both be true; what is not in force does not count."""
    old = replaced([document.metadata for document in documents])
    current = [document for number, document in enumerate(documents) if number not in old]
    by_measure: dict[str, list[Stated]] = defaultdict(list)
    for stated in _statements(current):
        value = stated.claim.value
        by_measure[value.measure if isinstance(value, Quantity) else "name"].append(stated)
    seen: set[tuple[tuple[str, int], tuple[str, int]]] = set()
    for some in by_measure.values():
        for one, other in _contradicting(some):
            first, second = sorted((one, other), key=lambda stated: (stated.document.name, stated.line))
            places = (first.document.name, first.line), (second.document.name, second.line)
            if places not in seen:
                seen.add(places)
                there = place(second.document.name, second.line)
                figures = f"{first.claim.written} here, {second.claim.written} in {there}"
                message = f"{figures}: {first.quote!r} and {second.quote!r}"
                yield Finding(*places[0], "conflict", message, *places[1])


def _statements(documents: Sequence[Document]) -> Iterator[Stated]:
    texts = (_NO_WORDS.sub(" ", chunk.text) for document in documents for chunk in document.chunks)
    # Words that are also written in small letters are no names.
    reader = ClaimReader({word.key for text in texts for word in tokens(text) if word.text[0].islower()})
    for document in documents:
        metadata = document.parsed.metadata
        about = reader.about(document.name, metadata["title"], metadata.get("jurisdiction", ""))
        read: set[tuple[int, str]] = set()  # Chunks overlap.
        for chunk in document.chunks:
            for claim in reader.claims(chunk.text, about, chunk.section_path, chunk.context):
                begin = chunk.start_char + claim.start
                if (begin, claim.written) not in read:
                    read.add((begin, claim.written))
                    quote = one_line(chunk.text[claim.start : claim.end])[:LONGEST_QUOTE]
                    yield Stated(document, document.line(begin) or chunk.page or 0, claim, quote)


def _contradicting(some: Sequence[Stated]) -> Iterator[tuple[Stated, Stated]]:
    """Yield the claims that contradict each other; two that may have the conditions and a word in common."""
    index: dict[tuple[object, ...], list[Stated]] = defaultdict(list)
    for stated in some:
        claim = stated.claim
        candidates = {id(one): one for word in claim.words for one in index[word, claim.conditions][-MOST_SHARED:]}
        for one in candidates.values():
            is_same = one.document is stated.document and (one.line, one.quote) == (stated.line, stated.quote)
            if not is_same and contradict(one.claim, claim):
                yield one, stated
        for word in claim.words:
            index[word, claim.conditions].append(stated)


STEPS = [find_conflicts, find_duplicates, find_boilerplate, find_versions, find_untitled, find_alike_titles]
STEPS += [find_broken_links, find_unreachable]
