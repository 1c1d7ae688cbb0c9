"""Ask a language model whether an answer is faithful to its passages (statements supported by all statements).

The figure is RAGAS's faithfulness (Es et al. 2024), with both counts asked for in one call. A model's judgement is an
opinion: it is optional, never part of what is called right, and each row keeps what the model called unsupported.
"""

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import LanguageModelLike
from langchain_core.prompts import ChatPromptTemplate

from chains.errors import LLMError
from chains.metadata import DEGRADED
from chains.text.letters import escape_tag
from evals.metrics import is_declined
from evals.questions import Case
from evals.rows import Judgement, Retrieved, Row

PASSAGES_CHARACTERS = 10_000
ASKED = "<question>{question}</question>\n\n<passages>\n{passages}\n</passages>\n\n<answer>\n{answer}\n</answer>"
UNREADABLE = Judgement(faithfulness=None, statements=0, supported=0, unsupported=[])


class Judge:
    """A language model with the instructions of a judge."""

    def __init__(self, model: LanguageModelLike, prompt: str) -> None:
        # The instructions hold braces of JSON: they are no template.
        template = ChatPromptTemplate.from_messages([("system", "{instructions}"), ("human", ASKED)])
        self._chain = template.partial(instructions=prompt) | model

    def judged(self, case: Case, row: Row) -> Row:
        """Return the row with a judgement of its answer; a row without an answer as it is.

        Where the model fails, or its reply cannot be read, the judgement has no faithfulness, and is counted as such.
        """
        if is_declined(row):
            return row
        asked = {"question": case.question, "passages": _passages(row["retrieved"]), "answer": row["answer"]}
        try:
            reply = self._chain.invoke({name: escape_tag(text, name) for name, text in asked.items()})
        except LLMError:
            return {**row, "judgement": UNREADABLE}
        degraded = DEGRADED in getattr(
            reply, "response_metadata", {}
        )  # Not the judge replied, but what stands in for it.
        return {**row, "judgement": UNREADABLE if degraded else read_judgement(_text(reply))}


def read_judgement(reply: str) -> Judgement:
    """Return the judgement in a reply; one without faithfulness where it holds none that can be right."""
    start, end = reply.find("{"), reply.rfind("}")
    try:
        values = json.loads(reply[start : end + 1])
        statements, supported = values["statements"], values["supported"]
    except (ValueError, KeyError, TypeError):
        return UNREADABLE
    if type(statements) is not int or type(supported) is not int or not 0 <= supported <= statements or not statements:
        return UNREADABLE
    listed = values.get("unsupported")
    return Judgement(
        faithfulness=supported / statements,
        statements=statements,
        supported=supported,
        unsupported=[str(one) for one in listed] if isinstance(listed, list) else [],
    )


def _passages(chunks: Sequence[Retrieved]) -> str:
    """Return the passages in rank order, as far as a model's context goes."""
    return "\n\n".join(chunk["content"] for chunk in chunks)[:PASSAGES_CHARACTERS]


def _text(reply: Any) -> str:
    content = getattr(reply, "content", reply)
    return content if isinstance(content, str) else ""
