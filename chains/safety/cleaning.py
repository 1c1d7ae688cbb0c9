"""Clean a question and its history before the chain, its observers, caches and traces see them."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig

from chains.around import Around
from chains.history import turns_of
from chains.ports import Redacted

# Control characters but tab and line ends; what has no width; marks of direction; tag characters (an invisible copy of
# ASCII); the selectors beyond the sixteen that fonts use. Joiners stay between letters that they shape.
INVISIBLE = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
)
_INVISIBLE = re.compile(f"[{INVISIBLE}]|(?<![^\x00-\u05ff])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\u05ff])")
_BLANKS = re.compile(r"[^\S\r\n]+")
_LINE_ENDS = re.compile(r"(?: ?(?:\r\n?|\n|\u2028|\u2029)){2,} ?")


def sanitize(text: str) -> str:
    """Return the text without invisible characters, and its blanks as single ones."""
    visible = without_invisible(text)
    return _LINE_ENDS.sub("\n\n", _BLANKS.sub(" ", visible)).strip()


def without_invisible(text: str) -> str:
    """Return the text without characters that show nothing: controls, zero width, direction, tags."""
    return text if text.isascii() and text.isprintable() else _INVISIBLE.sub("", text)


Redact = Callable[[str], Redacted]


@dataclass(eq=False, repr=False)
class CleanQuestions(Around):
    """The `bound` chain, which gets questions without invisible characters and, with `redact`, personal data."""

    redact: Redact | None = None

    def before(self, question: Any, config: RunnableConfig | None) -> Any:
        """Return the question, and its history, as the chain may see them; `redacted` names the kinds of data.

        Raise QuestionError if the history holds what is no message.
        """
        if not isinstance(question, Mapping) or not isinstance(question.get("question"), str):
            return question  # The chain says what is wrong with it.
        asked = clean(question["question"], self.redact)
        cleaned = {**question, "question": asked.text}
        if history := question.get("history"):
            turns = [(turn.role, clean(turn.text, self.redact).text) for turn in turns_of(history)]
            cleaned["history"] = [{"role": role, "content": text} for role, text in turns]
        return cleaned | ({"redacted": asked.kinds} if asked.kinds else {})


def clean(text: str, redact: Redact | None) -> Redacted:
    """Return a text without invisible characters and, if `redact` is given, without personal data."""
    sane = sanitize(text)
    return redact(sane) if redact else Redacted(sane, [])
