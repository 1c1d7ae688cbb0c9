import pytest
from langchain_core.messages import AIMessage

from app.wings.safety.moderator import read_verdict
from chains.errors import ModerationError
from chains.ports import ModerationResult


@pytest.mark.parametrize(
    ("text", "flagged", "categories"),
    [
        ("safe", False, ()),
        ("\n\nSafe", False, ()),
        ("unsafe", True, ()),
        ("\n\nunsafe\nS1", True, ("violent-crimes",)),
        ("unsafe\nS2, S10", True, ("non-violent-crimes", "hate")),
        ("UNSAFE s11", True, ("self-harm",)),
        ("unsafe\nS99", True, ("S99",)),
    ],
)
def test_the_verdict_is_read_with_the_names_of_its_codes(text, flagged, categories):
    assert read_verdict(AIMessage(text)) == ModerationResult(flagged=flagged, categories=categories)


@pytest.mark.parametrize("text", ["", "I cannot say.", "safety first", "It is safe."])
def test_another_reply_is_no_verdict(text):
    with pytest.raises(ModerationError, match="check MODERATION_MODEL"):
        read_verdict(AIMessage(text))
