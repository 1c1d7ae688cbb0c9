import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cli.rendering import answer_text, as_json, complain, in_lines, problem_lines, report_text, show
from chains.ingestion.files import Problem
from chains.ingestion.index import FileChange, Report


def citation(section: str, **values: Any) -> dict[str, Any]:
    plain = {"title": "Guide", "section": section, "page": None, "doc_id": "guide", "number": None, "support": 1.0}
    words = {"quote": "Nine percent.", "source_urls": []}
    return plain | words | {"matched": True, "attributed": False, "contradicted": False} | values


def passage(quote: str, **values: Any) -> dict[str, Any]:
    plain = {"doc_id": "guide", "title": "Guide", "section": "Rate", "page": 3, "url": "https://example.org/g"}
    return plain | {"quote": quote, "marked": "", "table_head": ""} | values


METADATA = {"query": "Thanks! And VAT?", "search_query": "And VAT?", "model": "m", "latency_ms": 12.3}
METADATA |= {"finish_reason": None}


def parts(**values: Any) -> list[dict[str, Any]]:
    answer = {
        "answer": "Nine percent.",
        "citations": [],
        "sources": [],
        "related_docs": [],
        "closest": [],
        "unsupported": [],
        "draft": "",
        "outcome": "answered",
        "confidence": {"level": "High", "reason": "3 relevant sources"},
        "metadata": METADATA,
    }
    return [{name: value} for name, value in (answer | values).items()]


def shown(**values: Any) -> str:
    return "".join(answer_text(parts(**values)))


def test_what_is_marked_comes_first_and_what_is_attributed_only_where_it_leads_elsewhere():
    cited = [
        citation("Rate", attributed=True),
        citation("Rate", number=1),
        citation("Relief", attributed=True),
        citation("Invented", matched=False),
    ]
    text = shown(citations=cited)
    assert (
        "Citations:\n  [1] Guide > Rate (support 1.00)\n  Guide > Relief (no marker in the text, support 1.00)" in text
    )
    assert "Invented" not in text


TOLD = {
    "what was searched for, where words were added": (
        {"metadata": METADATA | {"search_query": "What is the VAT?"}},
        "\n\nSearched for: What is the VAT?\n\n",
    ),
    "an answer that was cut off": ({"metadata": METADATA | {"finish_reason": "length"}}, "cut off at LLM_MAX_TOKENS"),
    "an answer that broke off": ({"metadata": METADATA | {"finish_reason": "error"}}, "the language model broke off"),
    "what was taken out of the question": (
        {"metadata": METADATA | {"safety": {"redacted": ["EMAIL", "CREDIT_CARD"]}}},
        "\nRemoved from the question: email, credit card\n",
    ),
    "a replaced answer is withdrawn": (
        {"replacement": "I could not find it.", "outcome": "ungrounded"},
        "The answer above is withdrawn: I could not find it.",
    ),
    "the answer in the language of the question": (
        {"answer_translation": "Der Satz beträgt 9 %.\n- Mehr nicht."},
        "Translation, written by the language model:\n  Der Satz beträgt 9 %.\n  - Mehr nicht.\n",
    ),
    "what no document says": (
        {"answer": "It is 9 %. Elephants fly.", "unsupported": [[11, 25]]},
        "No passage says this:\n  Elephants fly.\n",
    ),
}


@pytest.mark.parametrize(("changes", "told"), TOLD.values(), ids=TOLD)
def test_what_is_not_as_usual_is_said_in_words(changes, told):
    assert told in shown(**changes)
    assert told not in shown(metadata=METADATA | {"search_query": "And VAT?"})


def test_a_place_is_named_once_with_its_numbers_and_the_quotes_that_the_answer_does_not_say():
    quotes = ["Nine percent.", "| Import | 9 % |", "| Import | 9 % |"]
    cited = [citation("Rate", number=1, quote=quote, source_urls=["https://example.org/g"]) for quote in quotes]
    said = "Citations:\n  [1] Guide > Rate (support 1.00)\n      https://example.org/g\n      “Import: 9 %”\n\n"
    assert said in shown(citations=cited)

    cited = [citation("Rate", number=number, page=page) for number, page in ((1, 3), (2, 3), (3, 4))]
    said = "[1] [2] Guide > Rate, page 3 (support 1.00)\n  [3] Guide > Rate, page 4 (support 1.00)\n"
    assert said in shown(citations=cited)


def test_the_closest_passages_of_a_section_stand_below_its_name_with_the_best_statement_marked():
    row = "| Dog | £52 |"
    closest = [
        passage("Prices are\n per visit.\n\n- **Cash** only.", marked="Prices are\n per visit."),
        passage(f"{row}\n| Cat | £53 |", table_head="| Animal | Price |\n|---|---|", marked=row),
    ]
    text = shown(outcome="declined", closest=closest)
    assert text.partition("Closest passages:\n")[2].startswith(
        "  Guide > Rate, page 3, https://example.org/g\n"
        "    > Prices are per visit.\n"
        "    - Cash only.\n"
        "    > Dog – Price: £52.\n"
        "      Cat – Price: £53.\n"
        "\n"
    )


def test_an_unsure_answer_is_not_withdrawn_and_what_is_no_answer_to_rate_shows_no_confidence():
    text = shown(outcome="unsure", replacement="Am nächsten kommt:\n\nNine percent.")
    assert (text.startswith("Nine percent.\n\n"), "withdrawn" in text) == (True, False)
    assert "Confidence" not in shown(outcome="small_talk", confidence=None)


HOSTILE = "\x1b]0;title\x07\x1b[2J\x9b31m\x7f\r\u202e\ud800"


def test_nothing_that_a_terminal_would_obey_is_printed_even_in_pieces(capsys):
    for piece in ("\x1b", "[2", "J", HOSTILE):
        show(piece, end="")
    complain(HOSTILE)

    captured = capsys.readouterr()
    assert [letter for letter in captured.out + captured.err if not letter.isprintable() and letter != "\n"] == []
    assert captured.out.startswith("\N{REPLACEMENT CHARACTER}[2J")


def test_json_on_a_terminal_holds_escapes_that_read_back(capsys):
    show(as_json({"title": HOSTILE, "text": "café\n"}))

    printed = capsys.readouterr().out
    assert [letter for letter in printed if not letter.isprintable() and letter != "\n"] == []
    assert json.loads(printed) == {"title": HOSTILE, "text": "café\n"}
    assert "café" in printed


def streamed(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


@pytest.mark.parametrize("size", [1, 3, 100])
def test_streamed_lines_end_between_words_and_keep_their_indent(size):
    text = "The rate of GST is 9 %.\n\n  [1] Guide > Rate of the tax\nunbreakable_and_long\n"

    assert "".join(in_lines(streamed(text, size), 15)) == (
        "The rate of GST\nis 9 %.\n\n  [1] Guide >\n  Rate of the\n  tax\nunbreakable_and_long\n"
    )


@given(st.text(), st.integers(1, 20), st.integers(1, 9))
def test_wrapping_changes_nothing_but_blanks_and_line_ends(text, width, size):
    assert "".join("".join(in_lines(streamed(text, size), width)).split()) == "".join(text.split())


def test_words_are_shown_before_the_stream_ends():
    def stream():
        yield "The rate is "
        raise InterruptedError

    lines = in_lines(stream(), 80)
    assert next(lines) + next(lines) + next(lines) == "The rate is"


def test_a_dry_run_names_the_files_and_says_would_and_how_many_files_are_internal_is_said():
    changes = [FileChange("a.md", "add"), FileChange("b", "remove")]
    report = Report(files=2, chunks=5, added=3, deleted=1, changes=changes)
    first, second, last = report_text(report, dry_run=True).splitlines()
    assert (first, second) == ("would add a.md", "would remove b")
    assert last.startswith("2 files, 5 chunks: would add 3 chunks, update 0, keep 0, delete 1; nothing was changed.")
    assert report_text(Report(files=3, internal=2, chunks=5)).endswith("; 2 of the files are internal")


def test_a_file_name_or_a_title_with_a_line_end_forges_no_line():
    report: Any = SimpleNamespace(skipped=[], warnings=[], problems=[Problem("a\nskipped b.md", "no text")])
    assert problem_lines(report) == ["cannot use a\\u000askipped b.md: no text"]

    text = shown(citations=[citation("Rate\nConfidence: High", number=1)])
    assert text.count("\nConfidence: High") == 1
