"""What readers see of the replies of a weak language model to the project's questions over the sample corpus.

`model_replies.jsonl` holds what Qwen2.5-Coder-1.5B-Instruct (Q4_K_M) wrote on 2026-11-26, one reply to each question
without a history that reached the model. The rules were chosen while they were seen, so others will do worse.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from app.settings import load_settings
from app.wiring import open_service, sample_corpus
from evals.questions import PACKAGED, read_questions
from tests.fakes import Reply

HERE = Path(__file__).parent
SURE = {"high", "medium"}


@pytest.mark.slow
def test_a_right_answer_is_shown_for_more_questions_than_the_model_answers_and_hardly_a_wrong_one_as_sure(
    groq, tmp_path
):
    lines = (HERE / "model_replies.jsonl").read_text(encoding="utf-8").splitlines()
    replies = {row["id"]: row["reply"] for row in map(json.loads, lines)}
    places = {"chroma_path": tmp_path / "chroma", "llm_base_url": groq.url, "groq_api_key": "gsk_test"}
    services = open_service(load_settings(_env_file=None, vector_store_type="memory", llm_max_retries=0, **places))
    services.index.ingest([sample_corpus()])
    seen: Counter[str] = Counter()
    for case in read_questions(PACKAGED["sample"]):
        if case.id not in replies:
            continue
        groq.replies[:] = [Reply(replies[case.id])]
        answer = services.chain.invoke({"question": case.question})
        level = answer["confidence"]["level"] if answer["confidence"] else ""
        is_sure = answer["outcome"] == "answered" and level in SURE
        is_shown = answer["outcome"] in {"answered", "unsure"}
        if not case.answer_facts:
            seen["out of scope, sure"] += is_sure and case.kind == "uncovered"
            continue
        said = "".join(answer["answer"].lower().split())
        right = all("".join(fact.lower().split()) in said for fact in case.answer_facts)
        seen["right, shown"] += right and is_shown
        seen["right, sure"] += right and is_sure
        seen["not right, sure"] += is_sure and not right
        seen["unsure"] += answer["outcome"] == "unsure"

    assert seen["right, shown"] >= 74  # Of 120; the model's own answers are 62.
    assert seen["right, sure"] >= 36
    assert seen["not right, sure"] <= 3
    assert seen["unsure"] >= 14
    assert seen["out of scope, sure"] == 0
