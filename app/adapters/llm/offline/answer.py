"""Ranked evidence -> the answer in markdown, or the sentence that declines."""

from collections.abc import Sequence

import prompts
from app.adapters.llm.offline.evidence import FEW, HEADER, Evidence, Statement
from app.adapters.llm.offline.words import terms
from chains.text.escaping import escape_brackets

LONGEST_LIST = 8
MOST_WORDS = 100
_TIE = 0.05

# Without embeddings: the shares of the question's weight that are enough in the entry, near the statement, and of
# what is asked about its names. With them, the similarity counts most, and these shares and signs support it.
_ENOUGH, _NEAR_ENOUGH, _CONTENT_ENOUGH, _SAME_QUESTION, _VOICE = 0.62, 0.42, 0.4, 0.6, 0.15
_STRONG, _CONTENT, _FITTING, _NAMED, _VERY_SIMILAR = 0.62, 0.4, 0.1, 0.05, 0.68
_CLOSE, _SAME, _TRIED = 0.93, 0.6, 3


def decline() -> str:
    """Return the sentence that declines, which the system prompts ask of a model as well."""
    return prompts.load("decline")


def sufficient(evidence: Evidence, best: Statement) -> bool:
    """Return whether a statement addresses the question: enough of it, near enough, said by whom it was asked of."""
    if best.echo >= _SAME_QUESTION:
        return True
    if not evidence.knows_content:
        return False
    if evidence.lacks_focus:
        return best.similarity >= _VERY_SIMILAR
    others = _VOICE if evidence.question.asks_us and not evidence.speaks_for_company(best) else 0.0
    if best.similarity:
        return _strength(evidence, best) >= _STRONG + others
    covered = best.coverage >= _ENOUGH + others and best.content >= _CONTENT_ENOUGH
    return covered and best.near >= _NEAR_ENOUGH


def _strength(evidence: Evidence, best: Statement) -> float:
    named = _NAMED * min(FEW, len(evidence.proper))
    fitting = _FITTING * (evidence.tells_time(best) or (evidence.question.asks_steps and evidence.holds_focus(best)))
    return best.similarity + _CONTENT * best.content + fitting + named


def _told_before(new: str, told: Sequence[frozenset[str]]) -> bool:
    """Return whether most of a statement's terms stand in one already chosen."""
    mine = terms(new)
    return not mine or any(len(mine & other) >= _SAME * len(mine | other) or mine <= other for other in told)


def _asks_all(best: Statement, evidence: Evidence) -> bool:
    """Return whether the question asks for the whole list: for its items, its steps, or two of its columns."""
    asked, columns = evidence.question, terms(" ".join(best.block.columns))
    sides = asked.alternatives
    return asked.asks_list or asked.asks_steps or bool(asked.compares and sides and sides <= columns)


def _members(best: Statement, evidence: Evidence) -> list[str]:
    """Return the items that answer: the one found, the whole of a list, of a table the rows that stand out."""
    items, whole = best.block.statements, _asks_all(best, evidence)
    announced = best.leads | evidence.headers[best.entry]
    subject = {term: weight for term, weight in evidence.weights.items() if term not in announced}
    reach = {text: sum(subject[term] for term in terms(text) & subject.keys()) for text in items}
    most = max(reach.values())
    if best.block.kind == "list" and (whole or not most):
        chosen = items[:LONGEST_LIST]
        return chosen if best.text in chosen else [best.text, *chosen[:-1]]
    chosen = [text for text in reach if reach[text] >= most - _TIE]
    if best.text not in chosen or (len(chosen) > FEW and not whole):
        return [best.text]
    return chosen[:LONGEST_LIST]


def _cut(items: Sequence[str]) -> list[str]:
    """Return the first items that fit the answer, at least one."""
    kept: list[str] = []
    words = 0
    for item in items:
        words += len(item.split())
        if kept and words > MOST_WORDS:
            break
        kept.append(item)
    return kept


def _render(statement: Statement, evidence: Evidence, told: Sequence[frozenset[str]] = ()) -> tuple[str, list[str]]:
    """Return a statement's markdown, and the words it tells; of a list, the items not told before.

    Only citations stand in bare brackets.
    """
    block, marker = statement.block, evidence.entries[statement.entry].marker
    if block.kind == "prose":
        return f"{escape_brackets(statement.text)} {marker}", [statement.text]
    new = [item for item in _members(statement, evidence) if not _told_before(item, told)]
    items = _cut(new or [statement.text])
    lead = f"{escape_brackets(block.lead)}:" if block.lead and not block.lead.endswith("?") else ""
    if len(items) == 1:
        lead = lead if block.kind == "list" and block.label else ""
        return f"{lead} {escape_brackets(items[0])} {marker}".strip(), items
    lines = "\n".join(f"- {escape_brackets(item)}" for item in items)
    return (f"{lead}\n\n{lines}" if lead else lines) + f" {marker}", items


def compose(evidence: Evidence, ranked: Sequence[Statement], most: int) -> str:
    """Quote the best statements, each with its citation, until `most` are told or there are too many words."""
    parts: list[str] = []
    told: list[frozenset[str]] = []
    shown: set[int] = set()
    for statement in ranked[: most * 2]:
        if len(parts) == most or statement.score < _CLOSE * ranked[0].score:
            break
        if _told_before(statement.text, told) or (statement.block.kind != "prose" and id(statement.block) in shown):
            continue
        shown.add(id(statement.block))
        part, words = _render(statement, evidence, told)
        if parts and len(" ".join([*parts, part]).split()) > MOST_WORDS:
            break
        parts.append(part)
        told.extend(terms(word) for word in words)
        if len(words) > FEW:
            break
    return "\n\n".join(parts)


def _sides(evidence: Evidence, ranked: Sequence[Statement]) -> list[Statement]:
    """Return the best statement for each side of a comparison that no single statement holds whole."""
    sides = evidence.question.alternatives
    if not evidence.question.compares or any(all(s.scope.get(side) for side in sides) for s in ranked[:3]):
        return []
    found = [next((s for s in ranked if s.scope.get(side, 0) >= HEADER), None) for side in sorted(sides)]
    return [s for s in found if s]


def _compare(evidence: Evidence, ranked: Sequence[Statement]) -> str:
    """Quote one statement for each side, if together they cover the question; else nothing."""
    sides = _sides(evidence, ranked)
    union = {term: max(side.scope[term] for side in sides) for term in evidence.weights} if sides else {}
    if len(sides) < len(evidence.question.alternatives) or evidence.covered(union) < _ENOUGH:
        return ""
    return "\n\n".join(_render(side, evidence)[0] for side in dict.fromkeys(sides))


def answer(evidence: Evidence, most: int) -> str:
    """Return the quoted evidence, or the sentence that declines where there is too little of it."""
    ranked = evidence.rank()
    if not ranked:
        return decline()
    first = next((i for i in range(min(_TRIED, len(ranked))) if sufficient(evidence, ranked[i])), None)
    return _compare(evidence, ranked) or (decline() if first is None else compose(evidence, ranked[first:], most))
