"""The answer's words -> whether the model says that the documents do not hold the answer.

The rule: one of the phrases below stands within the first 150 characters, case and the form of apostrophes apart.
"""

import re

OPENING_CHARACTERS = 150

_PHRASES = re.compile(
    r"do(?:es)? not contain|do(?:es)?n't contain|not enough information|no (?:specific )?information"
    r"|(?:cannot|can't|unable to) (?:answer|find)|could(?: not|n't) find"
    r"|do(?: not|n't) have (?:any |specific |enough )*information"
)


def is_decline(answer: str) -> bool:
    """Return whether the answer opens by saying that it has no answer."""
    return bool(_PHRASES.search(answer[:OPENING_CHARACTERS].replace("’", "'").lower()))
