"""Resolve the titles and sections that a marker names to the passages that the model was shown.

Understands `[Title]`, `[Title > Section]`, deeper paths, `[Cite: ...]`, `[Cited from ...]`, several in one bracket
separated by semicolons, the separators that models write in place of `>`, short forms of a title, file names in its
place, sections by number, pages, and a section without a title where only one document has it.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from chains.citations.markers import Marker
from chains.citations.name_matching import SHORT_FORM, Fit, fit, normalise, similarity
from chains.citations.numbering import source_key
from chains.documents.library import KINDS
from chains.state import Passage

SECTION_WEIGHT = 0.3
SURE_SECTION = 0.85  # From here on a section makes up for a short form of the title that says little.
_ANY = 0.01
A_HEADING = 0.9  # How well a section fits that stands on the path of headings.
FEWEST_LETTERS = 4  # Of a section that stands without its title.
FULL_TITLE = 3  # Words of a title in escaped brackets that needs no section beside it.

_PREFIX = re.compile(
    r"\s*(?:cite[ds]?|citation|source|document|file|section|ref(?:erence)?|see)(?:\s+from)?\s*[:：]\s*|\s*cited\s+from\s+",
    re.IGNORECASE,
)
_PATH = re.compile(r"\s*(?:&gt;|&rsaquo;|&raquo;|&rarr;|->|=>|::|[>›»→＞〉⟩▸▶⇒➔➜])\s*")
_LABEL = r"(?:sections?|sec\.?|clause|article|art\.?|chapter|ch\.?|part|para(?:graph)?\.?|no\.?|§+)"
_LOOSE = re.compile(
    rf"\s+[-–—|/]\s+|\s*[:,]\s+|\s*[：，、｜／]\s*|\s+(?={_LABEL}\s*\d|§|\d+(?:\.\d+)+\s*$)"
    r"|\s*[(](?=[^()]+[)]\s*$)|\s*#\s*",
    re.IGNORECASE,
)
_PART = re.compile(r"(?:&#?\w{1,10};|[^;；])+")
_NUMBER = re.compile(rf"[\s(]*(?:{_LABEL}\s*)?(\d+(?:\.\d+)*)\.?[\s)]*", re.IGNORECASE)
_LABELLED_NUMBER = re.compile(rf"\s*(?:{_LABEL}\s*\d+(?:\.\d+)*|\d+(?:\.\d+)+)\.?\s*", re.IGNORECASE)
_LEADING_NUMBER = re.compile(rf"\W*(?:{_LABEL}\s*)?(\d+(?:\.\d+)*)(?![\w.]*\d)[.):]?\s*", re.IGNORECASE)
_PAGE = re.compile(r"[\s(]*(?:pages?|pp?\.?)\s*=?\s*(\d+)[\s)]*", re.IGNORECASE)
_FORMAT = rf"\.(?:{'|'.join(ending[1:] for ending in (*KINDS, '.doc', '.txt'))})"
_ENDING = re.compile(rf"{_FORMAT}\s*$", re.IGNORECASE)
_BEHIND_FILE = re.compile(rf"(?<=\w){_FORMAT}(?P<quote>[`*\"']*)(?:\s+|[:/]\s*)(?=\w)", re.IGNORECASE)
_FILE_WITHOUT_ENDING = re.compile(r"(\w*[^\W_]_[^\W_]\w*)\s+(?=\w)")
_FILE_SIGNS = re.compile(r"[\s_./\\-]+")


@dataclass(frozen=True, slots=True)
class Reference:
    """One document that a marker names, with its best passage, or None where nothing shown fits."""

    title: str
    section: str | None
    passage: Passage | None = None
    score: float = 0.0
    section_score: float = 0.0
    start: int = 0
    end: int = 0

    @property
    def section_matched(self) -> bool:
        return self.section_score > 0


def read_titles(marker: Marker, shown: Sequence[Passage]) -> list[Reference]:
    """Return the references of a marker; none where it is no citation (a plain bracketed word, a year)."""
    if not any(map(str.isalpha, marker.inner)) and (marker.escaped or not _LABELLED_NUMBER.fullmatch(marker.inner)):
        return []
    references = read_names(marker.inner, marker.start + 1 + marker.escaped, shown, span=(marker.start, marker.end))
    for reference in references if marker.escaped else ():
        # Escaped brackets cite only by a title and its section, or by a full title.
        title = str(reference.passage["metadata"].get("title")) if reference.passage else ""
        is_full = normalise(reference.title) == normalise(title) and len(title.split()) >= FULL_TITLE
        if not reference.passage or not (reference.section_matched or is_full):
            return []
    return references


def read_names(
    text: str, offset: int, shown: Sequence[Passage], *, span: tuple[int, int] | None = None
) -> list[Reference]:
    """Return the references of a text that may name documents; none where it names none."""
    whole = _reference(text, offset, shown, span=span)
    spans = _PART.finditer(text) if ";" in text or "；" in text else ()
    parts = [_reference(part.group(), offset + part.start(), shown) for part in spans]
    parts = parts if len(parts) > 1 else []
    named = [part for part in parts if part is not None]
    # A title may hold a semicolon itself: the parts count where each names a document, or the whole names none.
    if named and (all(part and part.passage for part in parts) or not (whole and whole.passage)):
        return named
    return [whole] if whole else []


def _reference(
    text: str, offset: int, shown: Sequence[Passage], *, span: tuple[int, int] | None = None
) -> Reference | None:
    prefix, named = _PREFIX.match(text), _named(text)
    best = max(_interpretations(named, shown), key=lambda found: found.score)
    if best.passage is None or best.score - SECTION_WEIGHT * best.section_score <= SHORT_FORM:
        # A whole path of headings says more than a word of some title.
        headed = with_section(named, shown)
        if len({source_key(passage)[0] for passage in headed}) == 1:
            title = str(headed[0]["metadata"].get("title") or "")
            best = Reference(title, named, headed[0], score=1.0, section_score=1.0)
    is_named = prefix or (best.section and any(map(str.isalpha, best.title)))
    if best.passage is None and not is_named and not with_section(named, shown):  # It may be of several documents.
        return None
    start, end = span or (offset + len(text) - len(text.lstrip()), offset + len(text.rstrip()))
    return replace(best, start=start, end=end)


def _named(text: str) -> str:
    """Return what stands behind a word such as "Source:"."""
    prefix = _PREFIX.match(text)
    return (text[prefix.end() :] if prefix else text.removeprefix("^")).strip()


def _interpretations(text: str, shown: Sequence[Passage]) -> Iterator[Reference]:
    """Yield every way to read `text` as a title and a section, the default first, each with its best passage."""
    first = _PATH.search(text)
    whole = _best(text, None, shown)
    if first:
        yield _best(text[: first.start()], text[first.end() :], shown)
    if first is None or whole.score == 1.0:  # A title may hold a separator, but then it has to stand there exactly.
        yield whole
    for separator in list(_PATH.finditer(text))[1:4]:
        yield _best(text[: separator.start()], text[separator.end() :], shown)
    for separator in list(_LOOSE.finditer(text))[:4]:
        found = _best(text[: separator.start()], text[separator.end() :], shown)
        if found.passage is not None and found.section_score > 0:
            yield found
    if file := _BEHIND_FILE.search(text):
        yield _best(text[: file.end("quote")], text[file.end() :], shown)
    elif name := _FILE_WITHOUT_ENDING.match(text):
        yield _best(name[1], text[name.end() :], shown)


def _best(title: str, section: str | None, shown: Sequence[Passage]) -> Reference:
    title, section = title.strip(), section.strip() if section else None
    fits: list[tuple[float, float, Fit, Passage]] = []
    for passage in shown:
        found = _title_fit(title, passage)
        section_fit = section_similarity(section, passage) if found and section else 0.0
        if found and (found.certain or section_fit >= (SURE_SECTION if found.tier == "short" else _ANY)):
            fits.append((found.score + SECTION_WEIGHT * section_fit, section_fit, found, passage))
    if not fits:
        return Reference(title, section)
    score, section_fit, found, passage = max(fits, key=lambda entry: entry[0])
    alike = [entry for entry in fits if entry[2].tier == found.tier and (entry[1] > 0) == (section_fit > 0)]
    # What several titles hold, or may be short for, names none of them.
    if found.tier in {"held", "short"} and len({source_key(entry[3])[0] for entry in alike}) > 1:
        return Reference(title, section)
    return Reference(title, section, passage, score, section_fit)


def _title_fit(title: str, passage: Passage) -> Fit | None:
    """Return how a title fits the passage's own title, or the name of its file."""
    metadata = passage["metadata"]
    found = fit(title, str(metadata.get("title") or ""))
    if (found and found.tier == "equal") or not (_ENDING.search(title) or "_" in title or "/" in title):
        return found
    written = _file_words(title)
    path = str(metadata.get("file_path") or "")
    if written in {_file_words(path), _file_words(str(metadata.get("doc_id") or ""))} - {""}:
        return Fit(1.0, "equal", certain=True)
    if _file_words(PurePosixPath(title.strip()).name) == _file_words(PurePosixPath(path).name) != "":
        return Fit(0.99, "short", certain=True)
    return found


def _file_words(name: str) -> str:
    return normalise(_FILE_SIGNS.sub(" ", _ENDING.sub("", name.strip("`*\"' "))))


def section_similarity(section: str, passage: Passage) -> float:
    """Return how well a section as written fits the passage's page, its section or a heading on its path, 0 to 1."""
    metadata = passage["metadata"]
    if page := _PAGE.fullmatch(section):
        return float(str(metadata.get("page")) == page[1])
    own, path = str(metadata.get("section") or ""), _headings(metadata.get("section_path"))
    headings = [(own, 1.0), *((heading, A_HEADING) for heading in path)]
    if number := _NUMBER.fullmatch(section):
        return max(worth * (_leading_number(heading) == number[1]) for heading, worth in headings)
    written = [section, *_PATH.split(section)]
    if _leading_number(section) == _leading_number(own):
        written.append(_unnumbered(section))
    elif not _leading_number(section):
        headings.append((_unnumbered(own), 1.0))
    return max(worth * similarity(part, heading) for part in written for heading, worth in headings)


def _leading_number(heading: str) -> str | None:
    found = _LEADING_NUMBER.match(heading)
    return found[1] if found else None


def _headings(path: object) -> list[str]:
    # A store keeps the list as JSON.
    headings = json.loads(path) if isinstance(path, str) and path.startswith("[") else path
    return [str(heading) for heading in headings] if isinstance(headings, list | tuple) else []


def with_section(text: str, shown: Sequence[Passage]) -> list[Passage]:
    """Return the passages that have a section of this name or number, or of this whole path, whatever their title."""
    named = _named(text)
    is_name = len(named) >= FEWEST_LETTERS and (named[0].isupper() or named[0].isdecimal())
    if not is_name and not _LABELLED_NUMBER.fullmatch(named):
        return []
    parts = _PATH.split(named)
    return [one for one in shown if all(section_similarity(part, one) >= A_HEADING for part in parts)]


def _unnumbered(heading: str) -> str:
    found = _LEADING_NUMBER.match(heading)
    return heading[found.end() :] if found else heading
