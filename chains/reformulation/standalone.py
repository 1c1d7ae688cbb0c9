"""Make a follow-up a question that stands alone, by a rule and without a language model.

The rule reads the form of the question only (see `leaning`) and knows no subject. A fragment takes its place in the
question before; a whole question that lacks its subject gets the terms of the question before; a short one without
any name gets the names that were said last; any other stays as it is. The questions before are made to stand alone in
the same way, one after the other.

Whether a short question is a new one, or goes on with the one before it, a search decides (`stands_alone`). Both
readings are searched: the question alone, and with what it takes from the conversation. The reading whose first
passage holds more of the question's own words wins. Spelling and spacing do not count: "cutoff" is in "cut-off".
"""

import re
from collections.abc import Callable, Sequence
from itertools import islice, pairwise, product
from typing import Final, Literal

from chains.history import Turn
from chains.ports import WordSimilarity
from chains.reformulation.terms import PREPOSITIONS, Shape, Term, is_small_talk, terms, without_small_talk
from chains.state import Passage
from chains.text.quantities import UNITS
from chains.text.words import one_error_away, plain_words, stem, word_set

PRONOUNS: Final = word_set(  # Words that stand for something said before.
    "it its itself he him his she hers they them their theirs this that these those one ones both former latter"
)
POINTING: Final = word_set("also else instead other others same then there too")
"""Words that point to something said before."""

ADDING: Final = word_set("also same too")  # Words that ask the last question of something else.
MEASURES: Final = word_set(  # Words that ask for a measure or a yes, and name nothing that has it.
    "allowed big cheap cost early expensive far fast free high included large late long much needed necessary offer "
    "often old possible price provide quick quickly required small soon valid worth"
)
CONTACTS: Final = word_set("address email fax mail number phone tel telephone")
"""Words for what an address or a number stands in for."""

ASKING: Final = word_set(
    "what who whom whose when where which why how is isn are aren was were can could do does did don dont has have had "
    "will would shall should may might must it them him her me us"
)
"""Words that make a question a whole one: it asks for something itself, or a verb in it has an object."""

ABOUT: Final = re.compile(r"(?:(?:and|or|but|so|ok(?:ay)?|then)\b[\s,]*)*(?:what|how) (?:about|if)\b", re.IGNORECASE)
"""The words that ask for something, and say not for what."""

OPENING: Final = re.compile(  # How a question begins that goes on with the one before.
    r"(?:and|or|but|so|then|also|plus|ok(?:ay)?|(?:what|how) about|what (?:if|else)|anything else|same)\b",
    re.IGNORECASE,
)
DEFINING: Final = re.compile(  # How a question begins that asks what a word means, which it then names itself.
    r"(?:what|who)(?: is| are| was| were|'s|’s) (?!(?:the|my|your|our|its|their)\b)", re.IGNORECASE
)
CORRECTION: Final = re.compile(  # How a question begins that puts the one before right.
    r"(?:(?:oh|no|nope|sorry|wait|actually|hm+|pardon|well)\b[\s,.:;!-]*)*"
    r"(?:i (?:really |actually )?mean(?:t)?|i was asking (?:about|for)|i wanted|not|no|sorry|rather|actually|instead)\b"
    r"[\s,.:;]*",
    re.IGNORECASE,
)
DENIED: Final = re.compile(  # What a correction takes back, in the first group.
    r"\b(?:not|instead of|rather than)\s+(?:(?:the|a|an|to|for|in|by|of|with|from)\s+)?([^\W_]+)", re.IGNORECASE
)
RETURN: Final = re.compile(  # How a question begins that says what it is about.
    r"(?:(?:and|so|ok(?:ay)?|now|but)\b[\s,]*)?(?:(?:(?:coming|come|going|go|getting|get) )?back to|returning to|"
    r"once more (?:on|about)|again about|about|regarding|as (?:for|to)|concerning)\b",
    re.IGNORECASE,
)
Find = Callable[[str], Sequence[Passage]]  # Returns the passages for a query, best first.

# Below this cosine similarity a first passage whose heading has no word of the question is about something else.
NEAR: Final = 0.3
# A whole question is new where the passages of the other reading are so much further from its own words.
MARGIN: Final = 0.15
HEADINGS: Final = ("title", "section", "section_path", "jurisdiction")  # What stands above a passage, in its metadata.
LONG: Final = 4  # Shorter words begin too many others, and are one letter away from too many.


def stands_alone(question: str, leaned: str, find: Find, *, whole: bool) -> bool:
    """Return whether the documents answer the question alone, and not what it becomes in the conversation (`leaned`).

    A `whole` question has a verb or an interrogative of its own.
    """
    own = _words(question)
    alone = find(question)
    if not own or not alone:
        return False
    is_headed = _missing(own, {**alone[0], "content": ""}, headings=("section",)) < len(own)
    if _score(alone[0]) < NEAR and not is_headed:
        return False
    missing, together = min(_missing(own, one) for one in alone[:2]), next(iter(find(leaned)), None)
    if whole and together and missing == _missing(own, together) == len(own):
        return True  # Neither reading finds them: what is carried over would only bring the subject before back.
    if together is None or 2 * missing > len(own):
        return together is None
    if whole:
        scores = (_score(one) for one in alone if one["content"] == together["content"])
        is_further = _score(alone[0]) - next(scores, 0.0) >= MARGIN
        is_same = alone[0]["content"] == together["content"]  # The words taken over find nothing nearer.
        return not missing and (
            (is_further and len(own) > 1)
            or ((is_same or len(own) > 1) and _lacks_rest(leaned, own, _part(together, own)))
        )
    difference = _missing(own, together) - missing
    return difference > 0 or (not difference and _lacks_rest(leaned, own, together))


def _part(passage: Passage, words: set[str]) -> Passage:
    """Return a passage with those of its paragraphs, lists and tables alone that hold all of the words, if any do."""
    blocks = (block for block in passage["content"].split("\n\n") if not _missing(words, {**passage, "content": block}))
    return {**passage, "content": "\n\n".join(blocks) or passage["content"]}


def _lacks_rest(leaned: str, own: set[str], passage: Passage) -> bool:
    """Return whether a passage lacks half of the names, or else of the words, that the question took over."""
    carried = _words(leaned, "acronym", "name") - own or _words(leaned) - own
    return bool(carried) and 2 * _missing(carried, passage) >= len(carried)


def _score(passage: Passage) -> float:
    return passage["score"] or 0.0


def _words(text: str, *shapes: Shape) -> set[str]:
    told = [term for term in terms(text) if not shapes or term.shape in shapes]
    named = {term.text.lower() for term in told if not term.light} - MEASURES
    # Of "claims email" a passage holds the address, and "claims" says whose; the E of "form E" says nothing alone.
    is_little = named and (named <= CONTACTS or max(map(len, named)) == 1)
    return {term.text.lower() for term in told} - MEASURES - CONTACTS if is_little else named


def _missing(words: set[str], passage: Passage, headings: Sequence[str] = HEADINGS) -> int:
    """Return how many of the words the passage and the headings above it lack."""
    held = plain_words(" ".join([*(str(passage["metadata"].get(name, "")) for name in headings), passage["content"]]))
    known = {*held, *map(stem, held), *("".join(pair) for pair in pairwise(held))}
    return sum(not _is_held("".join(plain_words(word)), known) for word in words)


def _is_held(word: str, known: set[str]) -> bool:
    if word in known or stem(word) in known:
        return True
    return len(word) >= LONG and (any(one.startswith(word) for one in known) or bool(one_error_away(word) & known))


Leaning = Literal["fragment", "whole"]
"""A fragment renames or adds a part of the question before; a whole question lacks its subject only."""

# A question with more terms than this says itself what it is about.
MOST_TERMS = 4
FRAGMENT_TERMS = 2  # So few without a verb or question word are a part of a question.
PRONOUN_TERMS = 3  # With more, a pronoun stands for somebody or something that the question need not name.
CLAUSE_ENDS = (",", ":", " - ", " and ", ". ")
ANTECEDENTS = 2  # After so many terms a pronoun stands for one of them.
# A question whose opening names its subject has at most this many terms.
RETURN_TERMS = 3

_WISHES: Final = word_set("find get give happen have help know mean need say see tell think want")
"""Words for what somebody does with an answer, whatever it is about."""
_WORD: Final = re.compile(r"[^\W_]+")


def leaning(question: str) -> Leaning | None:
    """Return how a question leans on those before it; None where it stands alone."""
    named = [term for term in terms(question) if not term.light]
    if len(named) > MOST_TERMS or (RETURN.match(question) and len(named) >= RETURN_TERMS):
        return None
    if CORRECTION.match(question):
        return "fragment"
    asks = not ASKING.isdisjoint(plain_words(ABOUT.sub("", question, count=1)))
    if not asks and (OPENING.match(question) or len(named) <= FRAGMENT_TERMS or _is_bare(question)):
        return "fragment"
    return "whole" if _has_gap(question, named) else None


def _is_bare(question: str) -> bool:
    """Return whether a question names nothing but a figure: "140 cm long?"."""
    named = [term for term in terms(question) if not term.light and term.text.lower() not in MEASURES]
    figures = [term for term in named if term.shape == "number"]
    return bool(figures) and all(term in figures or term.text.lower() in UNITS for term in named)


def lacks_subject(question: str) -> bool:
    """Return whether a question with nothing before it names no subject at all: "How much is it?"."""
    found = [term for term in terms(question) if term.text.lower() not in MEASURES]
    if first_pronoun(question):
        found = [term for term in found if not term.light]
    return bool(plain_words(question)) and all(term.text.lower() in _WISHES for term in found)


def _has_gap(question: str, named: Sequence[Term]) -> bool:
    """Return whether a whole question does not say what it is about."""
    if pronoun := first_pronoun(question):  # It may stand for something that the question itself names before it.
        before = [term for term in named if term.start < pronoun.start()]
        clause = max(question.rfind(mark, 0, pronoun.start()) for mark in CLAUSE_ENDS)
        is_bound = len(before) >= ANTECEDENTS or any(term.start < clause for term in before)
        return len(named) <= PRONOUN_TERMS and not is_bound
    if any(term.shape != "word" for term in named):
        return False
    if OPENING.match(question):
        return len(named) <= FRAGMENT_TERMS
    # "What is the price?" speaks of something known; "What is demurrage?" does not, and "How can I apply?" may.
    if len(named) <= FRAGMENT_TERMS and "the" in plain_words(question):
        return True
    return len(named) <= 1 and not DEFINING.match(question)


def first_pronoun(question: str) -> re.Match[str] | None:
    """Return the first word of a question that stands for something said before."""
    # In capitals it is a name.
    words = (word for word in _WORD.finditer(question) if len(word.group()) == 1 or not word.group().isupper())
    return next((word for word in words if word.group().lower() in PRONOUNS), None)


# Older turns say nothing of today's question.
MOST_TURNS = 16
# Of a question before; what it says comes early.
MOST_CHARACTERS = 400
# A fragment with more new terms is a question of its own.
MOST_RENAMED = 3
# So many questions before may have given the names, and so many names are taken over.
NAMING_QUESTIONS, MOST_NAMES = 3, 2
# Below this cosine of the word table, two words name different kinds of things.
ALIKE = 0.3
# What agreement of prepositions counts beside a cosine: "to Busan" - "to Rotterdam".
PREPOSITION = 0.15


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
    if how is None:
        leaned = _with_names(asked, before)
    else:
        # An older question goes on that is named again; "cabins too" goes on with the last one.
        keys = {term.key for term in terms(asked) if ADDING.isdisjoint(plain_words(asked))}
        base = next((text for text in reversed(before) if keys & {term.key for term in terms(text)}), before[-1])
        leaned = _placed(asked, base, similarity, find) if how == "fragment" else completed(asked, base)
    if search is None or leaned == asked:
        return leaned
    return asked if stands_alone(asked, leaned, search, whole=how != "fragment") else leaned


def has_gap(question: str) -> bool:
    """Return whether words of a question say that it goes on with what was said: "and", "it", "for Vietnam"."""
    words = plain_words(question)
    leads = any(form.match(question) for form in (OPENING, CORRECTION, RETURN)) or PREPOSITIONS.intersection(words[:1])
    return bool(leads or _is_bare(question) or POINTING.intersection(words)) or first_pronoun(question) is not None


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
    subject = (term for place, term in enumerate(found) if not term.light or place in beside)
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
    codes = [term for term in old if term.shape != "word" or len(term.text) == 1]
    behind = {one.key: two for one, two in _adjoining(base) if two in codes}
    modifiers = {two.key: one for one, two in _adjoining(base)}
    before = {two.key: one.key for one, two in _adjoining(fragment)}
    ahead = {one.key: two.key for one, two in _adjoining(fragment)}
    for term in new if old else ():
        if before.get(term.key) in behind:  # "Form E", and then "form AK".
            replaced.append(behind[before[term.key]])
            continue
        if ahead.get(term.key) in modifiers:  # "River house", and then "the garden house".
            replaced.append(modifiers[ahead[term.key]])
            continue
        cosines = [0.0] * len(old)
        if similarity is not None:
            cosines = similarity([term.text.lower()], [other.text.lower() for other in old])[0].tolist()
        best, at = max((_likeness(term, other, cosines[at]), at) for at, other in enumerate(old))
        replaced += [old[at]] if best > 0 else []
    if not replaced and find is not None:
        replaced = _twins(new, old, find(words), find(base))
    if not replaced:
        return f"{base.rstrip(' ?.!')} {words}"
    return base[: replaced[0].start] + words + base[replaced[0].end :]


def _adjoining(text: str) -> list[tuple[Term, Term]]:
    """Return the pairs of terms that stand next to each other."""
    return [(one, two) for one, two in pairwise(terms(text)) if text[one.end : two.start].isspace()]


def _twins(new: Sequence[Term], old: Sequence[Term], found: Sequence[Passage], base: Sequence[Passage]) -> list[Term]:
    """Return the words in whose place a name comes, as titles show that differ in nothing else, or rows of a table.

    "Evergreen Service Summary" is to "evergreen?" what "Maersk Service Summary" is to "What does Maersk offer?".
    """
    said, known = {term.key for term in new}, {term.key for term in old}
    titles = ([_keys(one["metadata"].get("title", "")) for one in some[:2]] for some in (found, base))
    pairs = ((ours, theirs) for ours, theirs in product(*titles) if ours & theirs and ours - theirs == said)
    named = [theirs - ours for ours, theirs in pairs if len(theirs - ours) == 1]
    rows = [list(map(_keys, _LABEL.findall(one["content"]))) for one in base]
    pairs = (pair for labels in rows for pair in product(labels, labels) if said <= pair[0] - pair[1])
    named += [row - ours for ours, row in pairs if row <= known]
    twins = [term for keys in named for term in old if term.key in keys][:1]
    names = next((keys for keys in named if twins and twins[0].key in keys), set[str]())
    for term in old[old.index(twins[0]) + 1 :] if twins else ():  # "Fixed desk" is one name.
        if term.key not in names:
            break
        twins = [twins[0]._replace(end=term.end)]
    return twins


def _keys(text: str) -> set[str]:
    return {term.key for term in terms(text)}


# The first cell of a row; the line above the rule names columns.
_LABEL: Final = re.compile(r"^\|([^|\n]+)\|.*$(?!\n\| *:?-)", re.MULTILINE)

_LIMITING: Final = re.compile(r"\b(?:no|not|non|without|over|under|above|below)\W+(?:(?:an?|the) )?$", re.I)
"""A word that belongs to the one behind it: "and no show?"."""


def _likeness(new: Term, term: Term, cosine: float) -> float:
    same_place = PREPOSITION if new.preposition and new.preposition == term.preposition else 0.0
    if term.preposition == "from" and not same_place:  # "for Nara" is where something goes.
        same_place = -PREPOSITION
    if cosine >= ALIKE:
        return cosine + same_place
    if new.shape == term.shape and new.shape in {"acronym", "number"}:
        return ALIKE + same_place
    if same_place > 0 and new.preposition != "for":  # "for" stands before anything.
        return ALIKE - 0.05
    names = {"name", "acronym"}
    return ALIKE - 0.1 if new.shape == "name" and term.shape in names else 0.0
