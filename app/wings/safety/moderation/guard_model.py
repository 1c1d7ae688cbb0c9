"""A language model that classifies harm, like Llama Guard, as a moderator: it writes `safe`, or `unsafe` and codes."""

import re
from typing import cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, SystemMessage
from langchain_core.prompts import ChatPromptTemplate

from chains.errors import ModerationError
from chains.ports import SELF_HARM, ModerationResult, Moderator

# The hazards of MLCommons, which Llama Guard 3 and 4 number like this.
CATEGORIES = {
    "S1": "violent-crimes",
    "S2": "non-violent-crimes",
    "S3": "sex-crimes",
    "S4": "child-exploitation",
    "S5": "defamation",
    "S6": "specialized-advice",
    "S7": "privacy",
    "S8": "intellectual-property",
    "S9": "indiscriminate-weapons",
    "S10": "hate",
    "S11": SELF_HARM,
    "S12": "sexual-content",
    "S13": "elections",
    "S14": "code-interpreter-abuse",
}
_REPLY = re.compile(r"\s*(?P<verdict>safe|unsafe)\b(?P<codes>[\sS,\d]*)", re.IGNORECASE)
_CODE = re.compile(r"S\d+", re.IGNORECASE)


def guard_moderator(model: BaseChatModel, *, policy: str | None = None) -> Moderator:
    """Return the moderator.

    Args:
        model: writes the verdict.
        policy: tells the model what is harmful, by the same codes; None for a model that was trained on a policy.
    """
    policies = [SystemMessage(policy)] if policy else []
    prompt = ChatPromptTemplate([*policies, ("human", "{question}")])
    # A prompt with one variable takes its value alone.
    return cast("Moderator", (prompt | model | read_verdict).with_config(run_name="moderation"))


def read_verdict(message: BaseMessage) -> ModerationResult:
    """Return the verdict that a guard model wrote.

    Raises:
        ModerationError: the message holds none.
    """
    reply = _REPLY.match(message.text)
    if reply is None:
        msg = "the guard model wrote neither `safe` nor `unsafe`; check MODERATION_MODEL"
        raise ModerationError(msg)
    codes = [code.upper() for code in _CODE.findall(reply["codes"])]
    return ModerationResult(
        flagged=reply["verdict"].lower() == "unsafe", categories=tuple(CATEGORIES.get(code, code) for code in codes)
    )
