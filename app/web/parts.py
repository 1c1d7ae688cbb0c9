"""An answer to several questions: each part stands below a heading with its question, and is no item of a list."""

import re
from collections.abc import Sequence

from chains.reformulation.splitting import split_questions
from chains.text.letters import one_line

LONGEST_HEADING = 120
# How a part begins: with its question in bold letters, or with its number.
_OPENING = re.compile(r"\*\*(?P<number>\d+)\) (?P<heading>.+)\*\*|(?P<item>\d+)[.)][ \t]+(?P<words>\S.*)")
_SIGNS = re.compile(r"[][*_`#<>|~\\]")


def questions_of(message: str) -> list[str]:
    """Return the questions of a message that holds several; none where it holds one."""
    parts = split_questions(message) if message.strip() else ()
    headings = []
    for part in parts:
        plain = _SIGNS.sub("", one_line(part.asked)).strip()
        plain = plain[:1].upper() + plain[1:]
        whole = len(plain) <= LONGEST_HEADING
        headings.append(plain if whole else f"{plain[:LONGEST_HEADING].rsplit(maxsplit=1)[0]} …")
    return headings if len(headings) > 1 else []


def under_headings(answer: str, questions: Sequence[str]) -> str:
    """Return the markdown of an answer with a heading in the place of each part's number; they are counted from 1."""
    lines = answer.split("\n")
    part = 0
    for at, line in enumerate(lines):
        found = _OPENING.fullmatch(line) if part < len(questions) and not (at and lines[at - 1].strip()) else None
        if found is None or int(found["number"] or found["item"]) != part + 1:
            continue
        heading = f"# {part + 1}\\. {found['heading'] or questions[part]}"
        lines[at] = f"{heading}\n\n{found['words']}" if found["words"] else heading
        part += 1
    return "\n".join(lines)
