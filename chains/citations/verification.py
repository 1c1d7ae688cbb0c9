"""Find the passage that supports a sentence best, how well, and by which words."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

from chains.citations.cited_sentences import Sentence
from chains.citations.decline import says_nothing_found
from chains.citations.evidence import CONTENT, NOTHING_ASKED, Asked, Evidence, asked, evidence_of
from chains.citations.support import Support, ceiling, match, support
from chains.ports import WordSimilarity
from chains.state import Passage
from chains.text.quantities import UNITS, quantities
from chains.text.tokens import Token, tokens
from chains.text.words import one_error_away

# `python -m benchmarks.models.labelled` says what this keeps of answers that language models wrote to our questions.
LEAST_SUPPORT: Final = 0.6
"""From this support on, a passage says what a sentence says."""

FEWEST_WORDS: Final = 4  # A shorter statement is read with the question.
NEAR_THE_QUESTION: Final = 0.35  # The support that question and short statement need together.
ECHO: Final = 0.5  # What support is worth of a sentence that only repeats the question.
FOREIGN: Final = 0.5  # ... that names what the question names and the passage does not, or gives it a figure.
FEWEST_FOREIGN: Final = 2  # Words of the question that a statement with a figure repeats and only other passages have.
NEAR: Final = 0.6  # The cosine from which another word stands for a word of the question.
COMPARED_AGAIN: Final = 2


@dataclass(frozen=True, slots=True)
class Verified:
    """The passage that supports a sentence, the words that do, and how well (0-1)."""

    passage: Passage | None
    quote: str = ""
    support: float = 0.0
    contradicted: bool = False

    @property
    def supported(self) -> bool:
        """Return whether the passage says what the sentence says."""
        return self.support >= LEAST_SUPPORT and not self.contradicted


def asked_about(question: str, shown: Sequence[Passage], parts: tuple[str, ...] = ()) -> Asked:
    """Return the words of a question and of its parts, and what the shown passages know of them."""
    titles = {str(passage["metadata"].get("title") or "") for passage in shown}
    read = asked(question, tuple(sorted(titles)), parts)
    held = {word.key for word in read.words for passage in shown if word.key in evidence_of(passage).occurrences}
    return replace(read, shown=frozenset(held))


def verify(
    sentences: Sequence[str],
    passages: Sequence[Passage],
    similarity: WordSimilarity | None,
    asked: Asked = NOTHING_ASKED,
) -> Verified:
    """Return the passage that supports one of the sentences best; the first passage where none does.

    All pairs are compared by shared stems, and the best few again with word vectors, which cost more.
    """
    pairs = list(product(passages, sentences))
    scored = [(_support(sentence, passage, None, asked), passage, sentence) for passage, sentence in pairs]
    if similarity is not None:
        scored.sort(key=lambda entry: -entry[0].score)
        scored = [
            (_support(sentence, passage, similarity, asked), passage, sentence)
            for _, passage, sentence in scored[:COMPARED_AGAIN]
        ]
    best = Verified(passages[0] if passages else None)
    for found, passage, _ in scored:
        if found.score > best.support or (found.contradicted and not best.support):
            best = Verified(passage, found.quote, found.score, found.contradicted)
    return best


def _support(sentence: str, passage: Passage, similarity: WordSimilarity | None, asked: Asked) -> Support:
    """Return how well a passage supports a sentence that answers a question."""
    sentence, evidence = said_of_the_documents(sentence), evidence_of(passage)
    echo = asked.is_echoed_by(sentence)
    found = support(sentence, evidence, similarity=similarity, asked=NOTHING_ASKED if echo else asked)
    words = [word for word in tokens(sentence) if word.weight > 0]
    if echo and found.score < 1:
        return replace(found, score=ECHO * found.score)
    held = evidence.occurrences.keys() | evidence.heading
    if (
        any(word.key in asked.names and word.key not in held and not _abbreviates(word, evidence) for word in words)
        or _is_of_a_rival(words, held, passage, asked)
        or _gives_a_figure_to_another_subject(words, evidence, similarity, asked)
    ):
        return replace(found, score=FOREIGN * found.score)
    if asked.words and len(words) < FEWEST_WORDS:
        if not any(word.key in held for word in asked.words):
            return replace(found, score=FOREIGN * found.score)
        questions = asked.parts or (asked.text,)
        together = max(support(f"{one} {sentence}", evidence, similarity=similarity).score for one in questions)
        return replace(found, score=min(found.score, together / NEAR_THE_QUESTION))
    return found


_DECLINED_PART: Final = re.compile(r"[,;]\s+(?:and|but|though|although|while|however)\b|;\s|\s[–—]\s")
_NO_CLAIM: Final = re.compile(r"\W*(?:thank|thanks|sure|certainly|i|i'm|let me|happy to|great|here)\b", re.IGNORECASE)


def said_of_the_documents(sentence: str) -> str:
    """Return a sentence without its last parts that say what the documents do not hold."""
    for cut in _DECLINED_PART.finditer(sentence):
        if says_nothing_found(sentence[cut.end() :]) and not says_nothing_found(sentence[: cut.start()]):
            return sentence[: cut.start()]
    return sentence


def leading(sentences: Iterable[Sentence], asked: Asked) -> Sentence | None:
    """Return the sentence that answers: the first claim that holds a word of the question, if there is any.

    A few words that only repeat the question ("Your ref 4711.") answer nothing.
    """
    known = {word.key for word in asked.words}
    for sentence in sentences:
        is_addressed = _NO_CLAIM.match(sentence.words) or says_nothing_found(sentence.words)
        words = [word for word in tokens(sentence.words) if word.weight > 0 or word.text.lower() in {"yes", "no"}]
        is_echo = len(words) < FEWEST_WORDS and all(word.key in known for word in words)
        if sentence.is_claim and not is_addressed and not is_echo and any(word.key in known for word in words):
            return sentence
    return None


_ASKS_FOR: Final = re.compile(
    r"\bhow (?:(?P<time>long|soon|quickly|far ahead|many (?:\w+ )?(?:minutes|hours|days|weeks|months|years))"
    r"|many (?P<counted>\w+(?: \w+)?))\b|\b(?P<share>per ?cent(?:age)?)\b"
    r"|\b(?P<money>(?:price|cost|fee|(?:sur)?charge|premium|fine)s?)\b"
    r"|\b(?P<phone>(?:tele)?phone number|fax number|hotline)\b|\b(?P<mail>e-?mail address)\b",
    re.IGNORECASE,
)
_PHONE: Final = re.compile(r"\d(?:[\s()/.-]{0,2}\d){5,}")
_TIMES: Final = frozenset({"duration", "working duration", "months", "date", "day of the year", "length"})
_SHARES: Final = frozenset({"%"})
_UNITS: Final = frozenset({measure for measure, _ in UNITS.values()}) | _TIMES | _SHARES


def gives_what_is_asked(sentence: str, question: str) -> bool:
    """Return False if a sentence gives figures of another kind: TEU for ships, an address for a telephone number."""
    asks = _ASKS_FOR.search(question)
    if asks is None:
        return True
    if asks["phone"] or asks["mail"]:
        return bool(_PHONE.search(sentence) if asks["phone"] else "@" in sentence)
    known = {(one.measure, one.low, one.high) for one in quantities(question)}
    figures = [one for one in quantities(sentence) if not one.label and (one.measure, one.low, one.high) not in known]
    measures = {one.measure for one in figures}
    if asks["time"] or asks["share"]:
        return not measures or not measures.isdisjoint(_TIMES if asks["time"] else _SHARES)
    if asks["counted"] and any(not UNITS.keys().isdisjoint(one_error_away(noun)) for noun in asks["counted"].split()):
        return True  # A unit of time with a slip of the pen.
    if asks["money"]:
        return not measures or not measures <= _UNITS - _SHARES
    nouns = {word.key for word in tokens(asks["counted"])}
    return not measures or not all(one not in nouns and (one in _UNITS or one.isupper()) for one in measures)


def _abbreviates(word: Token, evidence: Evidence) -> bool:
    """Return whether two capital letters are short for a name of the passage: SG for Singapore."""
    if len(word.text) != len("SG") or not word.text.isupper():
        return False
    names = {other.key for statement in evidence.statements for other in statement.tokens if other.kind == "name"}
    return any(name[0] == word.key[0] and word.key[1] in name[1:] for name in names)


def _is_of_a_rival(words: Sequence[Token], held: Collection[str], passage: Passage, asked: Asked) -> bool:
    """Return whether the passage speaks of another country or carrier than the question, and the statement hides it."""
    theirs, ours = asked.rivals.get(str(passage["metadata"].get("title")), (None, None))
    return theirs is not None and ours not in held and all(word.key != theirs for word in words)


def _gives_a_figure_to_another_subject(
    words: Sequence[Token], evidence: Evidence, similarity: WordSimilarity | None, asked: Asked
) -> bool:
    """Return whether a statement gives a figure of the passage to a subject that only other passages speak of.

    "The HS code of a lithium battery is 330499" takes the code of cosmetics, while other passages speak of batteries.
    """
    known = {word.key for word in asked.words}
    if all(word.kind != "number" or word.key in known for word in words):
        return False
    repeated = [word for word in words if word.key in asked.repeatable and word.weight >= CONTENT]
    if len(repeated) < FEWEST_FOREIGN:
        return False
    held = match(repeated, evidence, similarity).max(axis=0, initial=0)  # A rule has no words.
    near = zip(repeated, held, strict=True)
    lacking = {word.key for word, cosine in near if cosine < NEAR and word.key not in evidence.heading}
    return len(lacking) >= FEWEST_FOREIGN and lacking <= asked.shown


def attribute(
    sentences: Sequence[Sentence], shown: Sequence[Passage], asked: Asked = NOTHING_ASKED
) -> Iterator[tuple[Sentence, Verified]]:
    """Yield the sentences that a shown passage supports well by its own words, each with that passage.

    A number alone, such as a table's cell, is read as an answer only where it is the whole answer: any passage with a
    date or a list holds a 1.
    """
    evidence = [evidence_of(passage) for passage in shown]
    for sentence in sentences:
        words = [word for word in tokens(sentence.words) if word.weight > 0 and word.key not in asked.repeatable]
        if len(sentences) > 1 and all(word.kind == "number" for word in words):
            continue
        ceilings = [ceiling(words, passage) for passage in evidence]
        likely = [rank for rank in range(len(shown)) if ceilings[rank] >= LEAST_SUPPORT]
        for rank in sorted(likely, key=lambda rank: -ceilings[rank])[:COMPARED_AGAIN]:
            verified = verify([sentence.words], [shown[rank]], None, asked)
            if verified.supported:
                yield sentence, verified
                break
