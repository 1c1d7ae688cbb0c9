"""An answer -> for how many seconds it may be given again."""

from chains.state import Answer

# What may well be answered in a minute: a passage that was missed, a model that gave up or was cut off.
BRIEF_S = 60.0

_BRIEFLY = frozenset({"declined", "no_results", "ungrounded"})


def lifetime_s(answer: Answer, ttl_s: float) -> float:
    """Return `ttl_s` for a good answer, a minute for a poor one, and 0 for one that is not to be given again.

    Degraded answers are not kept, for the model may be back; blocked ones are judged anew each time; one that broke off
    is no answer. One that was cut off by LLM_MAX_TOKENS, or by the provider's filter, is poor.
    """
    reason = answer["metadata"]["finish_reason"]
    if answer["outcome"] in {"degraded", "blocked"} or reason == "error":
        return 0.0
    poor = answer["outcome"] in _BRIEFLY or reason not in {None, "stop"}
    return min(BRIEF_S, ttl_s) if poor else ttl_s
