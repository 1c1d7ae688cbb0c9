"""A sentence that denies what its passage says, or says what the passage denies, does not read as supported."""

import pytest

from chains.citations.evidence import prepare
from chains.citations.support import LEAST_SUPPORT, support

PASSAGE = """Face creams may be shipped by air. Used machinery is not allowed into the free zone.
Bookings must be made no later than 7 days before departure. Smoking is prohibited in the warehouse of the desk.
If the invoice is not signed, the broker returns the papers. The carrier does not refund the booking fee."""
EVIDENCE = prepare(PASSAGE)


@pytest.mark.parametrize(
    "sentence",
    [
        *("Face creams may not be shipped by air at all.", "Face creams can't be shipped by air."),
        *("Used machinery is allowed into the free zone too.", "Bookings must not be made 7 days before departure."),
        "The carrier does refund the booking fee.",
    ],
)
def test_what_is_denied_on_one_side_alone_is_not_supported(sentence):
    found = support(sentence, EVIDENCE)
    assert (found.score < LEAST_SUPPORT, found.contradicted) == (True, False)


@pytest.mark.parametrize(
    "sentence",
    [
        *("Face creams may be shipped by air, too.", "Into the free zone used machinery is not allowed."),
        *("Used machinery isn't allowed into the free zone.", "Bookings must be made 7 days before departure."),
        "Smoking is not allowed in the warehouse of the desk.",
        "The broker returns the papers if the invoice is signed by nobody.",
        "No refund of the booking fee: the carrier does not refund it.",
    ],
)
def test_limits_conditions_and_other_words_for_a_denial_deny_nothing(sentence):
    assert support(sentence, EVIDENCE).score >= LEAST_SUPPORT
