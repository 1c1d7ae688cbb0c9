"""Ranked evidence -> the answer in markdown, with yes or no where there is no doubt, or the sentence that declines."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple

import numpy as np

import prompts
from app.wings.offline.evidence import FEATURES, FIXED, HEADER, TOLD, VERDICT, Evidence
from app.wings.offline.matching import WORD_FLOOR, Matrix, repeats, words_of
from app.wings.offline.passages import Candidate
from app.wings.offline.question import WORDS, Question
from app.wings.offline.ranker import Ranker
from chains.text.asking import LISTED, OPEN, STRICT, fits, kinds
from chains.text.letters import escape_brackets, heading
from chains.text.negation import NEGATION, content, negates
from chains.text.quantities import DIMENSIONS, quantities
from chains.text.ranges import is_within
from chains.text.statements import Statement
from chains.text.tokens import tokens

LONGEST_LIST, MOST_WORDS = 8, 100
SHORT_PARAGRAPH: Final = 400  # Characters.
AS_MUCH: Final = 0.6  # The share of the best one's part of the question that it has to hold.
NEAR: Final = 0.1  # The least probability to speak for a version.
NEAR_ENOUGH: Final = 0.75  # With less probability and nearest similarity together a question is declined.
ALSO: Final = 0.7  # The share of the best one's probability that a statement beside it has to have.
ALSO_UNSURE: Final = 0.3  # The same where the best one is not sure: the reader chooses.
OFF_TOPIC, LACKING, _ROOM = 0.58, 0.71, 0.15
"""The most without what a follow-up names anew, or any word; without a name or figure, or with what speaks against.
Below the most the likelier stays ahead."""
_OPEN, _CLOSED = re.compile(r"\bopen\b", re.IGNORECASE), frozenset({"closed", "shut"})
_FOR_MONEY: Final = re.compile(r"\bhow much (?:if|to)\b", re.IGNORECASE)
FEWEST_COLUMNS: Final = 3  # With fewer there is one cell beside the name, and no order.
MOST_NAMED: Final = 0.6
_TIE, _FEW = 0.05, 2
Verdict = Literal["Yes", "No", ""]
_BOUNDS: Final = tuple(  # What asks for the beginning or the end, and the names of columns that tell it.
    (re.compile(rf"\b(?:{asked})", re.IGNORECASE), re.compile(rf"\b(?:{asked}|{named})", re.IGNORECASE))
    for asked, named in (
        (r"(?:begin|commenc|first|open|start)\w*", "from$"),
        (r"(?:clos|finish|last|shut)\w*|end(?:s|ed|ing)?\b|over\W*$", "(?:to|until)$"),
    )
)

_PERMITS: Final = re.compile(WORDS["permits"], re.I)
_REQUIRES: Final = re.compile(WORDS["requires"], re.I)
_DENIES: Final = re.compile(r"\b(?:forbidden|prohibited|banned|optional|voluntary)\b", re.I)
_CONDITION: Final = re.compile(WORDS["conditions"], re.I)
_DENYING: Final = r"(?:(?:do|does|is|are|may|can|must)(?: not|n['’]t)|cannot|appl(?:y|ies) only)\b"
_LIMITS: Final = re.compile(  # How a sentence begins that limits the one before it.
    rf"(?:But|Except\w*|However|Only|Unless)\b|(?:It|They|(?:The|That|These|This|Those)(?: \w+)?) {_DENYING}"
)
_WITHOUT: Final = re.compile(r"\bwithout\b(?: (?:an?|the|any)\b)?", re.IGNORECASE)


class OfflineAnswer(NamedTuple):
    """The words of an answer, and the probability that its first statement answers the question.

    `text` quotes statements; it is empty where none is near. Where the answer is not sure enough `given` is False, and
    `unsure` True if it is quoted all the same; `whole` is one about documents. `parts` answer a message's questions.
    `missing` are the names and nouns of the question that nothing in the context holds, `unsaid` those that the passage
    of its first statement does not; `place` is that of the best statement's entry where the question is declined.
    """

    text: str
    probability: float
    unsure: bool = False
    given: bool = True
    whole: bool = False
    parts: "Sequence[OfflineAnswer]" = ()
    missing: Sequence[str] = ()
    place: int | None = None
    unsaid: Sequence[str] = ()

    def worded(self, prompts_folder: Path | None = None) -> str:
        """Return what is said: the quotes, below a line that says so where they are not sure; else a decline."""
        if self.given:
            return self.text
        line = prompts.load("unsure" if self.unsure else "decline", prompts_folder)
        return f"{line}\n\n{self.text}" if self.text else line


NOTHING: Final = OfflineAnswer("", 0.0, given=False)  # Where no statement is near, or all speak of something else.


def answer(evidence: Evidence, ranker: Ranker, most: int) -> OfflineAnswer:
    """Return the statements that answer a question, sure or not; nothing is quoted where none is near."""
    if not evidence.statements:
        return NOTHING
    scores = ranker.scores(evidence.values)
    order = np.argsort(-scores, kind="stable").tolist()
    contradicted, left = evidence.contradicted, evidence.left_out
    probabilities = ranker.probabilities(evidence.values, left, evidence.agreement)
    sure = [row for row in order if probabilities[row] >= ranker.threshold and not contradicted[row]]
    is_old = bool(sure) and all(left[row] for row in sure)  # What is in force says nothing of it.
    if not is_old and any(probabilities[row] >= NEAR and not left[row] for row in order):
        contradicted = left
    # What gives another measure comes behind what gives the one that is asked for.
    if not evidence.question.wants.isdisjoint(STRICT):
        fit = evidence.values[:, FEATURES.index("kind")]
        if any(fit[row] > 0 and probabilities[row] >= NEAR and not contradicted[row] for row in order):
            contradicted = [out or bool(kind < 0) for out, kind in zip(contradicted, fit, strict=True)]
    order.sort(key=lambda row: contradicted[row])
    best = order[0]
    fitting = [row for row in order if not contradicted[row]]
    sides = _sides(evidence, fitting)
    # Nothing makes up for a lacking name, figure or comparison, and a range that holds the figure says no more.
    first = evidence.statements[best]
    near, fit = (evidence.values[best, FEATURES.index(name)] for name in ("near", "range"))
    doubted = evidence.is_unnamed(first) or evidence.is_doubtful(first) or (fit > 0 and evidence.lacking(first) > 0)
    reach, entry = evidence.placed.max(axis=0), evidence.entries[first.entry]
    unknown = any(term.named and reach[row] < FIXED for row, term in enumerate(evidence.question.terms))
    is_other = evidence.lacks_new(first) or evidence.is_of_other_case(first)
    ceiling = OFF_TOPIC if unknown or is_other or (doubted and near <= 0) else LACKING if doubted else 1.0
    probability = min(float(probabilities[best]), ceiling - _ROOM * (1 - float(probabilities[best])))
    missing = _missing(evidence, reach)
    if contradicted[best] or probability + evidence.nearest < NEAR_ENOUGH:
        place = first.entry if first.strengths.any() and not contradicted[best] else None
        return NOTHING._replace(probability=min(probability, NEAR), missing=missing, place=place)
    is_sure = probability >= ranker.threshold and not first.is_left
    beside = probability * (ALSO if is_sure else ALSO_UNSURE)
    held = evidence.covered(np.array([one.strengths for one in evidence.statements]))
    close = [
        one
        for one, row in ((evidence.statements[row], row) for row in fitting)
        if (probabilities[row] >= beside and held[row] >= AS_MUCH * held[best])
        or (one.statement.kind == "row" and one.block == first.block and held[row] >= held[best] - _TIE)
    ]
    quoted = compose(evidence, list(dict.fromkeys([*(evidence.statements[row] for row in sides), *close])), most)
    word = verdict(first, evidence) if is_sure and not sides and not VERDICT.match(quoted) else ""
    is_agreed = bool(word) and {verdict(one, evidence) for one in close} <= {word, ""}
    if is_agreed and not quoted.startswith(first.statement.above or "?"):
        quoted = f"{word}. {quoted}"
    own = np.maximum(first.strengths, evidence.matcher.rows([f"{entry.header} {entry.text}"])[0])
    unsaid = _missing(evidence, own)
    return OfflineAnswer(quoted, probability, unsure=not is_sure, given=is_sure, missing=missing, unsaid=unsaid)


def together(parts: Sequence[tuple[str, OfflineAnswer]], prompts_folder: Path | None = None) -> OfflineAnswer:
    """Return the answers to the questions of a message in their order, each under its question.

    The probability is that of the least certain part that is quoted. Where no question is surely answered, neither is
    the message, and where nothing is quoted it is declined.
    """
    answers = [one for _, one in parts]
    if not any(one.text for one in answers):
        return max(answers, key=lambda one: one.probability)
    given = any(one.given for one in answers)
    headings = (f"**{number}) {heading(asked)}**" for number, (asked, _) in enumerate(parts, start=1))
    texts = (one.text if one.unsure and not given else one.worded(prompts_folder) for one in answers)
    text = "\n\n".join(f"{head}\n\n{words}" for head, words in zip(headings, texts, strict=True))
    likely = min(one.probability for one in answers if one.text)
    return OfflineAnswer(text, likely, unsure=not given, given=given, parts=answers)


def _sides(evidence: Evidence, ranked: Sequence[int]) -> list[int]:
    """Return the row of the best statement for each name that is asked about, unless one statement holds them all."""
    sides, statements = evidence.question.sides, evidence.statements
    if not sides or any(all(evidence.holds(statements[row], side) for side in sides) for row in ranked[:_FEW]):
        return []
    found = (next((row for row in ranked if evidence.holds(statements[row], side)), None) for side in sides)
    return [row for row in found if row is not None]


def compose(evidence: Evidence, ranked: Sequence[Candidate], most: int) -> str:
    """Quote the statements, each with its citation, up to `most` or the limit of words."""
    parts: list[str] = []
    quoted: list[str] = []
    for one in ranked:
        if len(parts) == most:
            break
        items = quoted_with(one, evidence)
        if all(any(repeats(item, other) for other in quoted) for item in items):
            continue
        part = _render(one, _cut(items), evidence)
        head = escape_brackets(one.statement.above)
        if head.endswith("?") and any(other.startswith(head) for other in parts):  # The question is said once.
            part = part.removeprefix(head).lstrip()
        if parts and len(" ".join([*parts, part]).split()) > MOST_WORDS:
            continue
        parts.append(part)
        quoted += items
        if len(items) > _FEW:
            break
    return "\n\n".join(parts)


def quoted_with(one: Candidate, evidence: Evidence) -> list[str]:
    """Return the statement, or with it the rest of its list, or the rows of its table that say as much."""
    wants, kind = evidence.question.wants, one.statement.kind
    if one.text in (together := evidence.together.get(one.block, [])):
        return together
    block = [other for other in evidence.entries[one.entry].statements if other.block == one.statement.block]
    items = [other.said for other in block if other.kind == kind]  # No note below a table.
    is_told = fits(one.text, wants, evidence.question.text) > 0 or sum(map(len, items)) > SHORT_PARAGRAPH
    if kind == "sentence" and not is_told and "verdict" not in wants and evidence.adds_nothing(one):
        return [" ".join(items)]  # Its heading asks, and all below it answers.
    is_short = kind == "row" and not together and len(items) <= LONGEST_LIST and evidence.adds_nothing(one)
    is_single = bool(evidence.question.sides) or "definition" in wants
    is_whole = not is_single and (is_short or evidence.is_listed(one))
    if is_whole or (kind == "item" and wants & LISTED):
        return items if one.text in items[:LONGEST_LIST] else [one.text, *items]
    if (whole := in_context(one.statement, evidence.entries[one.entry].statements)) != [one.statement]:
        return [" ".join(each.said for each in whole)]
    if kind == "row" and "list" in wants:
        reach = evidence.covered(evidence.matcher.rows(items))
        rows = [item for item, found in zip(items, reach, strict=True) if found >= reach.max() - _TIE]
        return rows if one.text in rows else [one.text]
    return [one.text]


def in_context(statement: Statement, statements: Sequence[Statement]) -> list[Statement]:
    """Return the statement with the sentence that it refers to, and with that behind it that limits it."""
    place = next(at for at, other in enumerate(statements) if other is statement)
    first = last = place
    if statement.refers and place and statements[place - 1].block == statement.block:
        first -= 1
    beside = statements[place + 1 :][:1]
    if statement.kind == "sentence" and beside and beside[0].block == statement.block and _LIMITS.match(beside[0].said):
        last += 1
    return list(statements[first : last + 1])


def _cut(items: Sequence[str]) -> list[str]:
    """Return the first items that fit the answer, at least one, and how many more there are."""
    words = np.cumsum([len(item.split()) for item in items])
    fitting = [item for item, count in zip(items, words, strict=True) if count <= MOST_WORDS] or [*items[:1]]
    fitting = fitting[:LONGEST_LIST]
    return [*fitting, f"and {len(items) - len(fitting)} more"] if 1 < len(fitting) < len(items) else fitting


def _render(one: Candidate, items: Sequence[str], evidence: Evidence) -> str:
    """Return the items in markdown with their citation; only citations stand in bare brackets."""
    entry = evidence.entries[one.entry]
    block = [other for other in entry.statements if other.block == one.statement.block and other.said in items]
    ordered = {row.said: row.say(_asked_columns(evidence, row)) for row in block if row.kind == "row"}
    quoted = [escape_brackets(ordered.get(item, item).replace("|", "/")) for item in items]  # No mark of a table.
    statement = one.statement
    label = (statement.lead if len(items) == 1 or statement.kind == "row" else statement.above).replace("|", "/")
    asked = {term.key for term in evidence.question.terms}
    alone = len(items) == 1 and statement.is_label
    telling = (statement.kind == "item" or len(items) > 1) and (alone or asked & words_of(label).keys.keys())
    lead = f"{escape_brackets(label)}:" if label and telling and not label.endswith("?") else ""
    denied = {negates(text) for text in (statement.above, evidence.question.text)}
    over = evidence.matcher.rows([f"{entry.header} {statement.above}"])[0]
    named = [bool(over[row] >= FIXED) for row, term in enumerate(evidence.question.terms) if term.carries]
    is_same = len(denied) == 1 and sum(named) >= MOST_NAMED * len(named)
    is_same = is_same and ("verdict" in evidence.question.wants or not VERDICT.match(items[0]))
    if statement.kind != "row" and statement.above.endswith("?") and not is_same:
        lead = escape_brackets(statement.above.replace("|", "/"))  # Its "Yes" is said to that question.
    if len(quoted) == 1:
        return f"{lead} {quoted[0]} {entry.marker}".strip()
    marks = {other.said: other.mark for other in block}
    lines = "\n".join(f"{marks.get(item, '-')} {words}" for item, words in zip(items, quoted, strict=True))
    return (f"{lead}\n\n{lines}" if lead else lines) + f" {entry.marker}"


def _missing(evidence: Evidence, reach: Matrix) -> list[str]:
    """Return the names and nouns of the question that are hardly reached, as the asker writes them."""
    question = evidence.question
    words = {token.key: token.text for token in tokens(question.text) if token.text.isalpha()}
    is_thing = [term.carries or DIMENSIONS.get(term.word) for term in question.terms]  # "Deep" of "how deep".
    floors = [FIXED if term.named else WORD_FLOOR for term in question.terms]
    lacked = [n for n, term in enumerate(question.terms) if is_thing[n] and term.key in words and reach[n] < floors[n]]
    names = [*question.names, *([n] for n in lacked if not any(n in name for name in question.names))]
    return [" ".join(words[question.terms[n].key] for n in name) for name in names if set(name) <= set(lacked)]


def _asked_columns(evidence: Evidence, row: Statement) -> list[int]:
    """Return the columns of a row that the question asks for, by their names, of several by what their cells give."""
    if not FEWEST_COLUMNS <= len(row.columns) == len(row.cells):
        return []
    heads, figures = [quantities(name) for name in row.columns[1:]], evidence.question.quantities
    fitting = np.array([any(is_within(limit, figure) for limit in head for figure in figures) for head in heads])
    names = evidence.matcher.rows([f"{row.columns[0]} {row.group} {row.cells[0].text}", *row.columns[1:]])
    own = (names[1:] >= HEADER) & (names[0] < HEADER) & (evidence.weights > 0)
    is_figure = np.array([term.key[0].isdigit() for term in evidence.question.terms])
    others = [not fit and any(not one.label for one in head) for fit, head in zip(fitting, heads, strict=True)]
    own &= ~np.outer(others, is_figure)  # "10 kg" is not "Drying, 10 minutes".
    said_more = (own[:, None] <= own).all(axis=2) & (own[:, None] < own).any(axis=2)  # "Full day" is not "Half day".
    named = own.any(axis=1) & ~said_more.any(axis=1)
    wants, asked = evidence.question.wants, evidence.question.text
    is_money = "money" in wants or _FOR_MONEY.search(asked) is not None
    bounds = [names for form, names in _BOUNDS if form.search(asked)]
    columns = np.ones(len(heads), dtype=bool)
    for tells in (  # What the column's name says, then whether its cell gives what is asked for.
        fitting,
        named,
        np.array([any(form.search(name) for form in bounds) for name in row.columns[1:]]),
        np.array([not wants.isdisjoint({*TOLD, "where"} & kinds(name)) for name in row.columns[1:]]),
        np.array([fits(cell.text, wants - OPEN, asked) > 0 for cell in row.cells[1:]]),
        np.array([any(one.measure.isupper() for one in quantities(cell.text)) for cell in row.cells[1:]]) & is_money,
    ):
        columns = columns & tells if (columns & tells).any() else columns
    return [] if columns.all() else [int(place) + 1 for place in np.flatnonzero(columns)]


def _verdict_of(cell: str, question: Question) -> Verdict:
    """Return what a cell answers: it says so, or gives the hours of what the question asks whether it is open."""
    text = cell.lower()
    if text in {"yes", "no"} or not _OPEN.search(question.text):
        return "Yes" if text == "yes" else "No" if text == "no" else ""
    hours = [quantity for quantity in quantities(cell) if quantity.measure == "hours of a day"]
    times = [figure for figure in question.quantities if figure.measure == "time of day"]
    if not times:
        return "No" if text in _CLOSED else "Yes" if any(map(str.isdigit, text)) else ""
    is_open = any(span.low <= time.low < span.high for span in hours for time in times)
    return "Yes" if is_open else "No" if hours or text in _CLOSED else ""


def verdict(one: Candidate, evidence: Evidence) -> Verdict:
    """Return the answer to a question for yes or no; "" where it is not sure."""
    question, text = evidence.question, VERDICT.sub("", one.text, count=1)  # Its own is on the question above it.
    is_other = evidence.lacking(one) or evidence.is_unnamed(one)
    if "verdict" not in question.wants or is_other:
        return ""
    if one.statement.kind == "row":
        cells = one.statement.cells
        named = [cells[column] for column in _asked_columns(evidence, one.statement) if column < len(cells)]
        verdicts = {_verdict_of(cell.text, question) for cell in named or cells[1:]}
        if not named:
            verdicts.discard("")
        return verdicts.pop() if len(verdicts) == 1 and not negates(question.text) else ""
    asked, *asked_without = _WITHOUT.split(question.text, maxsplit=1)
    said, *without = _WITHOUT.split(text, maxsplit=1)
    negations = len(NEGATION.findall(said)) + bool(_DENIES.search(said))
    if _CONDITION.search(f"{asked} {text}") or negates(asked) or negations > 1:
        return ""
    permits, requires = bool(_PERMITS.search(asked)), bool(_REQUIRES.search(asked))
    lacked, lacking, keys = (content(" ".join(words)) for words in (asked_without, without, [said]))
    if permits and lacked and not lacking and _REQUIRES.search(said) and lacked <= keys:
        return "Yes" if negations else "No"
    is_alike = (permits, requires) == (bool(_PERMITS.search(said)), bool(_REQUIRES.search(said)))
    if lacked != lacking or not is_alike or permits == requires:
        return ""
    return "No" if negations else "Yes"
