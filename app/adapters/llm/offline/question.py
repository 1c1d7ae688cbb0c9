"""A question -> what it asks for: weighted terms, names that the evidence must hold, and its form."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.adapters.llm.offline.words import SOFT_WORDS, countries, folded, stem, terms, tokens
from chains.text.words import word_set

SOFT, NUMBER, PLAIN, HARD = 0.35, 0.4, 1.0, 1.5

_SOFT_STEMS = frozenset(stem(word) for word in SOFT_WORDS) | {"~requir"}
_YEAR = re.compile(r"(?:19|20)\d\d$")
_IDENTIFIER = re.compile(r"\b[A-Z]{2,4}[- ]?\d{4,}\b")
_LIVE = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|latest|current|currently|right now|at the moment|this (?:week|month))\b",
    re.I,
)
_LIST = re.compile(
    r"\b(?:which|documents?|documentation|papers|items|list|options|permits|requirements|steps|types)\b", re.I
)
_STEPS = re.compile(r"^(?:how (?:do|can|should|to)\b|what are the steps)", re.I)
_WHETHER = re.compile(r"(?:can|could|do|does|did|is|are|will|would|should|must|may|has|have)\b", re.I)
_FOCUS = re.compile(
    r"(?:how (?:do|can|should) (?:i|we|you)|what(?:['\u2019]s| is| are) (?:the|our|your)|how(?: many| much)?"
    r"|who(?: is)?) ([^\W\d_]+)",
    re.I,
)
_COMPARISON = re.compile(r"\b(?:compare|comparison|differ|differs|different|difference|differences|versus|vs)\b", re.I)
_DEFINITION = re.compile(r"\b(?:abbreviations?|acronym|defin\w+|mean|means|meaning|stands? for)\b", re.I)
_TIME = re.compile(
    r"\b(?:when|how (?:long|fast|soon|early|late|far|quickly|often)|how many (?:\w+ )?(?:years|days|hours|months|weeks)"
    r"|deadline|cut-?off|valid\w*|times?|hours|duration|age limit)\b",
    re.I,
)
_AMOUNT = re.compile(
    r"\b(?:how (?:many|much|high|big)|amount|cost\w*|fees?|charges?|prices?|rates?|percentage|threshold|limit"
    r"|m(?:ax|in)imum)\b",
    re.I,
)
_MANNERS = word_set("please kindly hi hello hey now then so just can could would will you")

# The first words of what nobody can quote: an order, or a wish for one.
_REQUEST_VERBS = word_set(
    """
    arrange book buy calculate call cancel check compose confirm contact convert create delete draft email fix
    forward generate hire issue locate make modify notify open order pay prepare print process quote recommend
    register remind reschedule resend reserve schedule send sign submit suggest track transfer translate update
    upload write
    """
)

# Things a customer owns and the documents cannot see.
_OWN_THINGS = word_set(
    """
    account application balance bill booking box cargo claim consignment container delivery driver goods
    invoice item load order package parcel payment permit refund ship shipment truck vessel
    """
)

# Capitals, but no names: a question's dates and sums are its own, not the documents'.
_NOT_NAMES = word_set(
    """
    april august december february friday january july june march may monday november october saturday september
    sunday thursday tuesday wednesday aud cny eur gbp hkd idr inr jpy krw myr php sgd thb usd vnd i am pm ok s
    """
)
_MOSTLY, _LONG, _FEW = 0.6, 6, 2


@dataclass(frozen=True, slots=True)
class Question:
    """What a question asks for.

    `weights` are by term; evidence should hold every one of `names`, but of `alternatives` (the two ends of a route,
    the sides of a comparison) each statement only one. `identifiers` (a container, a booking) must be met as written.
    """

    text: str
    weights: dict[str, float]
    names: frozenset[str]
    alternatives: frozenset[str]
    identifiers: frozenset[str]
    live: bool
    asks_list: bool
    asks_steps: bool
    focus: str
    asks_whether: bool
    compares: bool
    asks_meaning: bool
    asks_amount: bool
    asks_time: bool
    asks_us: bool
    unanswerable: bool


def _starts(words: Sequence[str], *openings: str) -> bool:
    return any(list(words[: len(opening)]) == opening for opening in (text.split() for text in openings))


def _is_request(words: Sequence[str]) -> bool:
    """Tell an order ("book a shipment for me") from a question; `how do I book` is a question."""
    start = next((i for i, word in enumerate(words) if word not in _MANNERS), len(words))
    polite = _starts(words, "can you", "could you", "would you", "will you", "please") or start == 0
    verb = words[start] if start < len(words) else ""
    wish = _starts(words, "i want to", "i would like to", "i d like to", "i need to", "i want you to", "help me")
    if wish and not {"how", "what", "which", "where"}.intersection(words):
        return bool(_REQUEST_VERBS.intersection(words[2:6]))
    ours = {"me", "my", "us", "our"}.intersection(words[start + 1 :])
    return polite and verb in _REQUEST_VERBS and (start == 0 or "please" in words[:start] or bool(ours))


def _is_about_own_thing(words: Sequence[str]) -> bool:
    """Return whether the question asks for the state of something that only the asker has."""
    mine = any(
        owner in {"my", "our"} and _OWN_THINGS.intersection(words[i + 1 : i + 4]) for i, owner in enumerate(words)
    )
    opens = _starts(
        words, "where", "has my", "have my", "did my", "is my", "are my", "when will my", "when is my", "why is my"
    )
    return mine and (opens or "status" in words[:5])


def _title_case(words: Sequence[str]) -> bool:
    """Return whether capitals say nothing here: all letters are, or most words of a longer question begin with one."""
    capitals = sum(word[0].isupper() for word in words)
    return all(word.isupper() for word in words) or (len(words) >= _LONG and capitals > _MOSTLY * len(words))


def _names(pairs: Iterable[tuple[str, str]], first: str, *, trust_capitals: bool) -> frozenset[str]:
    """Return the terms that name one thing: places, concepts of several words, proper nouns, years."""
    return frozenset(
        term
        for term, word in pairs
        if word.lower() not in _NOT_NAMES
        if _YEAR.match(word)
        or term in countries()
        or "_" in term
        or (trust_capitals and word[0].isupper() and (word != first or word.isupper()))
    )


def _route(words: Sequence[str], names: frozenset[str]) -> frozenset[str]:
    """Return the names on both sides of a "to" ("Singapore to Indonesia"), if there are two."""
    at = {position for position, word in enumerate(words) if word.lower() in {"to", "into", "from"}}
    ends = {
        term for i in at for side in (words[max(0, i - 1) : i], words[i + 1 : i + 2]) for term in terms(" ".join(side))
    }
    found = names & ends
    return found if len(found) > 1 else frozenset()


def _weight(term: str, names: frozenset[str]) -> float:
    return HARD if term in names else SOFT if term in _SOFT_STEMS else NUMBER if term[0].isdigit() else PLAIN


def _focus(text: str) -> str:
    """Return the term that the question turns on ("how do I <verb>", "what is the <noun>"), "" if it says little."""
    found = _FOCUS.match(text.strip())
    focus = next((term for term, _ in folded([found.group(1)])), "") if found else ""
    return "" if focus in _SOFT_STEMS else focus


def _form_words(text: str) -> set[str]:
    return {word.lower() for form in (_COMPARISON, _DEFINITION, _LIVE) for word in tokens(" ".join(form.findall(text)))}


def read(text: str) -> Question:
    """Read a question; capitals count as names unless the whole question is written in them."""
    words = tokens(text)
    lower = [word.lower() for word in words]
    trust = not _title_case(words)
    pairs = list(folded(words if trust else lower))
    names = _names(pairs, words[0] if words else "", trust_capitals=trust)
    form = _form_words(text)
    weights = {term: _weight(term, names) for term, word in pairs if word.lower() not in form}
    focus = _focus(text)
    if focus in weights and _STEPS.search(text):
        weights[focus] = HARD
    compares = bool(_COMPARISON.search(text))
    return Question(
        text=text,
        weights=weights,
        names=names,
        alternatives=names if compares else _route(words, names),
        identifiers=frozenset(_IDENTIFIER.findall(text)) if trust else frozenset(),
        live=bool(_LIVE.search(text)),
        asks_list=bool(_LIST.search(text)),
        asks_whether=bool(_WHETHER.match(text.strip())),
        asks_steps=bool(_STEPS.search(text)),
        focus=focus if focus in weights else "",
        compares=compares,
        asks_meaning=bool(_DEFINITION.search(text))
        or (_starts(lower, "what is", "what s", "what are") and len(weights) <= _FEW),
        asks_amount=bool(_AMOUNT.search(text)),
        asks_time=bool(_TIME.search(text)),
        asks_us=_starts(lower, "do you", "can you", "are you", "will you", "could you", "do we", "can we"),
        unanswerable=_is_request(lower) or _is_about_own_thing(lower),
    )
