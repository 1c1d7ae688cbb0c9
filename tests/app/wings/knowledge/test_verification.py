import copy
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.wings.knowledge.verification import Document, proving_rule, seal, verify
from tests.corpora import write_documents

DOCUMENT = b"# GST Guide\n\n## Rate\n\nThe rate of GST on imports is 9 %. It was 8 % in 2023.\n"
SAYS, QUOTE = "GST on imports is at 9 %.", "The rate of GST on imports is 9 %."
ANSWER = f"{SAYS} [GST Guide > Rate]"


def read(_: Any) -> Document:
    return Document(DOCUMENT)


def extracted(text: str) -> Document:
    return Document(text, "GST Guide", [(0, 1, "Rate")])


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


def saying(says: str, **changed: Any) -> dict[str, Any]:
    return certified(says=says, answer=says, end=len(says), **changed)


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
        (saying(SAYS, title="Cosmetics and alcohol are wholly exempt"), "its title is not 'Cosmetics and"),
        (saying(SAYS, section="Alcohol is exempt"), "is not in a section 'Alcohol is exempt'"),
        (certified(table_head="# GST Guide"), "the head of the table differs"),
        (certified(answer="[GST on imports is never due.]", says=""), "the answer says something else"),
        (
            certified(answer=f"{ANSWER} [Companies pay this twice a year.]"),
            "no sentence of the certificate covers this",
        ),
        (certified(answer=f"Not so: {ANSWER}", start=8, end=8 + len(ANSWER)), "no sentence of the certificate covers"),
        (saying("[Alcohol is exempt.] GST on imports is at 9 %."), "its words differ"),
        (saying("GST on imports is at [7] 9 %."), "does not give the number 7"),
        (
            certified(sentences=[{"start": 0, "end": 9, "sources": []}, {"start": 5, "end": 9, "sources": []}]),
            "overlap",
        ),
        (certified(sources=[{}] * 501), "more than 500 sources"),
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
    [verdict] = verify(changed, lambda _: Document(DOCUMENT + b"\n## Refunds\n"))
    assert (verdict.rule, verdict.note) == ("figures", "gst.md changed elsewhere")


def test_without_documents_the_quotes_are_believed_and_a_sentence_without_a_source_is_unproven():
    assert verify(certified(bytes=[0, 9]))[0].rule == "figures"
    [verdict] = verify(certified(sources=[], answer=SAYS, end=len(SAYS)))
    assert (verdict.rule, verdict.failure, verdict.note) == (None, None, "no source is cited for it")


def test_the_words_of_a_file_that_was_extracted_are_compared_by_characters():
    source: dict[str, Any] = {"bytes": None, "characters": [5, 5 + len(QUOTE)]}

    assert verify(certified(**source), lambda _: extracted(f"Page {QUOTE}"))[0].rule == "figures"
    assert "from character 5 to 9" in str(
        verify(certified(**source), lambda _: extracted(f"Page one {QUOTE}"))[0].failure
    )


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


WHOLE = "".join(f"Rule {number} holds for goods, permits, cosmetics and alcohol. " for number in range(30))


def test_a_quote_of_everything_proves_no_recombination_of_its_words():
    assert proving_rule("Permits and alcohol holds for cosmetics.", WHOLE, "") is None


@pytest.mark.parametrize("text", ["not " * 100_000, "[" * 400_000, "a [b] " * 60_000, "1 " * 200_000, "A-" * 200_000])
def test_a_text_of_any_length_is_judged_in_linear_time(text):
    assert proving_rule(text, text, text) is None
    assert verify(saying(text), read)
    assert list(Document(text.encode() + b"\n# A\n").sections(len(text) + 2))


@pytest.mark.parametrize(
    ("document", "section"),
    [
        ("---\ntitle: 'GST Guide'\n---\n\nRate\n----\n\n", "Rate"),
        ('+++\ntitle = "GST Guide"\n+++\n## Rate ##\n### Imports\n', "Rate"),
        ("# GST Guide\n```\n# Comment\n```\n", "GST Guide"),
        ("# GST Guide\r\n\r\n## The *rate* of [GST](a.md)\r\n", "The rate of GST"),
        ("# GST Guide\n\n## Größe und Höhe\n", "Größe und Höhe"),
    ],
)
def test_title_and_section_are_found_as_the_document_has_them(document, section):
    content = document.encode() + QUOTE.encode()
    place = [len(document.encode()), len(content)]

    assert verify(saying(SAYS, bytes=place, section=section), lambda _: Document(content))[0].failure is None
    other = document.encode() + b"## Another\n# Last\n" + QUOTE.encode()
    moved = saying(SAYS, bytes=[len(other) - len(QUOTE), len(other)], section=section)
    assert "is not in a section" in str(verify(moved, lambda _: Document(other))[0].failure)


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


def test_documents_of_one_title_are_proven_and_a_title_holds_no_other_words(waypoint, tmp_path):
    fees = {"2019/lanes.md": "A lane costs 7 euro.", "2026/lanes.md": "A lane costs 9 euro.", "sauna.md": "It is hot."}
    texts = {name: f"# Pool\n\n## Lanes\n\n{words}\n" for name, words in fees.items()}
    waypoint("ingest", str(write_documents(tmp_path / "pool", texts)))
    waypoint("ask", "--proof", "proof.json", "What does a lane cost?")
    proof = json.loads(Path("proof.json").read_text())
    [source] = proof["sentences"][0]["sources"]
    assert source["title"].startswith("Pool (")
    code, out, _ = waypoint("verify", "proof.json", "--documents", "pool")
    assert (code, "0 failed" in out) == (0, True), out

    source["title"] = source["title"].replace(")", " lanes are free)")
    Path("proof.json").write_text(json.dumps(seal(proof)))
    code, out, _ = waypoint("verify", "proof.json", "--documents", "pool")
    assert (code, "its title is not 'Pool (" in out) == (1, True), out


@pytest.mark.parametrize(
    ("text", "code", "why"),
    [
        ("{", 2, "cannot be read as a certificate"),
        ("[" * 100_000, 2, "cannot be read as a certificate"),
        ('{"a":' * 900 + "1" + "}" * 900, 1, "no certificate of version 1"),
    ],
)
def test_a_file_that_is_no_certificate_is_refused_in_a_line(waypoint, tmp_path, text, code, why):
    file = tmp_path / "proof.json"
    file.write_text(text)
    exit_code, out, err = waypoint("verify", str(file))

    assert (exit_code, why in out + err, "Traceback" in err) == (code, True, False)
    assert file.read_text() == text


@pytest.mark.parametrize("file", ["proof.exe", "broken.pdf", "x" * 5000, "a\0b", "pipe.md"])
def test_a_document_that_cannot_be_read_fails_its_sentence_and_the_others_are_judged(waypoint, tmp_path, file):
    (tmp_path / "gst.md").write_bytes(DOCUMENT)
    (tmp_path / "proof.exe").write_bytes(DOCUMENT)
    (tmp_path / "broken.pdf").write_bytes(DOCUMENT)
    os.mkfifo(tmp_path / "pipe.md")
    whole = certified()
    second = copy.deepcopy(whole["sentences"][0])
    second["start"], second["end"] = len(ANSWER) + 1, 2 * len(ANSWER) + 1
    second["sources"][0] |= {"file": file, "bytes": None}
    proof = seal(whole | {"answer": f"{ANSWER} {ANSWER}", "sentences": [*whole["sentences"], second]})
    (tmp_path / "proof.json").write_text(json.dumps(proof))

    code, out, _ = waypoint("verify", str(tmp_path / "proof.json"), "--documents", str(tmp_path))

    assert (code, "1 proven, 0 unproven, 1 failed" in out) == (1, True), out
