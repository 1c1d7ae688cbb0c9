"""The offline answerer as a chat model, and on any text."""

import json
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.messages import AIMessageChunk

from app.wings.offline import MODEL_NAME, OfflineChatModel
from app.wings.offline.evidence import FEATURES
from app.wings.offline.ranker import packaged_ranker, read_ranker
from tests.app.wings.offline.asking_offline import IMPORT, NO_ANSWER, TAX, ask, prompt


async def test_every_form_says_the_same():
    messages = prompt("Which documents do I need to import into Indonesia?", IMPORT)
    model = OfflineChatModel(embeddings=DeterministicFakeEmbedding(size=8))
    chunks = [chunk.text for chunk in model.stream(messages)]
    awaited = [chunk.text async for chunk in model.astream(messages)]
    assert "".join(chunks) == "".join(awaited) == (await model.ainvoke(messages)).text == model.invoke(messages).text
    assert len(chunks) > 10


def test_metadata_and_usage_come_once():
    messages = prompt("What is the GST rate?", TAX)
    whole: AIMessageChunk | None = None
    for chunk in OfflineChatModel().stream(messages):
        whole = chunk if whole is None else whole + chunk
    assert whole is not None
    invoked = OfflineChatModel().invoke(messages)
    assert whole.response_metadata == invoked.response_metadata
    assert invoked.response_metadata.keys() == {
        "model_name",
        "finish_reason",
        "match",
        "unsure",
        "missing",
        "unsaid",
        "nearest",
    }
    assert whole.usage_metadata == invoked.usage_metadata


def test_the_reply_tells_how_likely_it_answers_and_near_passages_make_that_likelier():
    def match(*scores, question="What is the GST rate?"):
        return OfflineChatModel().invoke(prompt(question, TAX, scores=scores)).response_metadata["match"]

    assert 0 <= match(0.1) < match() <= match(1.0) <= 1
    assert match(None) == match()
    assert match(0.9, question="Where is my container?") == 0


def test_identity_for_traces():
    model = OfflineChatModel(max_sentences=2)
    assert (model._llm_type, model._identifying_params) == (
        MODEL_NAME,
        {"model_name": MODEL_NAME, "max_sentences": 2, "embeddings": None},
    )


def test_stop_sequence_ends_the_answer():
    message = OfflineChatModel().invoke(prompt("What is the GST rate?", TAX), stop=["9%"])
    assert message.text == "Current GST rate: "


def test_no_more_sentences_than_allowed():
    entry = "[Guide > Rates]\n" + " ".join(f"The GST rate for {noun} is {i}%." for i, noun in enumerate("abcdefgh"))
    assert ask("What is the GST rate?", entry, model=OfflineChatModel(max_sentences=1)).count("[Guide > Rates]") == 1


WORDS = st.lists(st.sampled_from(["the", "rate", "for", "goods", "cargo", "is", "nine", "customs", "by"]), min_size=3)


@given(st.lists(WORDS, min_size=1, max_size=5))
@settings(max_examples=50)
def test_every_quote_is_verbatim(sentences):
    text = " ".join(f"The GST {' '.join(words)}." for words in sentences)
    answer = ask("What is the GST rate?", f"[Guide > Rates]\n{text.replace('GST', '**GST**')}")
    quotes = [part.removesuffix(" [Guide > Rates]") for part in answer.split("\n\n")]
    assert answer in NO_ANSWER or all(quote in text for quote in quotes)


MARKDOWN = st.text(alphabet="abA.[]()|-*_#>`\\<!? \n1:~\u00e9\u3002", max_size=200)


@given(MARKDOWN, st.one_of(st.text(max_size=60), st.just("What is the a rate?")))
@example("AA)(AA|\u3002", "AA")
@example("1|? : \u00e9", "\u00e9")
def test_any_text_gives_an_answer_without_rubble(text, question):
    answer = ask(question, f"[Guide > a]\n{text}")
    quotes = answer.replace("[Guide > a]", "")
    assert quotes
    assert "|" not in quotes
    assert "---" not in quotes


@pytest.mark.parametrize("piece", ["[a](", "*a_", "| a ", "<a ", "a. ", "- a\n", "(\u201c", "\\["])
def test_a_long_run_of_one_piece_is_read_to_its_end(piece):
    assert ask("What is the a rate?", f"[Guide > a]\n{piece * 4000}\n\nThe a rate is 9 percent.")


def test_a_statement_that_was_compared_before_is_not_embedded_again():
    class Counting(DeterministicFakeEmbedding):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            embedded.extend(texts)
            return super().embed_documents(texts)

    embedded: list[str] = []
    model = OfflineChatModel(embeddings=Counting(size=8))

    first = ask("What is the GST rate?", TAX, model=model)
    assert ask("What is the GST rate?", TAX, model=model) == first
    assert len(embedded) == len(set(embedded)) > 0


def values(**given):
    row = [given.get(name, feature.mean) for name, feature in packaged_ranker(FEATURES).features.items()]
    return np.array([row])


def test_the_ranker_is_what_was_written():
    ranker = packaged_ranker(FEATURES)

    assert read_ranker(json.dumps(asdict(ranker)), FEATURES) == ranker


def test_weights_of_other_features_are_refused_with_the_command_that_fits_them():
    kept = asdict(packaged_ranker(FEATURES)) | {"features": {}}

    with pytest.raises(ValueError, match=r"benchmarks\.fits\.answerer"):
        read_ranker(json.dumps(kept), FEATURES)


def likelihoods(*rows, left_out=()):
    return packaged_ranker(FEATURES).probabilities(np.concatenate(rows), left_out or [False] * len(rows)).tolist()


@pytest.mark.parametrize("name", ["near", "range", "score", "meaning"])
def test_more_of_what_speaks_for_a_statement_makes_it_likelier(name):
    assert likelihoods(values(**{name: 1.0})) > likelihoods(values(**{name: 0.0}))


def test_an_unknown_similarity_is_taken_to_be_as_good_as_the_words():
    unknown = {"score": np.nan, "meaning": np.nan}

    well, badly = (likelihoods(values(near=near, **unknown)) for near in (1.0, 0.0))
    assert well > likelihoods(values(near=1.0))
    assert badly < likelihoods(values(near=0.0))


def test_a_statement_far_ahead_of_the_others_of_its_question_is_likelier():
    best, other, rival = values(near=1.0), values(near=0.0), values(near=0.95)

    assert likelihoods(best, other)[0] > likelihoods(best, rival)[0]


def test_what_is_left_out_is_no_rival_of_what_is_not():
    best, rival = values(near=1.0), values(near=0.95)

    beside, alone = likelihoods(best, rival, left_out=[False, True]), likelihoods(best)
    assert beside[0] == pytest.approx(alone[0])
    assert beside[1] < likelihoods(rival)[0]


def test_to_be_ahead_of_nothing_says_little():
    ranker, alone = packaged_ranker(FEATURES), values(near=0.0)

    assert ranker.with_lead(alone, [False], np.eye(1))[0, FEATURES.index("ahead")] < 0.5


def test_a_feature_far_from_its_mean_tells_no_more_than_one_at_the_border():
    ranker = packaged_ranker(FEATURES)

    assert ranker.scores(values(score=50.0)) == pytest.approx(ranker.scores(values(score=500.0)))
