"""Check a certificate: does each sentence of an answer still stand on the words of its source?

It needs Python's standard library alone: no network, model, index, or other module of this program. A sentence is
proven by one of two rules, which compare it with the quote of its source:

- `quoted`: the quote holds the sentence word for word.
- `figures`: the quote gives every number of the sentence, negates the same words and, with the title, the section and
  the head of the table that it stands under, holds every name and at least four of five of the words.

A sentence that neither rule proves is `unproven`: it may be right, but somebody has to read the quote. Quote, title,
section and head of the table are looked up in the document; what the certificate alone says proves nothing. Of the
answer only markers, which name its sources and nothing else, count for nothing.
"""

import hashlib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

VERSION = 1
Rule = Literal["quoted", "figures"]

LEAST_SHARE = 0.8  # Of the words that are neither numbers nor names.
MOST_BETWEEN = 3  # Words between two sentences, such as the label of a list.
STEM = 5  # Letters: "imports" and "imported" count as one word.
MOST_SOURCES = 500  # Of a certificate.
MOST_LETTERS = 20_000  # Of a sentence, its quote and heading that are compared, and of a front matter.
LONGER, ANYWAY = 4, 200  # Times the sentence, and letters: a longer quote holds the words of too many sentences.
_BRACKETS = re.compile(r"\\?[\[【［〔]([^\[\]【】［］〔〕]*)[\]】］〕]")  # As models write them.
_DANGLING = re.compile(r" (?=[.,;:!?)])")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_HEADING = re.compile(r" {0,3}(#{1,6})(?!#)(.*)")
_UNDERLINE = re.compile(r" {0,3}([=-])\1*\s*$")
_PARAGRAPH = re.compile(r" {0,3}(?![-*+>|]|\d{1,9}[.)])\S")
_FIRST_LEVEL = re.compile(r"^ {0,3}#[ \t](.*)", re.MULTILINE)
_FRONT_MATTER = re.compile(r"\W{3,9}\n(.*?)\n\W{3,9}\n", re.DOTALL)
_TITLE = re.compile(r"^\W{0,3}title\W{0,3}[:=](.*(?:\n[ \t]+.*)*)", re.IGNORECASE | re.MULTILINE)
_MARKS = re.compile(r"[*_`#>|\"'’‘“”]+")
_NUMBER = re.compile(r"(?:[A-Z]{0,3}[$€£¥])?\s?\d+(?:[.,:/-]\d+)*(?:\s?[%‰])?")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_OLDER = re.compile(r"(?:older version|not (?:yet )?in force)\)$")
_NEGATIONS = "no not never none neither nor without cannot except unless nicht kein keine ohne nie tidak bukan tanpa"
_FUNCTION_WORDS = """
    a an and are as at be been but by can could do does for from had has have he her his if in into is it its may more
    must of on or our shall she should so some such than that the their them then there these they this those to under
    up was we were what when where which while who will with would you your
"""
_NOT, _SMALL = (frozenset(words.split()) for words in (_NEGATIONS, _FUNCTION_WORDS))
_LABELS = _SMALL | {
    "cite", "cited", "citation", "document", "page", "p", "ref", "reference", "section", "see", "source"
}  # fmt: skip


class UnreadableError(Exception):
    """A reader cannot read a document that is there; the message says why."""


@dataclass(frozen=True)
class Document:
    """A document as it is now: the file's bytes where the source has `bytes`, else the text that was read of it.

    Of an extracted text the reader tells the title and the headings, each with its place and level; those of Markdown
    are read here.
    """

    content: bytes | str
    title: str = ""
    outline: Sequence[tuple[int, int, str]] = ()

    @cached_property
    def sha256(self) -> str | None:
        """Return the hash of a file's bytes; None of an extracted text."""
        return hashlib.sha256(self.content).hexdigest() if isinstance(self.content, bytes) else None

    @cached_property
    def headings(self) -> Sequence[tuple[int, int, str]]:
        """Return the headings in order; places count as those of the content."""
        return self.outline or list(_headings(self._text, in_bytes=isinstance(self.content, bytes)))

    @cached_property
    def titles(self) -> list[set[str]]:
        """Return the words of what a citation may call it, the name of its file apart."""
        front = _FRONT_MATTER.match(self._text[:MOST_LETTERS])
        names = [self.title, *_TITLE.findall(front[1] if front else ""), *_FIRST_LEVEL.findall(self._text)]
        return [_words(name) for name in names]

    def sections(self, place: int) -> Iterator[str]:
        """Yield the headings that a place stands under."""
        path: list[tuple[int, str]] = []
        for start, level, words in self.headings:
            if start > place:
                break
            path = [above for above in path if above[0] < level] + [(level, words)]
        yield from (words for _, words in path)

    @cached_property
    def _text(self) -> str:
        return self.content.decode("utf-8", "replace") if isinstance(self.content, bytes) else self.content


Reader = Callable[[Mapping[str, Any]], Document | None]
"""Returns the document of a source, or None if it is missing; UnreadableError says that it cannot be read."""


@dataclass(frozen=True)
class Verdict:
    """What was found of one sentence: the rule that proves it, or why it fails; neither where it is unproven.

    `note` says that no source is cited, or that the file changed elsewhere.
    """

    sentence: str
    rule: Rule | None = None
    failure: str | None = None
    note: str = ""


def verify(certificate: Mapping[str, Any], read: Reader | None = None) -> list[Verdict]:
    """Return a verdict on each sentence of what `seal` returned; the first one is on the whole where that fails.

    `read` returns the documents as they are now; without it, quotes are believed.
    """
    try:
        unmarked, lookup = marker_filter(_sources(certificate)), _once(read) if read else None
        whole = list(_whole(certificate, unmarked))
        return [*whole, *(_judge(certificate, sentence, unmarked, lookup) for sentence in certificate["sentences"])]
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError) as error:
        return [Verdict("", failure=f"this is no certificate of version {VERSION}: {error!r}")]


def seal(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content with a hash over all of it."""
    return {**content, "sha256": digest({name: value for name, value in content.items() if name != "sha256"})}


def digest(value: object) -> str:
    """Return the SHA-256 of a value's JSON: keys sorted, no spaces, UTF-8."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def heading_of(source: Mapping[str, Any]) -> str:
    """Return what a quote stands under: title, section, and the head of its table."""
    return "\n".join(filter(None, (source["title"], source["section"], source["table_head"])))


def proving_rule(sentence: str, quote: str, heading: str) -> Rule | None:
    """Return the rule by which a quote under a heading proves a sentence."""
    if len(sentence) + len(quote) + len(heading) > MOST_LETTERS:
        return None
    said, held = _plain(sentence).strip(" ."), _plain(quote)
    if not said:
        return None
    before, found, _ = held.partition(said)
    if found and not _NOT & _words(before.rpartition(". ")[2]):  # "No goods are exempt" proves no exemption.
        return "quoted"
    return None if _differences(sentence, quote, heading) else "figures"


def marker_filter(sources: Iterable[Mapping[str, Any]]) -> Callable[[str], str]:
    """Return what removes the brackets of a text that name these sources and nothing else."""
    named = [
        f"{source['title']} {source['section']} {source['file'] or ''} {source['page'] or ''}" for source in sources
    ]
    words, numbers = _words(" ".join(named)) | _LABELS, set(re.findall(r"\d+", " ".join(named)))

    def kept(bracket: re.Match[str]) -> str:
        inner = bracket[1].strip("\\ ")
        says = _words(inner)
        foreign = says - words
        is_name = len(foreign) <= (1 - LEAST_SHARE) * len(says) and not foreign & _NOT
        is_number = re.fullmatch(r"\d{1,3}", inner) and int(inner) <= len(named)
        is_marker = is_number or (says and is_name and numbers.issuperset(re.findall(r"\d+", inner)))
        return "" if is_marker else bracket[0]

    return lambda text: _DANGLING.sub("", " ".join(_BRACKETS.sub(kept, text).split()))


def _sources(certificate: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the sources of all sentences, which must be few, and the sentences one behind the other."""
    at = number = 0
    for sentence in certificate["sentences"]:
        number += len(sentence["sources"])
        if sentence["start"] < at or number > MOST_SOURCES:
            raise ValueError(f"its sentences overlap, or have more than {MOST_SOURCES} sources")
        at = sentence["end"]
        yield from sentence["sources"]


def _once(read: Reader) -> Reader:
    known: dict[tuple[Any, bool], Document | None] = {}

    def lookup(source: Mapping[str, Any]) -> Document | None:
        key = (source["file"], bool(source["bytes"]))
        if key not in known:
            known[key] = read(source)
        return known[key]

    return lookup


def _headings(text: str, *, in_bytes: bool) -> Iterator[tuple[int, int, str]]:
    """Yield the place, level and words of each heading of Markdown that stands in no fence of code."""
    front = _FRONT_MATTER.match(text[:MOST_LETTERS])
    begin = front.end() if front else 0
    place, fence, above = len(text[:begin].encode() if in_bytes else text[:begin]), "", (0, "")
    for line in text[begin:].split("\n"):
        if mark := _FENCE.match(line):
            fence = mark[1] if not fence else "" if mark[1] == fence else fence
        elif not fence and (heading := _HEADING.match(line)):
            yield place, len(heading[1]), heading[2]
        elif not fence and _PARAGRAPH.match(above[1]) and (underline := _UNDERLINE.match(line)):
            yield above[0], 1 if underline[1] == "=" else 2, above[1]
        above = (place, line)
        place += len(line.encode() if in_bytes else line) + 1


def _whole(certificate: Mapping[str, Any], unmarked: Callable[[str], str]) -> Iterator[Verdict]:
    if certificate["version"] != VERSION:
        yield Verdict("", failure=f"it has version {certificate['version']}; this program reads {VERSION}")
    if seal(certificate)["sha256"] != certificate["sha256"]:
        yield Verdict("", failure="it was changed: its hash does not fit its content")
    answer, at = certificate["answer"], 0
    for start, end in [*((one["start"], one["end"]) for one in certificate["sentences"]), (len(answer), len(answer))]:
        between = unmarked(answer[at:start])
        said = _words(between)
        if len(said - _SMALL) > MOST_BETWEEN or said & _NOT or re.search(r"\d\s*[%‰]", between):
            yield Verdict(" ".join(between.split()), failure="no sentence of the certificate covers this")
        at = end


def _judge(
    certificate: Mapping[str, Any], sentence: Mapping[str, Any], unmarked: Callable[[str], str], read: Reader | None
) -> Verdict:
    says = sentence["says"]
    shown = unmarked(certificate["answer"][sentence["start"] : sentence["end"]])
    if _letters(shown) != _letters(says):
        return Verdict(says, failure=f"the answer says something else: {shown!r}")
    if not sentence["sources"]:
        return Verdict(says, note="no source is cited for it")
    found = [_by_source(says, source, read) for source in sentence["sources"]]
    failed = next((verdict for verdict in found if verdict.failure), None)
    proven = next((verdict for verdict in found if verdict.rule), None)
    return failed or proven or Verdict(says)


def _by_source(says: str, source: Mapping[str, Any], read: Reader | None) -> Verdict:
    if failure := _misplaced(source, read) if read else None:
        return Verdict(says, failure=failure)
    heading = heading_of(source)
    rule = proving_rule(says, source["quote"], heading)
    if source["rule"] and not rule:
        differences = _differences(says, source["quote"], heading)
        return Verdict(says, failure=f"the quote does not prove it: {'; '.join(differences)}")
    document = read(source) if read else None
    changed = document is not None and document.sha256 not in {None, source["sha256"]}
    note = f"{source['file']} changed elsewhere" if changed else ""
    return Verdict(says, rule=rule if source["rule"] else None, note=note)


def _misplaced(source: Mapping[str, Any], read: Reader) -> str | None:
    """Return why a quote is not where the certificate says, or not under that heading; None where it is."""
    name = source["file"] or source["title"]
    try:
        document = read(source)
    except UnreadableError as error:
        return f"{name} cannot be read: {error}"
    if document is None:
        return f"{name} is not there"
    in_bytes = isinstance(document.content, bytes)
    content: Any = document.content
    quote: Any = source["quote"].encode() if in_bytes else source["quote"]
    start, end = source["bytes" if in_bytes else "characters"]
    if not 0 <= start < end or content[start:end] != quote:
        if quote and (place := content.find(quote)) >= 0:
            return f"{name} changed: the quote moved from {'byte' if in_bytes else 'character'} {start} to {place}"
        return f"{name} changed: it no longer holds the quote {source['quote']!r}"
    return next((f"{name} changed: {why}" for why in _misnamed(source, document, start)), None)


def _misnamed(source: Mapping[str, Any], document: Document, start: int) -> Iterator[str]:
    """Yield what the certificate says of the place of a quote and the document does not."""
    section, head = _words(source["section"]), source["table_head"]
    title = _words(_OLDER.sub("", source["title"])) - _words(source["file"] or "")  # A path tells equal titles apart.
    if not any(title <= name for name in (set[str](), *document.titles)):
        yield f"its title is not {source['title']!r}"
    if section and not any(section <= _words(heading) for heading in document.sections(start)):
        yield f"the quote is not in a section {source['section']!r}"
    if head and not _is_head(head, document.content, start):
        yield "the head of the table differs"


def _is_head(head: str, content: Any, start: int) -> bool:
    """Return whether rows of a table stand above a quote; in a file of Markdown the rows between them as well."""
    in_bytes = isinstance(content, bytes)
    place = content.rfind(head.encode() if in_bytes else head, 0, start)
    rows = content[place:start].decode("utf-8", "replace").split("\n")[:-1] if in_bytes else head.split("\n")
    return place >= 0 and all("|" in row for row in rows)


def _differences(sentence: str, quote: str, heading: str) -> list[str]:
    """Return what a sentence says and the quote under its heading does not."""
    held = f"{heading}\n{quote}"
    if len(sentence) + len(held) > MOST_LETTERS or len(quote) > LONGER * len(sentence) + ANYWAY:
        return ["the quote is much longer than the sentence, or both are too long to be compared"]
    found = []
    if numbers := _numbers(sentence) - _numbers(quote):  # Those of the title are not the quote's.
        found.append(f"it does not give the number {', '.join(sorted(numbers))}, or not as often")
    if names := Counter(map(_stem, _names(sentence))) - Counter(map(_stem, _parts(held))):
        lacking = [name for name in _names(sentence) if _stem(name) in names]
        found.append(f"it does not name {', '.join(lacking)}, or not as often")
    stems = _stems(held)
    negated, there = _negated(sentence), _negated(quote)
    if differing := [stem for stem in stems & _stems(sentence) | negated.keys() if negated[stem] != there[stem]]:
        found.append(f"only one of the two negates {', '.join(sorted(differing))}")
    others = {_stem(word) for word in _words(sentence) - _SMALL - _NOT}
    if others and len(others & stems) < LEAST_SHARE * len(others):
        found.append(f"its words differ: {', '.join(sorted(others - stems)[:5])}")
    return found


def _plain(text: str) -> str:
    """Return the text in one case and form, without Markdown's marks and quotation marks."""
    return " ".join(_MARKS.sub(" ", unicodedata.normalize("NFKC", text).casefold()).split())


def _letters(text: str) -> str:
    return _plain(text).replace(" ", "")


def _numbers(text: str) -> Counter[str]:
    """Return how often each number stands there, with its currency or per cent."""
    found = _NUMBER.findall(unicodedata.normalize("NFKC", text))
    return Counter(re.sub(r"\s", "", number).replace(",", "") for number in found)


def _names(text: str) -> list[str]:
    """Return the words with a capital letter, but small words at the beginning."""
    return [word for word in _WORD.findall(text) if word != word.lower() and word.lower() not in _SMALL | _NOT]


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(unicodedata.normalize("NFKC", text))}


def _negated(text: str) -> Counter[str]:
    """Return how often the word behind a negation, the next one that is not small, is negated, by its stem."""
    negated, behind = Counter[str](), ""
    for word in map(str.casefold, reversed(_WORD.findall(text))):
        if word in _NOT:
            negated[behind] += 1
        elif word not in _SMALL:
            behind = _stem(word)
    return negated


def _stems(text: str) -> set[str]:
    return set(map(_stem, _parts(text)))


def _parts(text: str) -> list[str]:
    """Return the words, and those that a hyphen joins on their own as well."""
    return [part for word in _WORD.findall(text) for part in {word, *word.split("-")}]


def _stem(word: str) -> str:
    """Return the first letters of a word; a short name, such as SG, counts as a whole."""
    return word.casefold()[:STEM]
