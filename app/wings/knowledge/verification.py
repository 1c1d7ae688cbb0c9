"""Check a certificate: does each sentence of an answer still stand on the words of its source?

It needs Python's standard library alone: no network, model, index, or other module of this program. A sentence is
proven by one of two rules, which compare it with the quote of its source:

- `quoted`: the quote holds the sentence word for word.
- `figures`: the quote gives every number of the sentence, negates the same words and, with the title, the section and
  the head of the table that it stands under, holds every name and at least four of five of the words.

A sentence that neither rule proves is `unproven`: it may be right, but somebody has to read the quote.
"""

import hashlib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

VERSION = 1
Rule = Literal["quoted", "figures"]
Reader = Callable[[Mapping[str, Any]], "bytes | str | None"]
"""Returns the document of a source: the file's bytes where the source has `bytes`, else its text; None if missing."""

LEAST_SHARE = 0.8  # Of the words that are neither numbers nor names.
MOST_BETWEEN = 3  # Words between two sentences, such as the label of a list.
STEM = 5  # Letters: "imports" and "imported" count as one word.
_BRACKETS = re.compile(r"\[[^\[\]]*\]")
_MARKS = re.compile(r"[*_`#>|\"'’‘“”]+")
_NUMBER = re.compile(r"(?:[A-Z]{0,3}[$€£¥])?\s?\d+(?:[.,:/-]\d+)*(?:\s?[%‰])?")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_NOT = frozenset(
    re.findall(
        r"\w+",
        "no not never none neither nor without cannot except unless nicht kein keine ohne nie tidak bukan tanpa ",
    )
)
_SMALL = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be been but by can could do does for from had has have he her his if in into is "
        "it its may more must of on or our shall she should so some such than that the their them then there "
        "these they this those to under up was we were what when where which while who will with would you "
        "your ",
    )
)


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
    """Return a verdict on each sentence; the first one is on the whole where that fails.

    Args:
        certificate: what `seal` returned.
        read: returns the documents as they are now; without it, quotes are believed.
    """
    try:
        verdicts = [_judge(certificate, sentence, read) for sentence in certificate["sentences"]]
        return [*_whole(certificate), *verdicts]
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
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
    said, held = _plain(sentence).strip(" ."), _plain(quote)
    if not said:
        return None
    before, found, _ = held.partition(said)
    if found and not _NOT & _words(before.rpartition(". ")[2]):  # "No goods are exempt" proves no exemption.
        return "quoted"
    return None if _differences(sentence, quote, heading) else "figures"


def _whole(certificate: Mapping[str, Any]) -> Iterator[Verdict]:
    """Yield what is wrong with the certificate as a whole."""
    if certificate["version"] != VERSION:
        yield Verdict("", failure=f"it has version {certificate['version']}; this program reads {VERSION}")
    if seal(certificate)["sha256"] != certificate["sha256"]:
        yield Verdict("", failure="it was changed: its hash does not fit its content")
    answer, at = certificate["answer"], 0
    for start, end in [*((one["start"], one["end"]) for one in certificate["sentences"]), (len(answer), len(answer))]:
        between = _BRACKETS.sub(" ", answer[at:start])
        if len(_words(between) - _SMALL) > MOST_BETWEEN or re.search(r"\d\s*[%‰]", between):
            yield Verdict(" ".join(between.split()), failure="no sentence of the certificate covers this")
        at = end


def _judge(certificate: Mapping[str, Any], sentence: Mapping[str, Any], read: Reader | None) -> Verdict:
    says = sentence["says"]
    shown = certificate["answer"][sentence["start"] : sentence["end"]]
    if _letters(shown) != _letters(says):
        return Verdict(says, failure=f"the answer says something else: {shown!r}")
    if not sentence["sources"]:
        return Verdict(says, note="no source is cited for it")
    found = [_by_source(says, source, read) for source in sentence["sources"]]
    failed = next((one for one in found if one.failure), None)
    proven = next((one for one in found if one.rule), None)
    return failed or proven or Verdict(says)


def _by_source(says: str, source: Mapping[str, Any], read: Reader | None) -> Verdict:
    """Return what one source says of a sentence."""
    if failure := _misplaced(source, read) if read else None:
        return Verdict(says, failure=failure)
    heading = heading_of(source)
    rule = proving_rule(says, source["quote"], heading)
    if source["rule"] and not rule:
        differences = _differences(says, source["quote"], heading)
        return Verdict(says, failure=f"the quote does not prove it: {'; '.join(differences)}")
    return Verdict(says, rule=rule if source["rule"] else None, note=_changed(source, read) if read else "")


def _changed(source: Mapping[str, Any], read: Reader) -> str:
    document = read(source)
    if not isinstance(document, bytes) or hashlib.sha256(document).hexdigest() == source["sha256"]:
        return ""
    return f"{source['file']} changed elsewhere"


def _misplaced(source: Mapping[str, Any], read: Reader) -> str | None:
    """Return why a quote is not where the certificate says; None where it is."""
    name = source["file"] or source["title"]
    document = read(source)
    if document is None:
        return f"{name} is not there"
    quote: Any = source["quote"].encode() if isinstance(document, bytes) else source["quote"]
    unit = "byte" if isinstance(document, bytes) else "character"
    start, end = source["bytes" if isinstance(document, bytes) else "characters"]
    if quote and document[start:end] == quote:
        head: Any = source["table_head"].encode() if isinstance(document, bytes) else source["table_head"]
        return None if head in document[:start] else f"{name} changed: the head of the table differs"
    if quote and (place := document.find(quote)) >= 0:
        return f"{name} changed: the quote moved from {unit} {start} to {place}"
    return f"{name} changed: it no longer holds the quote {source['quote']!r}"


def _differences(sentence: str, quote: str, heading: str) -> list[str]:
    """Return what a sentence says and the quote under its heading does not."""
    given, held = _BRACKETS.sub(" ", sentence), f"{heading}\n{quote}"
    found = []
    if numbers := _numbers(given) - _numbers(quote):  # Those of the title are not the quote's.
        found.append(f"it does not give the number {', '.join(sorted(numbers))}, or not as often")
    if names := Counter(map(_stem, _names(given))) - Counter(map(_stem, _parts(held))):
        lacking = [one for one in _names(given) if _stem(one) in names]
        found.append(f"it does not name {', '.join(lacking)}, or not as often")
    stems = _stems(held)
    negated, there = _negated(given), _negated(quote)
    if differing := [one for one in stems & _stems(given) | negated.keys() if negated[one] != there[one]]:
        found.append(f"only one of the two negates {', '.join(sorted(differing))}")
    others = {_stem(word) for word in _words(given) - _SMALL - _NOT}
    if others and len(others & stems) < LEAST_SHARE * len(others):
        found.append(f"its words differ: {', '.join(sorted(others - stems)[:5])}")
    return found


def _plain(text: str) -> str:
    """Return the text in one case and form, without Markdown's marks and quotation marks."""
    return " ".join(_MARKS.sub(" ", unicodedata.normalize("NFKC", text).casefold()).split())


def _letters(text: str) -> str:
    """Return the plain text without brackets and blanks."""
    return _plain(_BRACKETS.sub(" ", text)).replace(" ", "")


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
    words = [word.casefold() for word in _WORD.findall(text)]
    behind = ([_stem(one) for one in words[place:] if one not in _SMALL | _NOT] for place in range(len(words)))
    return Counter(next(iter(rest), "") for word, rest in zip(words, behind, strict=True) if word in _NOT)


def _stems(text: str) -> set[str]:
    return set(map(_stem, _parts(text)))


def _parts(text: str) -> list[str]:
    """Return the words, and those that a hyphen joins on their own as well."""
    return [part for word in _WORD.findall(text) for part in {word, *word.split("-")}]


def _stem(word: str) -> str:
    """Return the first letters of a word; a short name, such as SG, counts as a whole."""
    return word.casefold()[:STEM]
