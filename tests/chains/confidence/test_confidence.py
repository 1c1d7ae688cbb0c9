import json
import math
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.retrievers import BaseRetriever

from chains.confidence.calibrated import OPENINGS, CalibratedConfidence, CertifiedConfidence, load_model
from chains.confidence.composite import CompositeConfidence, answer_quality
from chains.confidence.levels import Thresholds, WithoutFactors, score_confidence, without_confidence
from chains.errors import ConfigurationError
from tests.chains.gst import Shelf, gst_chain, noting


class Scored(BaseRetriever):
    scores: list

    def _get_relevant_documents(self, query, *, run_manager):
        return [
            Document(
                f"Import GST in Singapore is 9 % of the CIF value. {number}",
                metadata={"title": "GST Guide"} | ({} if score == "absent" else {"score": score}),
            )
            for number, score in enumerate(self.scores)
        ]


def confidence(*scores, answer="Import GST is 9 % of the CIF value [GST Guide].", question="Q?", told=None, **options):
    """Return the confidence of an answer on passages with these scores; `told` is the model's own metadata."""
    model = noting(AIMessage(answer, response_metadata=told or {}))
    chain = gst_chain(retriever=Scored(scores=list(scores)), model=model, **options)
    return chain.invoke({"question": question})["confidence"]


@pytest.mark.parametrize("score", ["absent", None, "none", float("nan")])
def test_without_scores_an_answer_is_rated_by_its_support_and_never_high(score):
    found = confidence(score, score, score)
    half = confidence(score, answer="Import GST is 9 % of the CIF value [GST Guide]. The moon is made of green cheese.")

    assert (found["level"], found["score"]) == ("Medium", 0.5)
    assert found["reason"] == (
        "The retriever gives no relevance scores; rated by how well the sources support the answer"
    )
    assert "average_score" not in found["factors"]
    assert 0.2 < half["score"] < 0.3
    assert half["level"] == "Low"


@pytest.mark.parametrize(
    ("scores", "level", "reason"),
    [
        ((0.5, 0.5, 0.5), "High", "3 relevant sources with 1 citation"),
        ((0.6, None, 0.5), "High", "3 relevant sources with 1 citation"),
        ((0.5, 0.5), "Medium", "2 sources found, average relevance 50%"),
        ((0.2, 0.2), "Low", "Low relevance scores (avg 20%)"),
        ((0.9,), "Low", "Only 1 source found"),
        (("0.5", 0.5, 0.5), "High", "3 relevant sources with 1 citation"),
    ],
)
def test_the_level_follows_the_number_of_chunks_and_their_average_score(scores, level, reason):
    found = confidence(*scores)

    assert (found["level"], found["reason"]) == (level, reason)


@pytest.mark.parametrize(
    ("models", "changed", "told"),
    [
        ({None}, [], "Certified: few are wrong"),
        ({"another"}, [], "Not certified: changed model"),
        ({None}, ["index"], "Not certified: changed index"),
    ],
)
def test_high_is_given_by_a_certificate_and_only_while_it_holds(models, changed, told):
    rated = CalibratedConfidence(thresholds=Thresholds(0.01, 0.02, 0.9))
    held = CertifiedConfidence(rated, 0.1, "few are wrong", frozenset(models), lambda: changed)
    found = confidence(0.9, 0.7, confidence=held)

    assert found["level"] == ("medium" if told.startswith("Not") else "high")
    assert found["reason"].partition(". ")[0] == ("May be right" if told.startswith("Not") else "Probably right")
    assert found["reason"].endswith(f". {told}")


def test_an_answer_below_the_certified_score_is_rated_as_without_a_certificate():
    held = CertifiedConfidence(CalibratedConfidence(), 0.999, "few are wrong", frozenset({None}), list)

    assert confidence(0.9, 0.7, confidence=held) == confidence(0.9, 0.7, confidence=CalibratedConfidence())


def test_the_composite_confidence_names_its_four_factors():
    found = confidence(0.9, 0.7, confidence=CompositeConfidence(top_k=4))

    assert found["factors"] == {"retrieval": 0.8, "relevance": 0.9, "coverage": 0.5, "answer_quality": 0.6}
    assert found["score"] == pytest.approx(0.35 * 0.8 + 0.3 * 0.9 + 0.15 * 0.5 + 0.2 * 0.6)
    assert (found["level"], found["reason"]) == ("medium", "highly relevant documents, incomplete context coverage")


@pytest.mark.parametrize(
    "answer", ["No source is marked here [Nowhere].", "I don\u2019t know that, sorry [GST Guide]."]
)
def test_no_answer_without_a_valid_citation_and_none_that_declines_is_high(answer):
    found = confidence(1.0, 1.0, 1.0, answer=answer, confidence=CompositeConfidence(top_k=3))

    assert found["level"] != "high"


@pytest.mark.parametrize("strategy", [CompositeConfidence(), CalibratedConfidence()])
def test_an_outcome_that_is_no_answer_has_no_confidence(strategy):
    found = confidence(confidence=strategy)
    assert (found["level"], found["score"], found["reason"]) == ("very_low", 0.0, "No relevant documents found")


def test_may_is_a_month_and_may_is_a_doubt():
    quality = [
        confidence(0.9, answer=f"{words} in the customs office [GST Guide].", confidence=CompositeConfidence())[
            "factors"
        ]["answer_quality"]
        for words in ("The form is due on 1 May, as it was last year,", "The form may be due, as it was last year,")
    ]
    assert quality == [1.0, 0.85]


@pytest.mark.parametrize("word", ["maybe", "perhaps", "possibly", "might", "unclear", "uncertain"])
def test_a_word_of_doubt_counts_at_the_start_of_a_sentence_as_it_does_within(word):
    rest = "the form is due in the customs office of the port, as it was last year"
    within, first = (answer_quality(text) for text in (f"So {word} {rest}.", f"{word.capitalize()} {rest}."))

    assert first == within < 1


@pytest.mark.parametrize("bounds", [(0.6, 0.4, 0.8), (0.4, 0.6, 1.2), (0.5, 0.5, 0.8)])
def test_thresholds_out_of_order_are_refused(bounds):
    with pytest.raises(ConfigurationError, match="in order"):
        Thresholds(*bounds)


def test_the_thresholds_are_the_least_scores_of_the_levels():
    levels = Thresholds(0.1, 0.2, 0.3)

    assert [levels.level(score) for score in (0.09, 0.1, 0.2, 0.3)] == ["very_low", "low", "medium", "high"]


def test_factors_can_be_kept_out_and_confidence_turned_off():
    kept = confidence(0.9, confidence=WithoutFactors(CompositeConfidence()))
    off = confidence(0.9, confidence=without_confidence)

    assert (kept["factors"], kept["level"]) == ({}, "medium")
    assert off == {"level": "unknown", "score": 0.0, "reason": "Confidence is turned off", "factors": {}}


def test_an_answer_from_a_near_passage_with_the_questions_words_is_likelier_right_than_one_without():
    near = confidence(0.8, 0.3, question="How much is import GST?", confidence=CalibratedConfidence())
    far = confidence(0.3, 0.3, question="Who repairs pianos in Oslo?", confidence=CalibratedConfidence())

    assert near["score"] > far["score"] + 0.1
    assert set(near["factors"]) == load_model().factors.keys() - {"match"}


def test_a_sentence_that_no_document_says_lowers_the_calibrated_confidence_by_its_share():
    given = "Import GST is 9 % of the CIF value [GST Guide]."
    whole, partly = (
        confidence(0.9, 0.1, answer=answer, question="How much is import GST?", confidence=CalibratedConfidence())
        for answer in (given, f"{given} Elephants fly to the moon on Sundays.")
    )

    assert partly["score"] < 0.7 * whole["score"]
    assert "No document says a part of it" in partly["reason"]
    assert "No document" not in whole["reason"]


@pytest.mark.parametrize("question", ["How much is import GST?", "Who repairs pianos in Oslo?"])
@pytest.mark.parametrize("score", [0.1, 0.5, 0.9])
def test_a_models_answer_says_how_sure_it_is_and_below_high_what_to_do(question, score):
    rated = confidence(score, score / 4, question=question, confidence=CalibratedConfidence())
    words = "No source mentions “repairs”, “pianos”. " if "Oslo" in question else ""

    opening, _ = OPENINGS[rated["level"]]
    told = "" if rated["level"] == "high" else f". {words}{ADVICE}"
    assert rated["reason"] == opening + told


def test_unknown_scores_do_not_stop_the_calibrated_confidence_and_are_said():
    found = confidence(None, None, confidence=CalibratedConfidence())

    assert 0 < found["score"] < 0.8
    assert "The retriever gives no relevance scores" in found["reason"]
    assert "best_similarity" not in found["factors"]


@pytest.mark.parametrize("unsure", [False, True])
def test_an_answer_whose_statement_matches_the_question_is_likelier_right(unsure):
    def rated(match):
        options = {"told": {"match": match, "unsure": unsure}, "confidence": CalibratedConfidence()}
        return confidence(0.6, 0.4, question="How much is import GST?", **options)

    assert rated(0.95)["score"] > rated(0.62)["score"]
    assert (rated(0.95)["level"] == "low") == (rated(0.95)["score"] < Thresholds().medium) == unsure
    assert set(rated(1.0)["factors"]) == {"match"}


ADVICE = "Read the source before you pass it on"


def reason_for(question, match, **told):
    options = {"told": {"match": match} | told, "confidence": CalibratedConfidence()}
    return confidence(0.6, 0.4, question=question, **options)["reason"]


@pytest.mark.parametrize(
    ("question", "told", "named"),
    [
        ("How much is GST in Shanghai for Mr Tan?", {"missing": ["Shanghai", "Mr Tan"]}, "“Shanghai”, “Mr Tan”"),
        ("what happens to gst on used ukuleles in 2031", {}, "“ukuleles”"),
        ("How much is import GST?", {}, ""),
    ],
)
def test_an_unsure_answers_reason_tells_which_words_no_source_holds_and_what_to_do(question, told, named):
    middle = f"No source mentions {named}. " if named else ""
    expected = f"This may not be the answer. {middle}{ADVICE}"

    assert reason_for(question, 0.3, unsure=True, **told) == expected


def test_an_unsure_answers_reason_tells_which_words_its_passage_lacks_where_other_sources_hold_all():
    question, told = "How heavy is a ukulele?", {"unsure": True, "unsaid": ["heavy"]}
    lacking = f"This passage does not mention “heavy”. {ADVICE}"

    assert reason_for(question, 0.3, missing=[], **told) == f"This may not be the answer. {lacking}"
    assert "This passage" not in reason_for(question, 0.3, missing=["ukulele"], **told)


def test_the_reason_of_a_decline_tells_which_words_no_source_holds():
    decline = "I don't have specific information about that in the documents I can see."
    options = {"told": {"match": 0.1, "missing": ["ukuleles"]}, "confidence": CalibratedConfidence()}
    rated = confidence(0.6, 0.4, answer=decline, question="Is there GST on ukuleles?", **options)

    assert rated["reason"] == "No source answers this reliably. No source mentions “ukuleles”"


def test_a_quoted_answer_says_how_sure_it_is_and_of_a_medium_one_what_is_not_certain():
    asked, other = "How much is import GST?", "How much is import GST on ukuleles?"
    medium = "A source says this, but may mean another case. "

    assert reason_for(asked, 0.97) == "A source says this"
    assert reason_for(asked, 0.7) == medium + ADVICE
    assert reason_for(other, 0.7) == f"{medium}No source mentions “ukuleles”. {ADVICE}"
    assert reason_for(asked, 0.05) == f"This may not be the answer. {ADVICE}"


def test_a_model_is_what_was_written(tmp_path):
    model = load_model(None)
    (tmp_path / "own.json").write_text(model.text())

    assert load_model(tmp_path / "own.json") == model


def model_text(**changed):
    return json.dumps({"version": 1, "fitted_on": "", "intercept": 0, "factors": {}} | changed)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "Expecting value"),
        ("[" * 99_999, "cannot be used"),
        ('{"version": 1, "intercept": 1' + "0" * 400 + ', "factors": {}}', "cannot be used"),
        ("[]", "list indices"),
        (model_text(version=2), "its version is 2, not 1"),
        ('{"version": 1, "fitted_on": "", "intercept": 0}', "'factors'"),
        (model_text(factors={"luck": {"mean": 0, "scale": 1, "weight": 1}}), "there is no feature 'luck'"),
        (model_text(intercept=math.nan), "not finite"),
        (model_text(factors={"background": {"mean": 0, "scale": 0, "weight": 1}}), "scale is not positive"),
    ],
)
def test_a_model_that_does_not_fit_is_refused_with_the_reason(tmp_path, text, told):
    (tmp_path / "own.json").write_text(text)

    with pytest.raises(ConfigurationError, match=r"own\.json.*--fit") as caught:
        load_model(tmp_path / "own.json")
    assert told in str(caught.value)


def test_a_model_that_is_not_there_is_an_error_that_names_the_setting(tmp_path):
    with pytest.raises(ConfigurationError, match="check CONFIDENCE_MODEL"):
        load_model(tmp_path / "none.json")


@pytest.mark.parametrize("intercept", ["1e308", "-1e308", "-800"])
def test_weights_of_any_size_give_a_probability(tmp_path, intercept):
    (tmp_path / "own.json").write_text(
        f'{{"version": 1, "intercept": {intercept}, "factors": {{}}, "fitted_on": "nothing"}}'
    )

    assert 0 <= load_model(tmp_path / "own.json").probability({}) <= 1


ONE_SUBJECT = [
    ("The warehouse closes at 18:00.", "The warehouse closes at 20:00.", "18:00 and 20:00"),
    ("The rate of GST on imports is 9 %.", "GST on imports is charged at a rate of 7 %.", "9 % and 7 %"),
    ("An export permit is valid for 14 days.", "Export permits are valid for 21 days.", "14 days and 21 days"),
    (
        "The penalty for a late declaration is S$500.",
        "A late declaration carries a penalty of S$1,000.",
        "S$500 and S$1,000",
    ),
    (
        "Customs records are kept for five years.",
        "Customs records have to be kept for seven years.",
        "five years and seven years",
    ),
    ("The rate of GST on imports is 9 %.", "| Tax | Rate |\n|---|---|\n| GST on imports | 7 % |", "9 % and 7 %"),
    ("The head office of Maersk is in Copenhagen.", "The head office of Maersk is in Oslo.", "Copenhagen and Oslo"),
]
TITLES = ("Desk guide", "Price list", "Notes")
STRATEGIES = [CalibratedConfidence(), CompositeConfidence(), score_confidence]


def shelf(*texts: str, **metadata: Any) -> Shelf:
    documents = [
        Document(text, metadata={"title": title, "doc_id": title, "score": 0.9} | metadata)
        for title, text in zip(TITLES, [*texts, "Nothing of that."], strict=True)
    ]
    return Shelf(documents=documents)


def compared(first: str, second: str, strategy: Any = score_confidence, **metadata: Any) -> Any:
    chain = gst_chain(f"{first[:-1]} [1].", retriever=shelf(first, second, **metadata), confidence=strategy)
    answer = chain.invoke({"question": f"Is it so? {first}"})
    assert answer["outcome"] == "answered"
    return answer["confidence"]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(("first", "second", "figures"), ONE_SUBJECT)
def test_sources_that_disagree_hold_the_confidence_at_medium_and_both_are_named(first, second, figures, strategy):
    sure, unsure = compared(first, first, strategy), compared(first, second, strategy)

    one, other = figures.split(" and ")
    assert unsure["reason"] == f"The sources disagree: {one} (Desk guide) and {other} (Price list); check them"
    assert (sure["level"].lower(), unsure["level"].lower()) in {("high", "medium"), ("medium", "medium")}
    assert unsure["score"] <= sure["score"]


def test_two_figures_within_one_document_are_no_disagreement():
    first, second, _ = ONE_SUBJECT[1]

    assert "disagree" not in compared(first, second, doc_id="guide")["reason"]


def test_a_heading_says_what_a_statement_is_about():
    texts = ("The rate is 9 % of the customs value.", "The rate is 7 % of the customs value.")

    assert "disagree" in compared(*texts, section="Import GST")["reason"]


def test_of_two_statements_that_answer_the_question_one_may_say_more():
    sure = "GST on imports into Singapore is 9 % of the CIF value plus any duty."
    chain = gst_chain(f"{sure[:-1]} [1].", retriever=shelf(sure, "GST on imports is 8 %."), confidence=score_confidence)

    assert (
        "9 % (Desk guide) and 8 %"
        in chain.invoke({"question": "How high is the GST on imports?"})["confidence"]["reason"]
    )
    assert "disagree" not in chain.invoke({"question": "What is a carnet?"})["confidence"]["reason"]
