"""Ranked evidence in, the answer's markdown out, or the sentence that declines."""

from collections.abc import Sequence

from app.adapters.offline.evidence import HEADER, Evidence, Statement
from app.adapters.offline.passages import Block, Entry
from app.adapters.offline.words import terms

DECLINE = "I don't have specific information about that in the documents I can see."

LONGEST_LIST = 8
_TIE = 0.05

# Shares of the question's weight: enough by itself, or enough beside a statement that means nearly the same.
_ENOUGH, _ENOUGH_WITH_SIMILARITY, _SIMILAR = 0.62, 0.48, 0.55
_SOME, _VERY_SIMILAR = 0.25, 0.68
_SAME_QUESTION, _NEAR_ENOUGH, _VOICE, _TRIED = 0.6, 0.42, 0.15, 5
_CLOSE, _SAME, _NEAR = 0.8, 0.75, 0.6


def sufficient(evidence: Evidence, best: Statement) -> bool:
    """Tell whether a statement addresses the question: enough of it, near enough, said by whom it was asked of."""
    if best.echo >= _SAME_QUESTION:
        return True
    if evidence.question.asks_us and not evidence.speaks_for_company(best):
        return best.near >= _NEAR_ENOUGH and best.coverage >= _ENOUGH + _VOICE
    if best.similarity >= _VERY_SIMILAR:
        return best.coverage >= _SOME
    similar = best.similarity >= _SIMILAR and evidence.knows_all_for(best)
    return best.near >= _NEAR_ENOUGH and best.coverage >= (_ENOUGH_WITH_SIMILARITY if similar else _ENOUGH)


def _told_before(new: str, told: Sequence[frozenset[str]]) -> bool:
    """Tell whether most of a statement's terms stand in one already chosen."""
    mine = terms(new)
    return not mine or any(len(mine & other) >= _SAME * len(mine | other) or mine <= other for other in told)


def _asks_all(best: Statement, evidence: Evidence) -> bool:
    """Tell whether the question asks for the whole list: for its items, or for two of its columns."""
    columns = terms(" ".join(best.block.columns))
    sides = evidence.question.alternatives
    return evidence.question.asks_list or bool(evidence.question.compares and sides and sides <= columns)


def _members(best: Statement, evidence: Evidence) -> list[str]:
    """Return the items of a list or table that answer: the few that stand out, else all, shortened."""
    items = [s for s in evidence.statements if s.block is best.block]
    reach = [sum(evidence.weights[term] for term in evidence.weights if term in item.own) for item in items]
    chosen = [item.text for item, own in zip(items, reach, strict=True) if own >= max(reach) - _TIE]
    if _asks_all(best, evidence) or len(chosen) > max(1, len(items) // 2):
        chosen = [item.text for item in items]
    return chosen[:LONGEST_LIST] if best.text in chosen[:LONGEST_LIST] else [best.text]


def _quotable(text: str) -> str:
    """Escape square brackets: only citations stand in bare ones."""
    return text.replace("[", "\\[").replace("]", "\\]")


def _list(block: Block, items: Sequence[str], header: str) -> str:
    lines = [f"- {_quotable(item)}" for item in items]
    lead = f"{_quotable(block.lead)}:" if block.lead and not block.lead.endswith("?") else ""
    if len(items) == 1:
        lead = lead if block.kind == "list" and block.label else ""
        return f"{lead} {_quotable(items[0])} {header}".strip()
    return "\n".join([lead, "", *lines] if lead else lines) + f" {header}"


def _render(
    statement: Statement, evidence: Evidence, entries: Sequence[Entry], told: Sequence[frozenset[str]]
) -> tuple[str, list[str]]:
    """Return a statement's markdown, and the words it tells; of a list, the items not told before."""
    header = entries[statement.block.entry].header
    if statement.block.kind == "prose":
        return f"{_quotable(statement.text)} {header}", [statement.text]
    items = [item for item in _members(statement, evidence) if not _told_before(item, told)]
    return _list(statement.block, items, header), items


def _worth_adding(statement: Statement, best: Statement, *, lists_only: bool) -> bool:
    """Tell whether a further statement speaks of the same matter in the same form, not only from the same document."""
    if lists_only and statement.block.kind == "prose":
        return False
    return statement.score >= _CLOSE * best.score and statement.near >= _NEAR * best.near


def compose(evidence: Evidence, ranked: Sequence[Statement], entries: Sequence[Entry], most: int) -> str:
    """Quote the best statements, each with its citation, until `most` are told; no statement twice."""
    parts: list[str] = []
    told: list[frozenset[str]] = []
    lists_only = evidence.question.asks_list and ranked[0].block.kind != "prose"
    for statement in ranked:
        if len(parts) >= most:
            break
        if not _worth_adding(statement, ranked[0], lists_only=lists_only) or _told_before(statement.text, told):
            continue
        part, words = _render(statement, evidence, entries, told)
        parts.append(part)
        told.extend(terms(word) for word in words)
    return "\n\n".join(parts)


def _sides(evidence: Evidence, ranked: Sequence[Statement]) -> list[Statement]:
    """Return the best statement for each side of a comparison that no single statement holds whole."""
    sides = evidence.question.alternatives
    if not evidence.question.compares or any(all(s.scope.get(side) for side in sides) for s in ranked[:3]):
        return []
    found = [
        next((s for s in ranked if s.scope.get(side, 0) >= HEADER and s.block.kind == "prose"), None)
        for side in sorted(sides)
    ]
    return [s for s in found if s]


def _compare(evidence: Evidence, sides: Sequence[Statement], entries: Sequence[Entry]) -> str | None:
    """Quote one statement for each side, if together they cover the question."""
    union = {term: max(side.scope[term] for side in sides) for term in evidence.weights} if sides else {}
    if len(sides) < len(evidence.question.alternatives) or evidence.covered(union) < _ENOUGH:
        return None
    unique = list({id(side): side for side in sides}.values())
    return "\n\n".join(_render(side, evidence, entries, [])[0] for side in unique)


def answer(evidence: Evidence, entries: Sequence[Entry], most: int) -> str:
    """Return the quoted evidence, or `DECLINE` where there is too little of it."""
    ranked = evidence.rank()
    if evidence.question.unanswerable or not ranked:
        return DECLINE
    compared = _compare(evidence, _sides(evidence, ranked), entries)
    if compared:
        return compared
    nearest = max(range(len(ranked)), key=lambda i: ranked[i].similarity)
    tried = [*range(min(_TRIED, len(ranked))), nearest]
    first = next((i for i in tried if sufficient(evidence, ranked[i])), None)
    return DECLINE if first is None else compose(evidence, ranked[first:], entries, most)
