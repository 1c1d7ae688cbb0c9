import re
from html.parser import HTMLParser

import pytest

from evals.metrics import Metric, evaluate
from evals.output import counts_text, table_text
from evals.report import html_report
from evals.worst import reason, worst
from tests.evals.test_metrics import GST, case, chunk, row

VOID = {"meta", "rect", "line", "circle", "br", "polyline"}


class Balanced(HTMLParser):
    """Fails where a tag is closed that was not the last one opened."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        if tag not in VOID or (tag == "circle"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


CASES = [case("1"), case("2", kind="action", gold=())]
ROWS = [
    row(
        "1",
        answer="<script>alert(1)</script> & 9 %",
        cited=["01_regulatory_gst"],
        retrieved=[chunk("01_regulatory_gst")],
    ),
    row("2", outcome="declined"),
]


def test_the_page_is_whole_needs_nothing_beside_it_and_escapes_what_it_shows():
    page, parser = html_report(CASES, ROWS, facts={"retriever_type": "<similarity>"}), Balanced()
    parser.feed(html_report([], [], facts={}))
    parser.feed(page)

    assert parser.open == []
    assert {"svg", "table", "details"} <= parser.seen
    assert not re.search(r"<script|<link|<img|src=|href=|url\(|@import", page)
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; 9 %" in page
    assert "&lt;similarity&gt;" in page
    assert [metric.name for metric in evaluate(CASES, ROWS) if metric.name not in page] == []
    assert page.count("<details>") == 2


def test_the_worst_come_first_confident_answers_before_declines_and_right_ones_never():
    cases = [case("declined"), case("doubted", kind="action"), case("right"), case("sure", kind="uncovered")]
    rows = [
        row("declined", outcome="declined", score=0.0),
        row("doubted", score=0.2),
        row("right", cited=["01_regulatory_gst"], score=0.99),
        row("sure", score=0.9),
    ]
    assert [found.id for found, _ in worst(list(zip(cases, rows, strict=True)))] == ["sure", "doubted", "declined"]


@pytest.mark.parametrize(
    ("asked", "given", "told"),
    [
        (case(kind="uncovered"), row(), "answered, where no answer is right"),
        (case(kind="underspecified"), row(), "answered, where a question back or no answer is right"),
        (case(), row(outcome="no_results"), "not answered (no_results), although the documents hold it"),
        (case(), row(cited=["other"]), "answered without a citation of a gold document"),
        (case(answer_facts=("9%", "gst")), row(answer="GST", cited=["01_regulatory_gst"]), "the answer lacks '9%'"),
        (case(gold=(), answer_facts=("gst",)), row(answer="GST"), "answered without a valid citation"),
    ],
)
def test_what_is_wrong_is_said_in_words(asked, given, told):
    assert reason(asked, given) == told


def test_a_wrong_row_stands_with_its_evidence_where_it_was_found_and_what_was_cited():
    asked = case(answer_facts=("9%",))
    found = [chunk("x"), chunk(GST.doc_id, "The rate is 9 %")]
    page = html_report([asked], [row(answer="8 <b>", cited=["01_regulatory_gst"], retrieved=found)], facts={})

    assert "<b>gold</b> 01_regulatory_gst: The rate is 9 %" in page
    assert "<b>found</b> at rank 2" in page
    assert "<b>cited</b> 01_regulatory_gst" in page
    assert "8 &lt;b&gt;" in page


def test_the_table_groups_metrics_and_shows_what_is_missing():
    text = table_text(
        [
            Metric("retrieval", "hit", 0.5, 4),
            Metric("latency", "p50 (ms)", 12.34, 4),
            Metric("latency", "p95 (ms)", None, 0),
        ]
    )
    assert text.splitlines() == [
        *("retrieval", "  hit          0.500  of 4", "", "latency", "  p50 (ms)      12.3  of 4"),
        "  p95 (ms)         -  of 0",
    ]


def test_an_interval_stands_beside_its_figure_and_is_explained():
    text = table_text([Metric("retrieval", "hit", 0.5, 4, 0.25, 0.75), Metric("retrieval", "miss", None, 0)])
    assert text.splitlines() == [
        *("retrieval", "  hit      0.500  of 4  0.250 to 0.750", "  miss         -  of 0", ""),
        "From low to high: the 95 % interval, by bootstrap over the questions.",
    ]


def test_the_counts_name_every_question_that_no_figure_of_right_counts():
    cases = [case("1"), case("2", gold=()), case("3", kind="underspecified", gold=()), case("4")]
    assert counts_text(cases, [row("1"), row("2"), row("3")]).splitlines() == [
        "4 questions: 3 answerable, 1 underspecified",
        "1 without an answer in the rows, 1 in scope without gold or facts: never counted as right or wrong",
    ]
