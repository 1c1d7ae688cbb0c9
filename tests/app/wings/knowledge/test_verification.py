import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.wings.knowledge.verification import proving_rule, seal, verify

DOCUMENT = b"# GST Guide\n\n## Rate\n\nThe rate of GST on imports is 9 %. It was 8 % in 2023.\n"
SAYS, QUOTE = "GST on imports is at 9 %.", "The rate of GST on imports is 9 %."
ANSWER = f"{SAYS} [GST Guide > Rate]"


def read(_: Any) -> bytes:
    return DOCUMENT


def certified(**changed: Any) -> dict[str, Any]:
    """Return a certificate of one sentence, with other values of the whole, the sentence or its source."""
    start = DOCUMENT.index(QUOTE.encode())
    source: dict[str, Any] = {
        "doc_id": "gst",
        "title": "GST Guide",
        "section": "Rate",
        "table_head": "",
        "file": "gst.md",
        "page": None,
    }
    source |= {"sha256": "", "bytes": [start, start + len(QUOTE)], "characters": [start, start + len(QUOTE)]}
    source |= {"quote": QUOTE, "support": 0.9, "rule": "figures"}
    sentence: dict[str, Any] = {"start": 0, "end": len(ANSWER), "says": SAYS, "sources": [source]}
    whole: dict[str, Any] = {"version": 1, "question": "Rate?", "answer": ANSWER, "sentences": [sentence]}
    for part in (source, sentence, whole):
        part.update({name: value for name, value in changed.items() if name in part})
    return seal(whole)


def saying(says: str) -> dict[str, Any]:
    return certified(says=says, answer=says, end=len(says))


def test_a_sentence_that_its_quote_gives_in_other_words_is_proven():
    [verdict] = verify(certified(), read)

    assert (verdict.rule, verdict.failure) == ("figures", None)


@pytest.mark.parametrize(
    ("certificate", "why"),
    [
        (saying("GST on imports is at 7 %."), "does not give the number 7%"),
        (saying("GST on imports to Malaysia is at 9 %."), "does not name Malaysia"),
        (saying("GST on imports is not at 9 %."), "only one of the two negates"),
        (saying("Elephants carry 9 % heavier loads uphill."), "its words differ"),
        (certified(answer="GST on imports is at 7 %. [GST Guide > Rate]"), "the answer says something else"),
        (certified(answer=f"{ANSWER} Companies pay this twice a year."), "no sentence of the certificate covers this"),
        (certified(quote="The rate of GST on imports is 7 %."), "no longer holds the quote"),
        (certified(bytes=[0, 34]), "the quote moved from byte 0 to 22"),
        (certified(table_head="| Country | Rate |"), "the head of the table differs"),
        (certified(version=9), "it has version 9; this program reads 1"),
        (certified() | {"question": "Another?"}, "its hash does not fit"),
    ],
)
def test_what_was_changed_is_named(certificate, why):
    failures = [verdict.failure for verdict in verify(certificate, read) if verdict.failure]

    assert any(why in failure for failure in failures)


def test_a_document_that_is_gone_is_named_and_one_that_changed_elsewhere_is_noted():
    changed = seal(copy.deepcopy(certified()))

    assert verify(changed, lambda _: None)[0].failure == "gst.md is not there"
    [verdict] = verify(changed, lambda _: DOCUMENT + b"\n## Refunds\n")
    assert (verdict.rule, verdict.note) == ("figures", "gst.md changed elsewhere")


def test_without_documents_the_quotes_are_believed_and_a_sentence_without_a_source_is_unproven():
    assert verify(certified(bytes=[0, 9]))[0].rule == "figures"
    [verdict] = verify(certified(sources=[]))
    assert (verdict.rule, verdict.failure, verdict.note) == (None, None, "no source is cited for it")


def test_the_words_of_a_file_that_was_extracted_are_compared_by_characters():
    source: dict[str, Any] = {"bytes": None, "characters": [5, 5 + len(QUOTE)]}

    assert verify(certified(**source), lambda _: f"Page {QUOTE}")[0].rule == "figures"
    assert "from character 5 to 9" in str(verify(certified(**source), lambda _: f"Page one {QUOTE}")[0].failure)


@pytest.mark.parametrize(
    ("sentence", "quote", "rule"),
    [
        ("**Samples** are exempt.", "“Samples” are exempt.", "quoted"),
        ("Samples are exempt.", "No samples are exempt.", None),
        ("Samples are exempt.", "It is not due. Samples are exempt.", "quoted"),
        ("", "Samples are exempt.", None),
        ("2022, then 2022.", "2022, then 2028.", None),
    ],
)
def test_the_rule_that_proves_a_sentence(sentence, quote, rule):
    assert proving_rule(sentence, quote, "") == rule


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_what_is_no_certificate_fails_without_a_traceback(value):
    certificate = {"version": 1, "sha256": "", "answer": value, "sentences": [value]}

    assert verify(value, read)[0].failure
    assert verify(certificate, read)[0].failure


def test_the_proof_of_an_answer_is_verified_until_its_document_changes(waypoint, tmp_path):
    folder, proof = tmp_path / "desk", tmp_path / "proof.json"
    file = folder / "gst.md"
    folder.mkdir()
    file.write_bytes(b"---\ntitle: GST Guide \xe2\x80\x93 Singapore\n---\n" + DOCUMENT)
    waypoint("ingest", str(folder))

    code, _, err = waypoint("ask", "--proof", str(proof), "What is the rate of GST on imports?")
    verified = waypoint("verify", str(proof), "--documents", str(folder))
    file.write_text(file.read_text().replace("9 %", "10 %"))
    changed = waypoint("verify", str(proof), "--documents", str(folder))

    assert (code, f"waypoint verify {proof}" in err) == (0, True)
    [source] = json.loads(proof.read_text())["sentences"][0]["sources"]
    assert (source["file"], source["bytes"][0] - source["characters"][0]) == ("gst.md", 2)  # The dash has three bytes.
    assert (verified[0], "0 failed" in verified[1]) == (0, True)
    assert changed[0] == 1
    assert "gst.md changed: it no longer holds the quote" in changed[1]


def test_a_file_that_is_no_certificate_is_refused_in_a_line(waypoint, tmp_path):
    file = tmp_path / "proof.json"
    file.write_text("{")
    code, _, err = waypoint("verify", str(file))

    assert code == 2
    assert "cannot be read as a certificate" in err
    assert "Traceback" not in err
    assert Path(file).read_text() == "{"
