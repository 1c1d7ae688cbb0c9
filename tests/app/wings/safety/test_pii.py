from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig

from app.wings.safety.pii import find_entities, redact
from chains.safety.cleaning import CleanQuestions
from tests.chains.gst import gst_chain


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("mail ann.lee+x@mail.example.com now", "mail <EMAIL> now"),
        ("call me at 9123 4567 or +65 6123-4567", "call me at <PHONE> or <PHONE>"),
        ("Call (555) 123-4567 x12.", "Call <PHONE>."),
        ("my mobile is 91234567", "my mobile is <PHONE>"),
        ("card 4111 1111 1111 1111 please", "card <CREDIT_CARD> please"),
        ("IBAN DE89 3704 0044 0532 0130 00", "IBAN <IBAN>"),
        ("NRIC S1234567D and FIN F1234567N", "NRIC <NRIC> and FIN <NRIC>"),
        ("passport no. K1234567E", "passport no. <PASSPORT>"),
        ("SSN: 123-45-6789", "SSN: <SSN>"),
        ("host 192.168.1.10 and 2001:db8:85a3::8a2e:370:7334", "host <IP_ADDRESS> and <IP_ADDRESS>"),
        ("gsk_abcdefghijklmnop1234", "<API_KEY>"),
        ("the api_key=abc-DEF_123", "the <API_KEY>"),
        ("born on 31 January 1990", "born on <DATE_OF_BIRTH>"),
        ("bank account no. 123-45678-9", "bank account no. <BANK_ACCOUNT>"),
        ("acct#: 998877", "acct#: <BANK_ACCOUNT>"),
        ("call me at ٩١٢٣ ٤٥٦٧", "call me at <PHONE>"),
        ("acct#: ९९८८७७", "acct#: <BANK_ACCOUNT>"),
        ("card ४१११ ११११ ११११ ११११ please", "card <CREDIT_CARD> please"),
        ("mail ann\uff20mail.example now", "mail <EMAIL> now"),
        ("call me at +65\u20116123\u20134567", "call me at <PHONE>"),
    ],
)
def test_personal_data_gives_way_to_its_kind(text: str, redacted: str):
    assert redact(text).text == redacted


@pytest.mark.parametrize(
    "text",
    [
        "HS code 8517 1300 or 85171300, heading 8517.13.00",
        "container MSCU1234565, B/L MAEU123456789, booking 912345678",
        "postal code 238801, port SGSIN, permit IG2A123456B",
        "order 10023, order no. 91234567, invoice 2026-0042-1177",
        *("20 pallets of 1,200 kg at 1.5 m on 2026-01-31 14:30", "card 4111 1111 1111 1112", "NRIC S1234567A"),
        *("Section 3.2.1.4 of the guide", "How is a password reset? My token: what is it?"),
        "UN 3480, IMO 9319466, voyage 045W",
    ],
)
def test_numbers_of_the_trade_stay(text: str):
    assert find_entities(text) == []


@given(st.text(alphabet="0123456789 -.+()@:abcSGxX/", max_size=60))
def test_entities_follow_each_other_and_none_is_left_in_the_redacted_text(text: str):
    entities = find_entities(text)

    assert all(first.end <= second.start for first, second in pairwise(entities))
    assert redact(text).text.count("<") == len(entities)


NAMED = "I am S1234567D."
PART = {"type": "text", "text": NAMED}


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ({"question": NAMED}, ["NRIC"]),
        ({"question": "Rate?", "history": [{"role": "user", "content": NAMED}]}, None),
        ({"question": "Rate?", "history": [{"role": "user", "content": [PART, NAMED]}]}, None),
        ({"question": "Rate?", "history": (("user", NAMED), NAMED)}, None),
        ({"question": "Rate?", "history": [HumanMessage(NAMED), HumanMessage([PART])]}, None),
    ],
)
async def test_the_chain_gets_the_kinds_in_the_question_and_never_the_data(question: Any, kinds: list[str] | None):
    seen: list[Any] = []

    class Watched(CleanQuestions):
        def before(self, question: Any, config: RunnableConfig | None) -> Any:
            seen.append(super().before(question, config))
            return seen[-1]

    answer = await Watched(gst_chain("Nine percent [GST Guide > Rate]."), redact).ainvoke(question)

    assert "1234567" not in str(seen)
    assert "<NRIC>" in str(seen)
    assert "1234567" not in str(answer)
    assert seen[0].get("redacted") == kinds
