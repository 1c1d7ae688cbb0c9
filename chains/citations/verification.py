"""Find the passage that supports a sentence best; tell which sentence answers, and whether the answer is a decline.

In a decline, within the first 150 characters a phrase says that the documents lack it, or that the one who answers has
no information, and nothing else is supported. So "The documents do not name a fee [1]." is a decline, and "The
documents name no fee for Johor. The fee for Batam is S$50 [1]." is an answer. A sentence that the cited passage itself
supports ("Our quotes do not include duty [1].") is an answer as well.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, product
from typing import Final, NamedTuple

from chains.citations.cited_sentences import VERB, Sentence, without
from chains.citations.comparison import Comparison
from chains.citations.evidence import CONTENT, NOTHING_ASKED, YES_OR_NO, Asked, evidence_of
from chains.citations.markers import inside
from chains.citations.support import LEAST_SUPPORT, NONE, Support, support_of
from chains.documents.versions import editions_in, series_of, version_order
from chains.ports import WordSimilarity
from chains.state import Citation, Passage
from chains.text.negation import negates
from chains.text.quantities import quantities
from chains.text.tokens import Token, tokens
from chains.text.words import plain_words

OPENING_CHARACTERS = 150
SUPPORTED = 0.7  # From this support on, the passage itself says what the sentence says.

_DOCUMENTS = r"(?:documents?|sources?|contexts?|passages?|excerpts?|materials?|knowledge base|corpus|information)"
_VERBS = r"(?:contain|include|mention|provide|specify|state|cover|address|have|hold|say|name)"
_FIND = r"(?:answer|find|locate|determine)"
_NOT = r"(?:(?:do|does|did)(?: not|n't))"
_CANNOT = r"(?:cannot|can not|can't|could not|couldn't|(?:am |are |is |was )?unable to)"
_NEWS = r"(?:information|details|data|answers?)"
_PHRASES = re.compile(
    rf"\b{_DOCUMENTS}\b[^.!?\n]{{0,60}}?\b(?:{_NOT} (?:\w+ ){{0,2}}?{_VERBS}|{_CANNOT} (?:\w+ )?{_FIND}"
    rf"|not enough {_NEWS}|no (?:\w+ ){{0,2}}?{_NEWS})\b"
    rf"|\b(?:i|we) {_NOT} (?:currently )?have (?:\w+ ){{0,3}}?{_NEWS}\b"
    rf"|\b(?:i|we) {_CANNOT} (?:\w+ )?{_FIND}\b|\b(?:i|we) found no (?:\w+ ){{0,2}}?{_NEWS}\b"
    rf"|\bnot (?:\w+ )?(?:mentioned|covered|contained|included|addressed|specified|available|found) in "
    rf"(?:\w+ ){{0,3}}?{_DOCUMENTS}\b"
    rf"|^\W*(?:there is |i have |we have )?(?:no|not enough) (?:\w+ ){{0,2}}?{_NEWS}\b",
    re.IGNORECASE,
)
_ASKED_FOR = re.compile(r"\W*I don['’]t have specific information about that in the (?:\w+ )?documents", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|\n")


def opens_with_decline(answer: str, sentence: str = "") -> bool:
    """Return whether the answer opens with the packaged prompt's sentence or this one, whatever stands behind it."""
    return bool(sentence and answer.startswith(sentence)) or _ASKED_FOR.match(answer) is not None


def says_nothing_found(sentence: str) -> bool:
    """Return whether a sentence says that the documents do not hold something."""
    return _PHRASES.search(sentence.replace("’", "'")) is not None


def _end_of_decline(answer: str) -> int | None:
    phrase = _PHRASES.search(answer[:OPENING_CHARACTERS].replace("’", "'"))
    last = _SENTENCE_END.search(answer, phrase.end()) if phrase else None
    return last.end() if last else len(answer) if phrase else None


def first_decline(answer: str) -> str:
    end = _end_of_decline(answer)
    return answer if end is None else answer[:end].rstrip()


def is_decline(answer: str, citations: Sequence[Citation], sentence: str = "") -> bool:
    """Return whether the answer opens with a decline or this sentence, and supports nothing else."""
    if opens_with_decline(answer, sentence):
        return True
    if (end := _end_of_decline(answer)) is None:
        return False
    places = [(citation["start"], citation["end"]) for citation in citations if not citation["attributed"]]
    return not any(
        citation["support"] >= SUPPORTED
        or (citation["start"] >= end and without(answer, end, citation["start"], places).strip(" .;,"))
        for citation in citations
        if citation["matched"]
    )


FEWEST_WORDS: Final = 4  # A shorter statement is supported where the passage has a word of the question.
ECHO: Final = 0.5  # What support is worth of a sentence that only repeats the question.
FOREIGN: Final = 0.5  # ... that names what the question names and the passage does not, or gives it a figure.
COMPARED_AGAIN: Final = 2
NEARER: Final = 0.1  # By how much another passage has to fit better.


def verify(
    sentences: Sequence[str],
    passages: Sequence[Passage],
    similarity: WordSimilarity | None,
    asked: Asked = NOTHING_ASKED,
) -> Support:
    """Return how the passage that supports one of the sentences best does; the first passage where none does.

    All pairs are compared by shared stems, and the best few again with word vectors, which cost more.
    """
    pairs = list(product(passages, sentences))
    scored = [_support(sentence, passage, None, asked) for passage, sentence in pairs]
    if similarity is not None:
        best_first = sorted(range(len(pairs)), key=lambda place: -scored[place].score)
        pairs = [pairs[place] for place in best_first[:COMPARED_AGAIN]]
        scored = [_support(sentence, passage, similarity, asked) for passage, sentence in pairs]
    best = replace(NONE, passage=passages[0] if passages else None)
    for found, (passage, sentence) in zip(scored, pairs, strict=True):
        others = [one for one, pair in zip(scored, pairs, strict=True) if pair[1] == sentence and one is not found]
        # Another passage speaks of it more, and says it of something else.
        score = found.score * (FOREIGN if any(one.elsewhere >= found.score + NEARER for one in others) else 1)
        if score > best.score or (found.contradicted and not best.score):
            best = replace(found, passage=passage, score=score)
    return best


_DECLINED_PART: Final = re.compile(r"[,;]\s+(?:and|but|though|although|while|however)\b|;\s|\s[–—]\s")


def _support(sentence: str, passage: Passage, similarity: WordSimilarity | None, asked: Asked) -> Support:
    """Return how well a passage supports a sentence that answers a question, without what it says is in no document."""
    for cut in _DECLINED_PART.finditer(sentence):
        if says_nothing_found(sentence[cut.end() :]) and not says_nothing_found(sentence[: cut.start()]):
            sentence = sentence[: cut.start()]
            break
    evidence = evidence_of(passage)
    added = {word.text.lower() for word in tokens(sentence) if word.weight >= CONTENT and word.key not in asked.keys}
    is_echo = bool(asked.words) and added <= YES_OR_NO
    compared = Comparison(sentence, evidence, similarity, asked)
    best = support_of(compared)
    if is_echo and best.score < 1:
        return replace(best, score=ECHO * best.score)
    words, held = compared.content, evidence.occurrences.keys() | evidence.heading
    short = [word.key for word in words if word.text.isupper() and len(word.text) == len("SG")]
    for name in {other.key for one in evidence.statements for other in one.tokens if short and other.kind == "name"}:
        held |= {key for key in short if name[0] == key[0] and key[1] in name[1:]}  # "SG" is short for Singapore.
    quotes_all = best.score >= 1 and any(one.words.strip(" .") == best.quote.strip(" .") for one in evidence.statements)
    is_short = bool(asked.words) and len(words) < FEWEST_WORDS and not quotes_all
    # The passage may speak of another country or carrier than the question, and the statement hide it.
    theirs, ours = asked.rivals.get(str(passage["metadata"].get("title")), (None, None))
    if (
        any(word.key in asked.names and word.key not in held for word in words)
        or (theirs is not None and ours not in held and all(word.key != theirs for word in words))
        or compared.gives_a_figure_to_another_subject()
        or (is_short and held.isdisjoint(asked.keys))
    ):
        return replace(best, score=FOREIGN * best.score)
    return best


_NO_CLAIM: Final = re.compile(r"\W*(?:thank|thanks|sure|certainly|i|i'm|let me|happy to|great|here)\b", re.IGNORECASE)


def leading(sentences: Iterable[Sentence], asked: Asked) -> Sentence | None:
    """Return the sentence that answers: the first claim that holds a word of the question, if there is any.

    A few words that only repeat the question ("Your ref 4711.") answer nothing, but where they deny it.
    """
    for sentence in sentences:
        is_addressed = _NO_CLAIM.match(sentence.words) or says_nothing_found(sentence.words)
        words = [word for word in tokens(sentence.words) if word.weight > 0]
        known = [word.key in asked.keys for word in words]
        is_echo = len(words) < FEWEST_WORDS and all(known) and not negates(sentence.words)
        if sentence.is_claim and not is_addressed and not is_echo and any(known):
            return sentence
    return None


FEWEST_LOOPING: Final = 40  # Words of an answer.
LOOPING: Final = 0.6  # The share of an answer's runs of four words that are new, below which it turns in circles.


def turns_in_circles(answer: str) -> bool:
    """Return whether a model got stuck and repeats itself: such an answer says nothing. Tables may repeat words."""
    words = plain_words("\n".join(line for line in answer.splitlines() if not line.lstrip().startswith("|")))
    runs = list(zip(words, words[1:], words[2:], words[3:], strict=False))
    return len(words) >= FEWEST_LOOPING and len({*runs}) < LOOPING * len(runs)


def attribute(
    sentences: Sequence[Sentence], shown: Sequence[Passage], asked: Asked = NOTHING_ASKED
) -> Iterator[tuple[Sentence, Support]]:
    """Yield the sentences that a shown passage supports well by its own words, each with that passage.

    A number alone, such as a table's cell, is read as an answer only where it is the whole answer: any passage with a
    date or a list holds a 1.
    """
    held = [evidence_of(passage).occurrences for passage in shown]
    for sentence in sentences:
        words = [word for word in tokens(sentence.words) if word.weight > 0 and word.key not in asked.repeatable]
        if len(sentences) > 1 and all(word.kind == "number" for word in words):
            continue
        total = sum([word.weight for word in words])
        shares = [sum([word.weight for word in words if word.key in keys]) for keys in held]
        likely = [rank for rank in range(len(shown)) if total and shares[rank] >= LEAST_SUPPORT * total]
        nearest = sorted(likely, key=lambda rank: -shares[rank])[:COMPARED_AGAIN]
        verified = verify([sentence.words], [shown[rank] for rank in nearest], None, asked)
        if verified.supported:
            yield sentence, verified


MOST_REWORDED: Final = 1 / 3  # The share of the words of a part that no source may hold.
_FIGURE: Final = r"(?=\s+(?:\S*\d|(?:one|two|three|four|five|six|seven|eight|nine|ten)\b))"
_PART: Final = re.compile(
    r"[,;:–—]\s(?:(?:and|or|but|while|whereas)\b)?|\b(?:and|or|but|while|whereas|instead of|rather than|compared)\b"
    rf"|\b(?:from|(?<!up )to){_FIGURE}|\bthan\b(?!\s+\W?\d)",
    re.IGNORECASE,
)
"""Where a part of a sentence may begin that another source holds: "from 42 | to 55", "Dunmore | and Kestrel"."""
_MORE: Final = re.compile(
    r"\b(?:rose|rises?|risen|raise[sd]?|increase[sd]?|gr[eo]wn?|up|higher|more|longer|greater|later|dearer)\b"
)
_LESS: Final = re.compile(
    r"\b(?:fell|falls?|fallen|drop(?:s|ped)?|decrease[sd]?|reduced?|cut|lower(?:ed|s)?|down|less|fewer|shorter|earlier"
    r"|cheaper)\b"
)
_CHANGE: Final = re.compile(rf"{_MORE.pattern}|{_LESS.pattern}|\bchanged\b")
_FORMERLY: Final = re.compile(
    r"\b(?:from|was|were|used to|formerly|previously|before|old|instead of|rather than|compared|than)\b", re.IGNORECASE
)
_MINUEND: Final = re.compile(r"(?:from|than|compared|instead of|rather than)\b", re.IGNORECASE)


class _Part(NamedTuple):
    """A part of a sentence, its words, and the places of the sources that hold all of it that any source holds.

    `subject` are its words before its verb; all where it has none.
    """

    text: str
    words: list[Token]
    subject: list[Token]
    has_verb: bool
    holders: frozenset[int]

    @property
    def numbers(self) -> list[Token]:
        return [word for word in self.words if word.kind == "number"]


def support_together(
    sentence: str, passages: Sequence[Passage], similarity: WordSimilarity | None, asked: Asked
) -> dict[int, Support]:
    """Return how each passage supports its part of a sentence, by its place; nothing where they do not support it all.

    Each number and name has to stand in a passage that holds what is said of it; a part without a subject or a verb
    of its own takes those of the part before. What rises has to rise, and what was has to stand in the older version.
    A passage that adds nothing is left out.
    """
    titles = [str(passage["metadata"].get("title") or "") for passage in passages]
    held = [_held(passage, titles) for passage in passages]
    bounds = sorted({0, len(sentence), *(cut.start() for cut in _PART.finditer(sentence))})
    parts = [part for start, end in pairwise(bounds) if (part := _part(sentence[start:end], held)).words]
    is_made_up = not parts or any(_is_made_up(part, held) for part in parts)
    if is_made_up or not _grows_as_said(sentence, parts) or not _follows_versions(parts, titles):
        return {}
    found: dict[int, Support] = {}
    for place, passage in enumerate(passages):
        if any(part.holders == {place} for part in parts):
            words = _words_of(place, parts, held)
            for edition in editions_in(titles[place]):
                words = words.replace(edition, " ")
            support = verify([words], [passage], similarity, asked) if words else None
            if support is None or not support.supported:
                return {}
            found[place] = support
    return found if all(part.holders & found.keys() for part in parts) else {}


def _held(passage: Passage, titles: Sequence[str]) -> frozenset[str]:
    """Return the words that a passage and its heading hold, without the editions of the others' titles."""
    evidence, title = evidence_of(passage), str(passage["metadata"].get("title") or "")
    editions = {word.key for one in titles for word in tokens(" ".join(editions_in(one)))}
    return evidence.heading.union(evidence.occurrences) - (editions - {word.key for word in tokens(title)})


def _part(text: str, held: Sequence[frozenset[str]]) -> _Part:
    spans, verb = [change.span() for change in _CHANGE.finditer(text)], VERB.search(text)
    words = [
        word
        for word in tokens(text)
        if (word.weight >= CONTENT or word.kind == "name") and not inside(word.start, spans)
    ]
    known = {word.key for word in words} & frozenset().union(*held)
    subject = [word for word in words if not verb or word.end <= verb.start()]
    holders = frozenset(place for place, some in enumerate(held) if known <= some)
    return _Part(text, words, subject, verb is not None, holders)


def _is_made_up(part: _Part, held: Sequence[frozenset[str]]) -> bool:
    """Return whether no source holds all that any does, or none holds a number, a name or many words of a part."""
    lacking = [word for word in part.words if all(word.key not in some for some in held)]
    is_exact = any(word.kind == "name" or word.text[0].isdecimal() for word in lacking)
    return not part.holders or is_exact or len(lacking) > MOST_REWORDED * len(part.words)


def _words_of(place: int, parts: Sequence[_Part], held: Sequence[frozenset[str]]) -> str:
    """Return what a sentence says of one source: its parts, and of the others what these take over from them.

    Nothing is returned where a part takes over what the source does not hold.
    """
    said, head = list[str](), parts[0]
    for part in parts:
        has_subject = part.has_verb and bool(part.subject)
        if part is not head and place in part.holders and place not in head.holders and not has_subject:
            taken = head.subject if part.has_verb else head.words
            lacking = [word for word in taken if word.kind != "number" and word.key not in held[place]]
            new = [word for word in part.words if word.kind != "number" and any(word.key not in some for some in held)]
            if len(lacking) > (0 if part.has_verb else len(new)) or not (part.has_verb or part.numbers):
                return ""
            said += [word.text for word in taken if word.key in held[place]]
        if place in part.holders:
            said.append(_CHANGE.sub(" ", part.text).strip(" ,;:–—"))
        head = part if has_subject else head
    return " ".join(" ".join(said).split())


def _grows_as_said(sentence: str, parts: Sequence[_Part]) -> bool:
    """Return whether what is said to rise or to be more does: from 42 to 55, 24 in Kestrel than 18 in Dunmore."""
    is_more, is_less = bool(_MORE.search(sentence)), bool(_LESS.search(sentence))
    given = [(bool(_MINUEND.match(part.text)), one.low) for part in parts for one in quantities(part.text)[:1]]
    before, after = (next((figure for is_old, figure in given if is_old is was), None) for was in (True, False))
    if is_more == is_less or before is None or after is None:
        return True
    return after > before if is_more else after < before


def _follows_versions(parts: Sequence[_Part], titles: Sequence[str]) -> bool:
    """Return whether what was stands in an older version of the document that holds what is."""
    given = [part for part in parts if part.numbers and len(part.holders) == 1 and not editions_in(part.text)]
    older, newer = (
        [titles[next(iter(part.holders))] for part in given if bool(_FORMERLY.search(part.text)) == is_old]
        for is_old in (True, False)
    )
    return not any(
        series_of(old) == series_of(new) != "" and version_order(old) > version_order(new)
        for old, new in product(older, newer)
    )
