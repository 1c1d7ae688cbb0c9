"""Ranked evidence -> the answer in markdown, or the sentence that declines."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

import prompts
from app.wings.offline.evidence import Evidence, Statement
from app.wings.offline.matching import LISTED, words_of
from app.wings.offline.passages import is_label
from app.wings.offline.ranker import Ranker
from chains.text.letters import escape_brackets, one_line

LONGEST_LIST: Final = 8
MOST_WORDS: Final = 100
CLOSEST_SHOWN: Final = 3
"""The most passages that count as closest."""
AS_MUCH: Final = 0.6
"""The share of the best one's part of the question that it has to hold."""
NEAR: Final = 0.15
"""The least probability with which a statement that is not quoted counts as near."""
LONGEST_HEADING: Final = 120
_MARKS: Final = re.compile(r"[*_`<\[\]\\]")
_TIE: Final = 0.05
_SAME: Final = 0.6
_FEW: Final = 2
_FUSED: Final = 3  # How flat the worth of places is, as in reciprocal rank fusion.


class OfflineAnswer(NamedTuple):
    """The words of an answer, and the probability that its first statement answers the question.

    `text` is empty where nothing is quoted: what is said then is a text of the deployment's. `closest` are the places
    of the entries that come closest, best first; `given` is False where nothing is quoted, and `unsure` is True where
    there is evidence all the same.
    """

    text: str
    probability: float
    closest: Sequence[int] = ()
    unsure: bool = False
    given: bool = True


def decline(probability: float = 0.0, closest: Sequence[int] = ()) -> OfflineAnswer:
    """Return an answer that quotes nothing: no statement is sure, or none is near."""
    return OfflineAnswer("", probability, closest, unsure=probability >= NEAR, given=False)


def answer(evidence: Evidence, ranker: Ranker, most: int) -> OfflineAnswer:
    """Return the quoted evidence; nothing is quoted where no statement is sure enough to be quoted."""
    if not evidence.statements:
        return decline()
    scores = ranker.scores(evidence.values)
    order = np.argsort(-scores, kind="stable").tolist()
    probabilities = [ranker.probability(values) for values in evidence.values]
    closest = _closest([evidence.statements[row].entry for row in order], len(evidence.entries))
    rated = [row for row in order if evidence.quotable[row] and probabilities[row] >= ranker.threshold]
    if not rated:
        return decline(max(probabilities), closest)
    held = evidence.covered(np.array([one.strengths for one in evidence.statements]))
    close = [evidence.statements[row] for row in rated if held[row] >= AS_MUCH * held[rated[0]]]
    sides = _sides(evidence, [evidence.statements[row] for row in order if evidence.quotable[row]])
    ranked = list(dict.fromkeys([*sides, *close]))
    return OfflineAnswer(compose(evidence, ranked, most), max(probabilities[row] for row in rated), closest)


def together(parts: Sequence[tuple[str, OfflineAnswer]], prompts_folder: Path | None = None) -> OfflineAnswer:
    """Return the answers to the questions of a message in their order, each under its question.

    The probability is that of the least certain answer. Where no question is answered, neither is the message.
    """
    given = [one for _, one in parts if one.given]
    if not given:
        return max((one for _, one in parts), key=lambda one: one.probability)
    texts = (
        one.text if one.given else prompts.load("unsure_part" if one.unsure else "decline", prompts_folder)
        for _, one in parts
    )
    headings = (f"**{number}) {_heading(asked)}**" for number, (asked, _) in enumerate(parts, start=1))
    text = "\n\n".join(f"{heading}\n\n{words}" for heading, words in zip(headings, texts, strict=True))
    return OfflineAnswer(text, min(one.probability for one in given))


def _heading(asked: str) -> str:
    """Return a question on one line, without what markdown or a marker would be made of."""
    plain = _MARKS.sub("", one_line(asked))
    plain = plain[:1].upper() + plain[1:]
    return plain if len(plain) <= LONGEST_HEADING else f"{plain[:LONGEST_HEADING].rsplit(maxsplit=1)[0]}…"


def _closest(ranked: Sequence[int], count: int) -> list[int]:
    """Return the entries that come closest: by their places in the context, and half as much by their statements."""
    places = {entry: place for place, entry in enumerate(dict.fromkeys(ranked))}
    worth = {entry: 1 / (_FUSED + entry) for entry in range(count)}
    for entry, place in places.items():
        worth[entry] += 0.5 / (_FUSED + place)
    return sorted(worth, key=lambda entry: -worth[entry])[:CLOSEST_SHOWN]


def _sides(evidence: Evidence, ranked: Sequence[Statement]) -> list[Statement]:
    """Return the best statement for each name that is asked about, where no single statement holds them all."""
    sides = evidence.question.sides
    if not sides or any(all(evidence.holds(one, side) for side in sides) for one in ranked[:_FEW]):
        return []
    found = (next((one for one in ranked if evidence.holds(one, side)), None) for side in sides)
    return [one for one in found if one]


def compose(evidence: Evidence, ranked: Sequence[Statement], most: int) -> str:
    """Quote the statements, each with its citation, up to `most` or the limit of words."""
    parts: list[str] = []
    quoted: list[frozenset[str]] = []
    for one in ranked:
        if len(parts) == most:
            break
        items = [item for item in _items(one, evidence) if not _quoted_before(item, quoted)]
        part = _render(one, _cut(items), evidence)
        if not items or (parts and len(" ".join([*parts, part]).split()) > MOST_WORDS):
            continue
        parts.append(part)
        quoted += [_keys(item) for item in items]
        if len(items) > _FEW:
            break
    return "\n\n".join(parts)


def _keys(text: str) -> frozenset[str]:
    return frozenset(words_of(text).keys)


def _quoted_before(new: str, quoted: Sequence[frozenset[str]]) -> bool:
    """Return whether most of a statement's words stand in one already chosen."""
    mine = _keys(new)
    return any(len(mine & other) >= _SAME * len(mine | other) or mine <= other for other in quoted)


def _items(one: Statement, evidence: Evidence) -> list[str]:
    """Return the statement, or with it the rest of its list, or the rows of its table that say as much."""
    items, wants = one.block.statements, evidence.question.wants
    if one.block.kind == "list" and wants & LISTED:
        return items[:LONGEST_LIST] if one.text in items[:LONGEST_LIST] else [one.text, *items[: LONGEST_LIST - 1]]
    if one.block.kind == "table" and "list" in wants:
        reach = evidence.covered(evidence.matcher.rows(items))
        rows = [item for item, found in zip(items, reach, strict=True) if found >= reach.max() - _TIE]
        return rows[:LONGEST_LIST] if one.text in rows else [one.text]
    return [one.text]


def _cut(items: Sequence[str]) -> list[str]:
    """Return the first items that fit the answer, at least one."""
    words = np.cumsum([len(item.split()) for item in items])
    return [item for item, count in zip(items, words, strict=True) if count <= MOST_WORDS] or list(items[:1])


def _render(one: Statement, items: Sequence[str], evidence: Evidence) -> str:
    """Return the items in markdown with their citation; only citations stand in bare brackets."""
    marker, quoted = evidence.entries[one.entry].marker, [escape_brackets(item) for item in items]
    label = one.block.label if len(items) == 1 else one.block.lead
    asked = {term.key for term in evidence.question.terms}
    alone = len(items) == 1 and is_label(one.text, one.block.kind)
    telling = one.block.kind == "list" and not label.endswith("?") and (alone or asked & _keys(label))
    lead = f"{escape_brackets(label)}:" if telling else ""
    if len(quoted) == 1:
        return f"{lead} {quoted[0]} {marker}".strip()
    lines = "\n".join(f"- {item}" for item in quoted)
    return (f"{lead}\n\n{lines}" if lead else lines) + f" {marker}"
