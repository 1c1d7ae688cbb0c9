"""Passages, and a way to ask the offline answerer about them."""

from collections.abc import Sequence

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

import prompts
from app.wings.offline import OfflineChatModel

DECLINE, UNSURE = prompts.load("decline"), prompts.load("unsure")
NO_ANSWER = {DECLINE, UNSURE}

PACKING = """[Booking Handbook > Papers]
## Papers

Can we ship without a packing list?

**No. A packing list is mandatory for all shipments.** It goes to customs with the invoice.

| Document | Status | Why |
|---|---|---|
| Commercial Invoice | **Mandatory** | Duty is worked out from it |
| Packing List | **Mandatory** | Customs compares it with the cargo |
| Insurance Certif"""

IMPORT = """[Indonesia Import Guide > Papers for import]
At a minimum, import documents for Indonesia must include:

1. **Commercial Invoice**
2. Packing List
- [ ] Bill of Lading

ies that nobody has seen. Customs of Indonesia answers within [two days](https://example.org/days)."""

TAX = """[Tax Guide \\[2024\\] (Singapore) > Rates]
**Current GST rate**: 9% (effective 1 January 2024)

And this sentence about the GST rate breaks off in the"""


def is_not_sure(answer: str) -> bool:
    """Return whether an answer declines, or says itself that it is not sure."""
    return answer == DECLINE or answer.startswith(UNSURE)


def ask(
    question: str, *entries: str, model: OfflineChatModel | None = None, scores: Sequence[float | None] = ()
) -> str:
    return reply_to(question, *entries, model=model, scores=scores).text


def reply_to(
    question: str, *entries: str, model: OfflineChatModel | None = None, scores: Sequence[float | None] = ()
) -> BaseMessage:
    return (model or OfflineChatModel()).invoke(prompt(question, *entries, scores=scores))


def prompt(question: str, *entries: str, scores: Sequence[float | None] = ()) -> list[BaseMessage]:
    context = "\n\n".join(entries)
    asked = HumanMessage(question, additional_kwargs={"scores": list(scores)})
    return [SystemMessage(f"Answer from the documents.\n\n<context>\n{context}\n</context>"), asked]
