"""What `support` promises, on a shipping text and on any text."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.citations.evidence import prepare
from chains.citations.support import QUOTE_LIMIT, Support, support
from chains.text.tokens import tokens

CHUNK = """## Demurrage and detention

Free time is 5 days for import containers at Jakarta. After that, demurrage of USD 60 per day is charged for a 20-foot
container.

| Container | Free days | Daily charge |
|-----------|-----------|--------------|
| 20ft dry | 5 days | USD 60 |
| 40ft dry | 5 days | USD 110 |

- Bookings must be made at least 7 days before departure.
- A Certificate of Origin (Form D) costs SGD 25 and is valid for 12 months.
- VAT rises to 12% from 1 January 2025."""
EVIDENCE = prepare(CHUNK)
ANY_TEXT = st.one_of(st.text(), st.text(alphabet="aA1 .,|#-*\n$%()'’é"), st.sampled_from([CHUNK, "", "5 days"]))


def synonyms(first, second):
    """Know one synonym: to book is to reserve."""
    return np.array([[float({a, b} == {"reservations", "bookings"}) * 0.8 for b in second] for a in first], np.float32)


@pytest.mark.parametrize("span", EVIDENCE.statements, ids=lambda span: str(span.start))
def test_every_sentence_carries_itself_and_is_its_own_quote(span):
    sentence = CHUNK[span.start : span.end]
    assert support(sentence, EVIDENCE) == Support(1.0, sentence, span.start, span.end, contradicted=False)


def test_paraphrase_is_carried():
    result = support("Import containers at Jakarta get five free days.", EVIDENCE)
    assert result.score > 0.8
    assert result.quote == "Free time is 5 days for import containers at Jakarta."


def test_half_carried_stands_between():
    whole = support("Bookings must be made before departure.", EVIDENCE).score
    half = support("Bookings must be made before departure and paid by bank transfer in advance.", EVIDENCE).score
    assert 0.2 < half < whole - 0.2


@pytest.mark.parametrize(
    "sentence",
    [
        "The Eiffel Tower was completed in Paris by Gustave Eiffel.",
        "Free time is 5 days. " * 1000,  # Longer than any passage.
    ],
)
def test_unrelated_is_not_carried(sentence):
    assert support(sentence, EVIDENCE) == Support(0.0, "", 0, 0, contradicted=False)


@pytest.mark.parametrize(
    "sentence",
    [
        "Demurrage of USD 90 per day is charged for a 20-foot container after that.",
        "VAT rises to 11% from 1 January 2025.",
        "VAT rises to 12% from 1 January 2026.",
        "A Certificate of Origin (Form D) costs SGD 35 and is valid for 12 months.",
        "A 40ft dry container is charged USD 120 daily with 5 days free.",
        "Bookings must be made at least 14 days before departure.".replace("at least ", ""),
    ],
)
def test_changed_number_contradicts(sentence):
    result = support(sentence, EVIDENCE)
    assert result.contradicted
    assert result.score < 0.3


def test_number_of_another_sentence_is_misplaced_not_contradicted():
    result = support("Free time is 7 days for import containers at Jakarta.", EVIDENCE)
    assert (result.contradicted, result.score < 0.6) == (False, True)


@pytest.mark.parametrize(
    "sentence",
    [
        "1. Bookings must be made at least 7 days before departure.",
        "9) A Certificate of Origin (Form D) is valid for 12 months.",
        "The second Certificate of Origin (Form D) costs SGD 25.",
        "Step 3: bookings must be made before departure.",
        "About 6 days of free time apply to import containers at Jakarta.",
        "A 20-foot container pays more than USD 50 per day in demurrage.",
        "Import containers at Jakarta: the terminal has 3 gates.",
        "The Certificate of Origin (Form D) was introduced in 1998.",
        "A Certificate of Origin (Form D) costs SGD 25 and takes 3 visits.",
    ],
)
def test_ordinals_labels_estimates_and_absent_numbers_do_not_contradict(sentence):
    assert not support(sentence, EVIDENCE).contradicted


def test_number_inside_a_range_does_not_contradict():
    evidence = prepare("Transit from Singapore to Jakarta takes 3-5 days by sea.")
    assert not support("Transit from Singapore to Jakarta takes 4 days by sea.", evidence).contradicted
    assert support("Transit from Singapore to Jakarta takes 9 days by sea.", evidence).contradicted


def test_similarity_lets_a_synonym_count():
    sentence = "Reservations must be made at least 7 days before departure."
    assert support(sentence, EVIDENCE, similarity=synonyms).score > support(sentence, EVIDENCE).score


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("one million", ["1000000"]),
        ("1,000,000.00", ["1000000"]),
        ("2.5 million", ["2500000"]),
        ("twelve", ["12"]),
        ("U.S.", ["us"]),
        ("on 5 Sept", ["on", "5", "septemb"]),
    ],
)
def test_numbers_and_abbreviations_have_one_form(text, keys):
    assert [token.key for token in tokens(text)] == keys


@given(sentence=ANY_TEXT, chunk=ANY_TEXT)
def test_any_text_gets_a_score_and_a_quote_of_the_chunk(sentence, chunk):
    result = support(sentence, prepare(chunk), similarity=synonyms)
    assert 0 <= result.score <= 1
    assert result.quote in chunk
    assert result.quote == chunk[result.start : result.end]
    assert len(result.quote) <= QUOTE_LIMIT


@given(chunk=ANY_TEXT)
def test_spans_are_in_order_and_keep_every_word(chunk):
    spans = prepare(chunk).statements
    assert all(left.end <= right.start for left, right in pairwise(spans))


@pytest.mark.parametrize("pattern", ["\n", "(", ". ", "|", "1.", "- ", "A.", "a ", ">\n", "'a", ",5", "# ", "x\n- "])
def test_a_long_run_of_one_pattern_is_read_to_its_end(pattern):
    text = pattern * (200_000 // len(pattern)) + ",Word 5."
    assert prepare.__wrapped__(text).statements[-1].end == len(text)
