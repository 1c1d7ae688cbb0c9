"""Ranked evidence -> the answer in markdown, or the sentence that declines."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

import prompts
from app.adapters.llm.offline.evidence import HEADER, Evidence, Statement
from app.adapters.llm.offline.matching import words_of
from app.adapters.llm.offline.ranker import Ranker
from chains.text.escaping import escape_brackets

LONGEST_LIST: Final = 8
MOST_WORDS: Final = 100
CLOSE: Final = 1.5
"""How far a statement's score may lie below the best one's for it to be quoted as well."""
AS_MUCH: Final = 0.6
"""The share of the best one's part of the question that it has to hold."""
_TIE: Final = 0.05
_SAME: Final = 0.6
_FEW: Final = 2


class Answer(NamedTuple):
    """The words of an answer, and the probability that its first statement answers the question."""

    text: str
    probability: float


def decline(probability: float = 0.0) -> Answer:
    """Return the sentence that declines, which the system prompts ask of a model as well."""
    return Answer(prompts.load("decline"), probability)


def answer(evidence: Evidence, ranker: Ranker, most: int) -> Answer:
    """Return the quoted evidence, or the sentence that declines where the best of it is too weak."""
    if not evidence.statements:
        return decline()
    scores = ranker.scores(evidence.values)
    order = np.argsort(-scores, kind="stable").tolist()
    probability = ranker.probability(evidence.values[order[0]])
    if probability < ranker.threshold:
        return decline(probability)
    held = evidence.covered(np.array([one.strengths for one in evidence.statements]))
    near = (row for row in order if held[row] >= AS_MUCH * held[order[0]])
    close = [evidence.statements[row] for row in near if scores[row] >= scores[order[0]] - CLOSE]
    sides = _sides(evidence, [evidence.statements[row] for row in order])
    return Answer(compose(evidence, list(dict.fromkeys([*sides, *close])), most), probability)


def _sides(evidence: Evidence, ranked: Sequence[Statement]) -> list[Statement]:
    """Return the best statement for each side of a comparison that no single statement holds whole."""
    sides = evidence.question.sides
    if not sides or any(all(one.strengths[sides] >= HEADER) for one in ranked[:_FEW]):
        return []
    found = (next((one for one in ranked if one.strengths[row] >= HEADER), None) for row in sides)
    return [one for one in found if one]


def compose(evidence: Evidence, ranked: Sequence[Statement], most: int) -> str:
    """Quote the statements, each with its citation, until `most` are told or there are too many words."""
    parts: list[str] = []
    told: list[frozenset[str]] = []
    for one in ranked:
        if len(parts) == most:
            break
        items = [item for item in _items(one, evidence) if not _told_before(item, told)]
        part = _render(one, _cut(items), evidence)
        if not items or (parts and len(" ".join([*parts, part]).split()) > MOST_WORDS):
            continue
        parts.append(part)
        told += [_keys(item) for item in items]
        if len(items) > _FEW:
            break
    return "\n\n".join(parts)


def _keys(text: str) -> frozenset[str]:
    return frozenset(words_of(text).keys)


def _told_before(new: str, told: Sequence[frozenset[str]]) -> bool:
    """Return whether most of a statement's words stand in one already chosen."""
    mine = _keys(new)
    return any(len(mine & other) >= _SAME * len(mine | other) or mine <= other for other in told)


def _items(one: Statement, evidence: Evidence) -> list[str]:
    """Return the statement, or with it the rest of its list, or of a table the rows that say as much."""
    items, wants = one.block.statements, evidence.question.wants
    if one.block.kind == "prose":
        return [one.text]
    if one.block.kind == "list":
        whole = items[:LONGEST_LIST] if wants & {"list", "manner"} else [one.text]
        return whole if one.text in whole else [one.text, *whole[:-1]]
    reach = evidence.covered(evidence.matcher.rows(items))
    rows = [item for item, found in zip(items, reach, strict=True) if found >= reach.max() - _TIE]
    few = len(rows) <= _FEW or "list" in wants
    return rows[:LONGEST_LIST] if one.text in rows and few else [one.text]


def _cut(items: Sequence[str]) -> list[str]:
    """Return the first items that fit the answer, at least one."""
    words = np.cumsum([len(item.split()) for item in items])
    return [item for item, count in zip(items, words, strict=True) if count <= MOST_WORDS] or list(items[:1])


def _render(one: Statement, items: Sequence[str], evidence: Evidence) -> str:
    """Return the items in markdown with their citation; only citations stand in bare brackets."""
    marker, quoted = evidence.entries[one.entry].marker, [escape_brackets(item) for item in items]
    label = one.block.label if len(items) == 1 else one.block.lead
    asked = {term.key for term in evidence.question.terms}
    telling = one.block.kind == "list" and not label.endswith("?") and asked & _keys(label)
    lead = f"{escape_brackets(label)}:" if telling else ""
    if len(quoted) == 1:
        return f"{lead} {quoted[0]} {marker}".strip()
    lines = "\n".join(f"- {item}" for item in quoted)
    return (f"{lead}\n\n{lines}" if lead else lines) + f" {marker}"
