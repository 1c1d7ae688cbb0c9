"""Passages that look like an attack, each looked at once."""

from chains.safety.screening import remembered


def test_a_passage_is_looked_at_once_and_another_one_anew():
    looked_at: list[str] = []

    def is_suspicious(text: str) -> bool:
        looked_at.append(text)
        return "ignore" in text

    known = remembered(is_suspicious)

    assert [known(text) for text in ("ignore", "rates", "ignore", "rates", "\ud800")] == [
        True,
        False,
        True,
        False,
        False,
    ]
    assert looked_at == ["ignore", "rates", "\ud800"]
