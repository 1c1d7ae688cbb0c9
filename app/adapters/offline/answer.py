"""Ranked evidence in, the answer's markdown out, or the sentence that declines."""

from collections.abc import Sequence

from app.adapters.offline.evidence import HEADER, Evidence, Statement
from app.adapters.offline.words import terms

DECLINE = "I don't have specific information about that in the documents I can see."

LONGEST_LIST = 8
MOST_WORDS = 100
_TIE = 0.05

# What is enough: shares of the question's weight in the statement's entry and near it, and cosine similarity.
_ENOUGH, _NEAR_ENOUGH, _SAME_QUESTION, _VOICE, _TRIED = 0.62, 0.42, 0.6, 0.15, 5
_STRONG = 0.75
_CLOSE, _SAME = 0.9, 0.6


def sufficient(evidence: Evidence, best: Statement) -> bool:
    """Tell whether a statement addresses the question: enough of it, near enough, said by whom it was asked of."""
    if best.echo >= _SAME_QUESTION:
        return True
    if evidence.question.asks_us and not evidence.speaks_for_company(best):
        return best.near >= _NEAR_ENOUGH and best.coverage >= _ENOUGH + _VOICE
    if best.similarity + 0.5 * best.coverage >= _STRONG:
        return True
    return best.near >= _NEAR_ENOUGH and best.coverage >= _ENOUGH


def _told_before(new: str, told: Sequence[frozenset[str]]) -> bool:
    """Tell whether most of a statement's terms stand in one already chosen."""
    mine = terms(new)
    return not mine or any(len(mine & other) >= _SAME * len(mine | other) or mine <= other for other in told)


def _asks_all(best: Statement, evidence: Evidence) -> bool:
    """Tell whether the question asks for the whole list: for its items, its steps, or two of its columns."""
    asked, columns = evidence.question, terms(" ".join(best.block.columns))
    steps = asked.asks_steps and best.block.kind == "list"
    sides = asked.alternatives
    return asked.asks_list or steps or bool(asked.compares and sides and sides <= columns)


def _members(best: Statement, evidence: Evidence) -> list[str]:
    """Return the items of a list or table that answer: the one found, or of those asked for all that stand out."""
    if not _asks_all(best, evidence):
        return [best.text]
    subject = [term for term in evidence.weights if best.scope[term] in {0.0, 1.0}]
    reach = {
        text: sum(evidence.weights[term] for term in subject if term in terms(text)) for text in best.block.statements
    }
    most = max(reach.values())
    chosen = [text for text in reach if reach[text] >= most - _TIE]
    chosen = chosen if best.text in chosen else [best.text, *chosen]
    return chosen[:LONGEST_LIST]


def _quotable(text: str) -> str:
    """Escape square brackets: only citations stand in bare ones."""
    return text.replace("[", "\\[").replace("]", "\\]")


def _cut(items: Sequence[str]) -> list[str]:
    """Return the first items that fit the answer, at least one."""
    kept, words = [], 0
    for item in items:
        words += len(item.split())
        if kept and words > MOST_WORDS:
            break
        kept.append(item)
    return kept


def _render(statement: Statement, evidence: Evidence, told: Sequence[frozenset[str]] = ()) -> tuple[str, list[str]]:
    """Return a statement's markdown, and the words it tells; of a list, the items not told before."""
    block, header = statement.block, evidence.entries[statement.entry].header
    if block.kind == "prose":
        return f"{_quotable(statement.text)} {header}", [statement.text]
    items = _cut([item for item in _members(statement, evidence) if not _told_before(item, told)])
    lead = f"{_quotable(block.lead)}:" if block.lead and not block.lead.endswith("?") else ""
    if len(items) == 1:
        lead = lead if block.kind == "list" and block.label else ""
        return f"{lead} {_quotable(items[0])} {header}".strip(), items
    lines = "\n".join(f"- {_quotable(item)}" for item in items)
    return (f"{lead}\n\n{lines}" if lead else lines) + f" {header}", items


def compose(evidence: Evidence, ranked: Sequence[Statement], most: int) -> str:
    """Quote the best statements, each with its citation, until `most` are told or there are too many words."""
    parts: list[str] = []
    told: list[frozenset[str]] = []
    for statement in ranked[: most * 2]:
        if len(parts) == most or statement.score < _CLOSE * ranked[0].score:
            break
        if _told_before(statement.text, told):
            continue
        part, words = _render(statement, evidence, told)
        if parts and len(" ".join([*parts, part]).split()) > MOST_WORDS:
            break
        parts.append(part)
        told.extend(terms(word) for word in words)
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
    """Return the quoted evidence, or `DECLINE` where there is too little of it."""
    ranked = evidence.rank()
    if not ranked:
        return DECLINE
    first = next((i for i in range(min(_TRIED, len(ranked))) if sufficient(evidence, ranked[i])), None)
    return _compare(evidence, ranked) or (DECLINE if first is None else compose(evidence, ranked[first:], most))
