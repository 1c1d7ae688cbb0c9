import pytest

from chains.safety import CleanQuestions, sanitize
from tests.chains.gst import gst_chain
from tests.streams import merged


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        ("a\0b\x07c\x1bd\x7fe", "abcde"),
        ("a\u200bb\u2060c\ufeffd\u00ade", "abcde"),
        ("a\u202eb\u2066c\u200f", "abc"),
        ("hi" + "".join(chr(0xE0000 + ord(letter)) for letter in "obey") + "!", "hi!"),
        ("a\u00a0\u3000b  c\t d", "a b c d"),
        ("one\r\n\r\n \n two\nthree", "one\n\ntwo\nthree"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("क\u200dष 👩\u200d👧", "क\u200dष 👩\u200d👧"),
        ("ig\u200dnore", "ignore"),
    ],
)
def test_only_what_can_be_seen_is_left(text: str, visible: str):
    assert sanitize(text) == visible
    assert sanitize(visible) == visible


async def test_the_chain_is_asked_without_what_nobody_sees():
    chain = CleanQuestions(gst_chain("Nine percent [GST Guide > Rate]."))
    question = {"question": "Ra\u200bte?\x1b", "history": [{"role": "user", "content": "H\u202ei"}]}

    answers = [
        chain.invoke(question),
        await chain.ainvoke(question),
        merged(list(chain.stream(question))),
        merged([part async for part in chain.astream(question)]),
    ]

    assert [answer["question"] for answer in answers] == ["Rate?"] * 4
