"""Make a follow-up a question that stands alone, by a rule and without a language model.

The rule reads the form of the question only (see `leaning`), and knows no subject. Whether a short question is a new
one or goes on with the one before it, a search decides (`stands_alone`).
"""

import re
from collections.abc import Callable, Container, Sequence
from itertools import dropwhile, islice, pairwise, product, takewhile
from typing import Final, Literal

from chains.history import Turn
from chains.ports import WordSimilarity
from chains.reformulation.terms import PREPOSITIONS, WORDS, Term, is_small_talk, terms, without_small_talk
from chains.state import Passage
from chains.text.quantities import UNITS
from chains.text.tokens import CALENDAR, MONTH_KEYS, ORDINALS
from chains.text.words import one_error_away, plain_words, stem, word_set

PRONOUNS, POINTING, ADDING, MEASURES, CONTACTS, ASKING, WHICH, _WISHES = (
    word_set(WORDS[name])
    for name in ("pronouns", "pointing", "adding", "measures", "contacts", "asking", "which", "wishes")
)
ABOUT, OPENING, DEFINING, CORRECTION, DENIED, RETURN, _LIMITING, _THERE = (
    re.compile(WORDS[name], re.IGNORECASE)
    for name in ("about", "opening", "defining", "correction", "denied", "return", "limiting", "there")
)
Find = Callable[[str], Sequence[Passage]]  # Returns the passages for a query, best first.

MARGIN: Final = 0.15  # A whole question is new where the passage of the other reading is so much further from it.
HEADINGS: Final = ("title", "section", "section_path", "jurisdiction")  # What stands above a passage, in its metadata.
LONG: Final = 4  # Shorter words begin too many others, and are one letter away from too many.


def stands_alone(question: str, leaned: str, find: Find, *, whole: bool) -> bool:
    """Return whether the documents answer the question alone, and not what it becomes in the conversation (`leaned`).

    A `whole` question has a verb or an interrogative of its own.
    """
    own, alone = _words(question), find(question)
    if not own or not alone:
        return False
    missing, together = min(_missing(own, one) for one in alone[:2]), next(iter(find(leaned)), None)
    if together is None or 2 * missing > len(own):
        return together is None
    carried = _words(leaned) - own
    lost, lacked = (_missing(own, together) - missing) / len(own), _missing(carried, together)
    if lost > 0:  # More of its own words than it gains of the others.
        return not whole or lost * len(carried) >= _missing(carried, alone[0]) - lacked
    lacks_rest = bool(carried) and 2 * lacked >= len(carried)
    if not whole:
        return not lost and lacks_rest
    is_same = alone[0]["content"] == together["content"]  # The words taken over find nothing nearer.
    farther = next((one["score"] or 0.0 for one in alone if one["content"] == together["content"]), 0.0)
    is_further = len(own) > 1 and (alone[0]["score"] or 0.0) - farther >= MARGIN
    return not missing and (is_further or is_same or (len(own) > 1 and lacks_rest))


def _words(text: str) -> set[str]:
    named = {term.text.lower() for term in terms(text) if not term.light} - MEASURES
    # Of "claims email" a passage holds the address, and "claims" says whose; the E of "form E" says nothing alone.
    is_little = named and (named <= CONTACTS or max(map(len, named)) == 1)
    return {term.text.lower() for term in terms(text)} - MEASURES - CONTACTS if is_little else named


def _missing(words: set[str], passage: Passage) -> int:
    """Return how many of the words the passage and the headings above it lack."""
    held = plain_words(" ".join([*(str(passage["metadata"].get(name, "")) for name in HEADINGS), passage["content"]]))
    known = {*held, *map(stem, held), *("".join(pair) for pair in pairwise(held))}
    return sum(not _is_held("".join(plain_words(word)), known) for word in words)


def _is_held(word: str, known: set[str]) -> bool:
    if word in known or stem(word) in known:
        return True
    return len(word) >= LONG and (any(one.startswith(word) for one in known) or bool(one_error_away(word) & known))


Leaning = Literal["fragment", "whole"]
"""A fragment renames or adds a part of the question before; a whole question lacks its subject only."""

MOST_TERMS = 4  # A question with more says itself what it is about.
FRAGMENT_TERMS = 2  # So few without a verb or question word are a part of a question.
PRONOUN_TERMS = 3  # With more, a pronoun stands for somebody or something that the question need not name.

_WORD: Final = re.compile(r"[^\W_]+")


def leaning(question: str) -> Leaning | None:
    """Return how a question leans on those before it; None where it stands alone."""
    named = [term for term in terms(question) if not term.light]
    if len(named) > MOST_TERMS:
        return None
    if CORRECTION.match(question):
        return "fragment"
    said = {*plain_words(ABOUT.sub("", question, count=1))} - {term.key for term in named}
    asks = not ASKING.isdisjoint(said)
    if {_kind(term) for term in named} == {"figure"} and ("if" in said or not first_pronoun(question)):
        asks = not WHICH.isdisjoint(said)  # "Might be 65 of us" puts a figure right.
    if not asks and (OPENING.match(question) or len(named) <= FRAGMENT_TERMS):
        return "fragment"
    return "whole" if _has_gap(question, named) else None


def lacks_subject(question: str) -> bool:
    """Return whether a question with nothing before it names no subject at all: "How much is it?"."""
    found = [term for term in terms(question) if term.text.lower() not in MEASURES]
    if first_pronoun(question):
        found = [term for term in found if not term.light]
    return bool(plain_words(question)) and all(term.text.lower() in _WISHES for term in found)


def _has_gap(question: str, named: Sequence[Term]) -> bool:
    """Return whether a whole question does not say what it is about."""
    if pronoun := first_pronoun(question):  # It may stand for something that the question itself names before it.
        before = [term for term in named if term.start < pronoun.start() and _kind(term) != "figure"]
        clause = max(question.rfind(mark, 0, pronoun.start()) for mark in (",", ":", " - ", " and ", ". "))
        needed = 2 * len(PRONOUNS.intersection(plain_words(question)))  # After two terms, it stands for one of them.
        is_bound = len(before) >= needed or any(term.start < clause for term in before)
        return len(named) <= PRONOUN_TERMS and not is_bound
    if any(term.shape != "word" and _kind(term) != "figure" for term in named):
        return False
    if OPENING.match(question):
        return len(named) <= PRONOUN_TERMS
    # "What is the price?" speaks of something known; "What is demurrage?" does not, and "How can I apply?" may.
    if len(named) <= FRAGMENT_TERMS and "the" in plain_words(question):
        return True
    things = [kind for kind in map(_kind, named) if kind in {"", "measure"}]
    return (len(things) <= 1 or "" not in things) and not DEFINING.match(question)


def _kind(term: Term) -> str:
    """Return of what a question has one, which a new one replaces: a figure, a day, a month, a measure."""
    if term.shape == "number" and term.text.lower() not in ORDINALS:
        return "figure"
    if term.text.lower() in MEASURES:
        return "measure"
    return "month" if term.key in MONTH_KEYS else "day" if term.key in CALENDAR else ""


def first_pronoun(question: str) -> re.Match[str] | None:
    """Return the first word of a question that stands for something said before."""
    # In capitals it is a name.
    words = (word for word in _WORD.finditer(question) if len(word.group()) == 1 or not word.group().isupper())
    return next((word for word in words if word.group().lower() in PRONOUNS), None)


MOST_TURNS = 16  # Older turns say nothing of today's question.
MOST_CHARACTERS = 400  # Of a question before; what it says comes early.
MOST_RENAMED = 3  # A fragment with more new terms is a question of its own.
# So many questions before may have given the names, and so many names are taken over.
NAMING_QUESTIONS, MOST_NAMES = 3, 2
ALIKE = 0.3  # Below this cosine of the word table, two words name different kinds of things.
PREPOSITION = 0.15  # What agreement of prepositions counts beside a cosine: "to Busan" - "to Rotterdam".


def standalone(
    question: str, turns: Sequence[Turn], similarity: WordSimilarity | None = None, find: Find | None = None
) -> str:
    """Return the question with what it takes from the turns before, oldest first; unchanged where it takes nothing.

    `similarity` tells what a new name takes the place of. Without `find` the form alone decides.
    """
    before: list[str] = []
    for turn in turns[-MOST_TURNS:]:
        if turn.role == "user" and not is_small_talk(turn.text):
            before.append(_resolved(turn.text[:MOST_CHARACTERS], before, similarity, find))
    return _resolved(question, before, similarity, find)


def _resolved(question: str, before: Sequence[str], similarity: WordSimilarity | None, find: Find | None) -> str:
    if is_small_talk(question):
        return question
    asked = without_small_talk(question)
    if not before:
        return asked
    how, search = leaning(asked), None if has_gap(asked) else find
    # An older question goes on that is named again; "cabins too" goes on with the last one.
    words = plain_words(asked)
    is_last = first_pronoun(asked) or ADDING.intersection(words) or PREPOSITIONS.intersection(words[:1])
    named = set() if is_last else _named(asked)
    base = next((text for text in reversed(before) if named & _named(text)), before[-1])
    leaned = completed(asked, base) if how else _with_names(asked, before)
    if how == "fragment":
        leaned = _placed(asked, base, similarity, find)
    if search is None or leaned == asked:
        return leaned
    return asked if stands_alone(asked, leaned, search, whole=how != "fragment") else leaned


def _named(text: str) -> set[str]:
    """Return what a question names, and of which kinds its days and months are."""
    return {_kind(term) or term.key for term in terms(text) if not term.light} - {"figure", "measure"}


def has_gap(question: str) -> bool:
    """Return whether words of a question say that it goes on with what was said: "and", "it", "for Vietnam"."""
    words = plain_words(question)
    forms = (CORRECTION, RETURN) if leaning(question) == "whole" else (OPENING, CORRECTION, RETURN)
    leads = any(form.match(question) for form in forms) or PREPOSITIONS.intersection(words[:1])
    points = POINTING.intersection(words) or _THERE.search(question) or first_pronoun(question)
    return bool(leads or points)


def _with_names(question: str, before: Sequence[str]) -> str:
    """Return a short question that names nobody and nothing with the names said last: the country, the product."""
    named = [term for term in terms(question) if not term.light]
    is_full = len(named) > MOST_TERMS or any(term.shape != "word" for term in named)
    if is_full or RETURN.match(question) or DEFINING.match(question) or first_pronoun(question):
        return question
    # The capital of a first word says nothing.
    said = ([term.text for term in terms(text) if term.shape == "name" and term.start] for text in reversed(before))
    names = next(filter(None, islice(said, NAMING_QUESTIONS)), [])[:MOST_NAMES]
    return " ".join([question.rstrip(" ?.!"), *names]) if names else question


def completed(question: str, base: str) -> str:
    """Return the question with the terms of the one before that it lacks; a light word counts beside a name: Form D."""
    known, found = {term.key for term in terms(question)}, terms(base)
    beside = {place + step for place, term in enumerate(found) if term.shape == "acronym" for step in (-1, 1)}
    replaced = {_kind(term) for term in terms(question)} - {""}
    if not ASKING.isdisjoint(plain_words(ABOUT.sub("", question, count=1))):
        replaced.add("measure")  # "And is there a break?" after "How long is the play?"
    rest = [(place, term) for place, term in enumerate(found) if _kind(term) not in replaced] or [*enumerate(found)]
    subject = [term for place, term in rest if not term.light or place in beside] or [term for _, term in rest]
    return " ".join([question, *dict.fromkeys(term.text for term in subject if term.key not in known)])


def _placed(fragment: str, base: str, similarity: WordSimilarity | None, find: Find | None = None) -> str:
    """Return the question before with the fragment's terms in it: in place of one of its own, or behind."""
    old = terms(base)
    denied = {stem(word.lower()) for word in DENIED.findall(fragment)}
    known = {term.key for term in old} | denied
    new = [term for term in terms(fragment) if term.key not in known]
    if not new or len(new) > MOST_RENAMED:
        return completed(fragment, base)
    start = _LIMITING.search(fragment, 0, new[0].start)
    words = fragment[start.start() if start else new[0].start : new[-1].end]
    replaced = [term for term in old if term.key in denied]
    modifiers = {two.key: one for one, two in _adjoining(base)}
    counted, ahead = ({one.key: two for one, two in _adjoining(text)} for text in (base, fragment))
    for term in new if old else ():
        other = modifiers.get(ahead[term.key].key) if term.key in ahead else None
        if other and (other.shape == "number") == (term.shape == "number"):
            replaced.append(other)  # "River house", and then "the garden house".
            continue
        cosines = [float(_kind(term) == _kind(other) in {"day", "month"}) for other in old]
        if similarity is not None and not any(cosines):
            cosines = similarity([term.text.lower()], [other.text.lower() for other in old])[0].tolist()
        best, at = max((_likeness(term, other, cosines[at]), at) for at, other in enumerate(old))
        beside = ((ahead, term.key), (counted, old[at].key))
        units = {things[key].text.lower() in UNITS for things, key in beside if key in things}
        replaced += [old[at]] if best > 0 and len(units) <= 1 else []  # "Two people" are no "45 minutes".
    if not replaced and find is not None:
        replaced = _twins(new, old, find(words), find(base))
    if not replaced:
        return f"{base.rstrip(' ?.!')} {words}"
    return base[: replaced[0].start] + words + base[replaced[0].end :]


def _adjoining(text: str) -> list[tuple[Term, Term]]:
    """Return the pairs of terms that stand next to each other."""
    return [(one, two) for one, two in pairwise(terms(text)) if text[one.end : two.start].isspace()]


def _twins(new: Sequence[Term], old: Sequence[Term], found: Sequence[Passage], base: Sequence[Passage]) -> list[Term]:
    """Return the words in whose place a name comes, as titles show that differ in nothing else, or rows of a table."""
    said, known = ({term.key for term in some} for some in (new, old))
    titles = ([_keys(one["metadata"].get("title", "")) for one in some[:2]] for some in (found, base))
    named = [theirs - ours for ours, theirs in product(*titles) if ours & theirs and ours - theirs == said]
    tables = (sorted(map(_keys, _LABEL.findall(one["content"])), key=lambda row: len(row - known)) for one in base)
    pairs = ((row, other) for rows in tables for row, other in product(rows, rows) if said <= other - row)
    named += [row - other for row, other in pairs if row and 2 * len(row & known) >= len(row)]
    return next(filter(None, (_run(old, keys) for keys in named)), [])


def _run(old: Sequence[Term], keys: Container[str]) -> list[Term]:
    """Return the first of the words with one of the keys, with those in a row behind it: "fixed desk" is one name."""
    row = list(takewhile(lambda term: term.key in keys, dropwhile(lambda term: term.key not in keys, old)))
    return [row[0]._replace(end=row[-1].end)] if row else []


def _keys(text: str) -> set[str]:
    return {term.key for term in terms(text)}


# The first cell of a row; the line above the rule names columns.
_LABEL: Final = re.compile(r"^\|([^|\n]+)\|.*$(?!\n\| *:?-)", re.MULTILINE)


def _likeness(new: Term, term: Term, cosine: float) -> float:
    if (new.shape == "number") != (term.shape == "number"):
        return 0.0
    same_place = PREPOSITION if new.preposition and new.preposition == term.preposition else 0.0
    if term.preposition == "from" and not same_place:  # "for Nara" is where something goes.
        same_place = -PREPOSITION
    if cosine >= ALIKE:
        return cosine + same_place
    if new.shape == term.shape and new.shape in {"acronym", "number"}:
        return ALIKE + same_place
    if same_place > 0 and new.preposition != "for":  # "for" stands before anything.
        return ALIKE - 0.05
    return ALIKE - 0.1 if new.shape == "name" and term.shape in {"name", "acronym"} else 0.0
