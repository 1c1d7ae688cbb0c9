"""Find personal data in a text, and put its kind in its place."""

from collections.abc import Iterator, Sequence

from app.wings.safety.pii.kinds import BEFORE, KINDS, Kind
from chains.ports import Entity, Redacted


def find_entities(text: str, kinds: Sequence[Kind] = KINDS) -> list[Entity]:
    """Return the personal data in a text, in order; where two kinds claim the same words, the first has them."""
    found: list[Entity] = []
    for kind in kinds:
        for entity in _matches(text, kind):
            if all(entity.end <= other.start or other.end <= entity.start for other in found):
                found.append(entity)
    return sorted(found, key=lambda entity: entity.start)


def redact(text: str) -> Redacted:
    """Return the text without its personal data."""
    entities = find_entities(text)
    parts, end = [], 0
    for entity in entities:
        parts += [text[end : entity.start], f"<{entity.kind}>"]
        end = entity.end
    return Redacted("".join([*parts, text[end:]]), list(dict.fromkeys(entity.kind for entity in entities)))


def _matches(text: str, kind: Kind) -> Iterator[Entity]:
    for found in kind.pattern.finditer(text):
        before = text[max(0, found.start() - BEFORE) : found.start()]
        if kind.context and not kind.context.search(before):
            continue
        if kind.unless and kind.unless.search(before):
            continue
        if kind.is_valid is None or kind.is_valid(found[0]):
            yield Entity(kind.name, *found.span())
