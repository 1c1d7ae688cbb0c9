"""Split a message into its questions, each with the statements that it depends on.

An e-mail loses its greeting, its signature, its disclaimer and the mail that it quotes. What ends in a question mark is
a question, and so is a request ("please tell me ..."); a clause behind "and" is one where it has an interrogative and a
verb of its own. A message with one question stays that question.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from chains.reformulation.terms import is_small_talk, terms
from chains.text.pattern_file import read_patterns
from chains.text.statements import sentence_bounds
from chains.text.words import plain_words, word_set

MOST_PARTS: Final = 6  # A message may hold more questions; the last part takes the rest.
CONTEXT_CHARACTERS: Final = 400
_LONGEST_GREETING: Final = 6  # In words, as those of a line that takes leave.
_LONGEST_SIGNATURE: Final = 6  # In lines.
_TAG: Final = 2  # "Right?" belongs to what stands before it, as does what begins with "or".

_GREETING: Final = re.compile(r"\W*(?:dear|hi|hello|hey|good (?:morning|afternoon|evening|day)|to whom)\b", re.I)
_HEADER: Final = re.compile(r"\s*(?:(?:from|sent|date|to|cc|subject|re|fwd?):|$)", re.I)
_FORMS: Final = {name: re.compile(form, re.I) for name, form in read_patterns(__package__, "splitting.txt")[1]}
_QUESTION_END: Final = re.compile(r"(?<=\?)[\"\u201d\u2019')]*\s+")
_URGENT: Final = word_set(  # Words that say when or how to answer, and not what.
    "accordingly again asap back convenience earliest possible quickly reply revert soon soonest thanks today urgently"
)
_ITEM: Final = re.compile(r"(?:[-*+\u2022]|\d{1,3}[.)])\s+\Z")


class Part(NamedTuple):
    """One question of a message in the user's words, and the statements that it is asked on.

    `joined` is True where it goes on with the question before it in the same sentence, and names nothing else.
    """

    asked: str
    context: str = ""
    joined: bool = False


def split_questions(message: str) -> tuple[Part, ...]:
    """Return the questions of a message in their order; a single question without what only makes it polite."""
    body, found = _read(_FORMS["change"].sub("", message, count=1))
    if len(found) <= 1:
        request = _FORMS["request"].match(body)  # "Please let us know" says nothing where a question follows.
        is_polite = request and _FORMS["question"].match(body, request.end())
        return (Part(body[request.end() :].strip() if request and is_polite else body),)
    rest = found[MOST_PARTS - 1 :]
    last = Part(" ".join(part.asked for part in rest), rest[0].context) if rest else None
    return (*found[: MOST_PARTS - 1], *([last] if last else []))


def asking_part(message: str) -> str:
    """Return the single question of a message without the statements that it is asked on; "" where there are none."""
    _, found = _read(_FORMS["change"].sub("", message, count=1))
    return found[0].asked if len(found) == 1 and found[0].context else ""


def _read(message: str) -> tuple[str, list[Part]]:
    """Return what a message says beside courtesies, and its questions."""
    body = _body(message)
    sentences = list(_sentences(body))
    telling = [(text, listed) for text, listed in sentences if not _is_courtesy(text)]
    said = " ".join(text for text, _ in telling) if 0 < len(telling) < len(sentences) else body
    return said, _parts(telling)


def _body(message: str) -> str:
    """Return a message without headers and quoted mail, the line that greets, and those of its signature."""
    lines = message.strip().splitlines()
    first = next((at for at, line in enumerate(lines) if not _HEADER.match(line)), 0)
    quoted = next((at for at in range(first + 1, len(lines)) if _FORMS["quoted"].match(lines[at])), len(lines))
    own = [line for line in lines[first:quoted] if not line.startswith(">")]
    if len(own) > 1 and _is_short(own[0]) and _GREETING.match(own[0]):
        own = own[1:]
    leaves = (at for at in range(1, len(own)) if _FORMS["leave"].match(own[at]) and _is_short(own[at]))
    tails = [next(leaves, len(own)), max((at for at, line in enumerate(own) if not line.strip()), default=len(own))]
    for start, is_signature in zip(tails, (True, any(map(_FORMS["contact"].search, own[tails[1] :]))), strict=True):
        tail = [line for line in own[start:] if line.strip()]
        if is_signature and len(tail) <= _LONGEST_SIGNATURE and not any("?" in line for line in tail):
            own = own[:start]
    body = "\n".join(own).strip()
    return body if len(own) < len(lines) and body else message


def _is_short(line: str) -> bool:
    return len(plain_words(line)) <= _LONGEST_GREETING and "?" not in line


def _sentences(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each sentence, and whether it is listed; who begins with a small letter begins sentences with one."""
    small = text.lower() if text[:1].islower() and len(text.lower()) == len(text) else text
    for start, end in sentence_bounds(small):
        listed = bool(_ITEM.search(text, max(0, start - 6), start))
        for sentence in _QUESTION_END.split(text[start:end]):
            if sentence.strip():
                yield " ".join(sentence.split()), listed


def _parts(sentences: Sequence[tuple[str, bool]]) -> list[Part]:
    """Return the questions, each with the statements that it is asked on."""
    found: list[Part] = []
    leading, statements, announced, asked_before = list[str](), list[str](), False, False
    for sentence, listed in sentences:
        asks = _is_question(sentence) or (listed and announced)
        announced = (listed and announced) or (sentence.endswith(":") and _FORMS["request"].match(sentence) is not None)
        is_tag = len(plain_words(sentence)) <= _TAG or sentence[:3].lower() == "or "
        if found and is_tag and asks and not listed:
            found[-1] = found[-1]._replace(asked=f"{found[-1].asked} {sentence}")
        elif asks:
            leading = leading or statements
            asked_before = True
            for place, clause in enumerate(_clauses(sentence)):
                context = _context(clause, leading, statements)
                names = any(term.shape in {"acronym", "name"} for term in terms(clause))
                found.append(Part(_bare(clause), context, joined=place > 0 and not names))
        else:
            if asked_before:
                statements, asked_before = [], False
            request = _FORMS["request"].match(sentence)
            statement = sentence[request.end() :] if request else sentence
            statements = [*statements, statement.strip()] if plain_words(statement) else statements
    return found


def _is_question(sentence: str) -> bool:
    if sentence.endswith(":"):
        return False
    is_marked = sentence.rstrip("\"\u201d\u2019')*_ ").endswith("?")
    if is_marked or _FORMS["request"].match(sentence):
        return True
    join = _FORMS["next_question"].search(sentence)
    is_joined = join is not None and _is_named(sentence[: join.start()], join)
    return (is_joined or _FORMS["question"].match(sentence) is not None) and not sentence.endswith("!")


def _is_courtesy(sentence: str) -> bool:
    """Return whether a sentence thanks, greets, or asks for nothing: "Please advise soonest."."""
    if is_small_talk(sentence) or (_FORMS["leave"].match(sentence) and _is_short(sentence)):
        return True
    if _FORMS["courtesy"].search(sentence) and not _names([sentence]):
        return True
    request = None if sentence.endswith(":") else _FORMS["request"].match(sentence)
    rest = terms(sentence[request.end() :]) if request else ()
    return request is not None and all(term.light or term.text.lower() in _URGENT for term in rest)


def _clauses(sentence: str) -> Iterator[str]:
    """Yield the questions that a sentence joins by "and" or a comma."""
    start = 0
    for join in _FORMS["next_question"].finditer(sentence):
        said, rest = sentence[start : join.start()], sentence[join.end() :]
        is_asked = (join["bare"] is None and _FORMS["asked"].search(said)) or _is_named(said, join)
        if is_asked and len(plain_words(rest)) > _TAG:
            yield said + "?" * sentence.endswith("?")
            start = join.end()
    yield sentence[start:]


def _is_named(said: str, join: re.Match[str]) -> bool:
    """Return whether words ask by naming something, and an "and" follows them: "customs ruling fee and how long ...".

    What has a verb, or a comma, says something.
    """
    is_joined = join[0].lstrip(",; ").startswith("and")
    return is_joined and len(plain_words(said)) <= _LONGEST_GREETING and not _FORMS["says"].search(said)


def _bare(clause: str) -> str:
    """Return a question without "and", "finally" or "please tell me" before it."""
    request = _FORMS["request"].match(clause) or _FORMS["opening"].match(clause)
    return clause[request.end() :].strip(" ,:") if request else clause


def _context(asked: str, leading: Sequence[str], statements: Sequence[str]) -> str:
    """Return the statements that a question is asked on: those before it, or the first ones of the message.

    A question that names a place of its own is not asked on statements about another one.
    """
    own = statements if _names(statements) else list(dict.fromkeys([*leading, *statements]))
    own_names = _names(own)
    named = {term.key for term in terms(asked) if term.shape == "name" and term.preposition}
    if own_names and named - own_names:
        return ""
    told = list(accumulate(own, "{} {}".format)) or [""]
    return max(
        (text for text in told if len(text) <= CONTEXT_CHARACTERS), key=len, default=told[0][:CONTEXT_CHARACTERS]
    )


def _names(statements: Sequence[str]) -> set[str]:
    return {term.key for one in statements for term in terms(one) if term.shape == "name"}
