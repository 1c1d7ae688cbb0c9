"""Templates of attacks, and of harmless texts that use the same words -> labelled texts, by family and language.

All templates are written for this project: none is taken from a set that the classifier may be measured on. The prose
is that of the sample corpus and of the documentation, without the pages about attacks.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
COPIES = 4
PROSE_OF = "prose of "
ABOUT_ATTACKS = {"safety", "security", "decisions"}
LEAST_PROSE = 80
_SLOT = re.compile(r"\{([A-Za-z]\w*)\}")
_LANGUAGE = re.compile(r"([a-z]{2})\| ")


@dataclass(frozen=True)
class Labelled:
    """A text, whether it is an attack, the family of its template, and its language."""

    text: str
    is_attack: bool
    family: str
    language: str = "en"


def templated(*, copies: int = COPIES, seed: int = 0) -> list[Labelled]:
    """Return the texts of all templates, each filled so many times; equal ones once."""
    rng = random.Random(seed)  # noqa: S311 Not for secrets.
    slots = _slots()
    found = [
        Labelled(_filled(template, slots, rng), is_attack, family, language)
        for name, is_attack in (("attacks", True), ("harmless", False))
        for family, language, template in _templates(FOLDER / f"{name}.txt")
        for _ in range(copies)
    ]
    return list(dict.fromkeys(found))


def prose(*, most: int, seed: int = 0) -> list[Labelled]:
    """Return at most so many paragraphs of our own documents, by their folder."""
    paragraphs = [
        Labelled(paragraph, is_attack=False, family=f"{PROSE_OF}{file.parent.relative_to(ROOT)}")
        for folder in ("knowledge_base", "docs")
        for file in sorted((ROOT / folder).rglob("*.md"))
        if file.stem not in ABOUT_ATTACKS
        for paragraph in file.read_text("utf-8").split("\n\n")
        if len(paragraph) >= LEAST_PROSE
    ]
    return random.Random(seed).sample(paragraphs, min(most, len(paragraphs)))  # noqa: S311 Not for secrets.


def _templates(file: Path) -> Iterator[tuple[str, str, str]]:
    """Yield family, language and text of each template; `## ` begins a family, `de| ` a text that is not English."""
    family = ""
    for line in file.read_text("utf-8").splitlines():
        if line.startswith("## "):
            family = line[3:]
        else:
            language = _LANGUAGE.match(line)
            yield family, language[1] if language else "en", _LANGUAGE.sub("", line, count=1)


def _slots() -> dict[str, list[str]]:
    lines = (line.split(": ", 1) for line in (FOLDER / "slots.txt").read_text("utf-8").splitlines())
    return {name: values.split(" | ") for name, values in lines}


def _filled(template: str, slots: dict[str, list[str]], rng: random.Random) -> str:
    """Return the template with a value for each slot; a slot with a capital gives its value one."""

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name.lower() not in slots:
            return found[0]  # Braces of the text itself.
        chosen = rng.choice(slots[name.lower()])
        return chosen[0].upper() + chosen[1:] if name[0].isupper() else chosen

    return _SLOT.sub(value, template)
