"""What agents with a customer on the phone ask, by class and without a language model, is held above fixed floors."""

from collections import Counter
from pathlib import Path

import pytest

from app.settings import load_settings
from app.wings.knowledge.testing import read_cases, run
from app.wiring import open_service, sample_corpus

DESK = Path(__file__).parents[2] / "evals" / "desk"
FLOORS = {"tracking_number": 6, "small_talk": 7, "short": 6, "rate": 5, "two_in_one": 4, "email": 3}
LEAST = 40  # Of 66; documents in English alone answer no question in German or Indonesian.


@pytest.mark.slow
def test_the_questions_of_a_desk_get_what_they_should(tmp_path):
    services = open_service(load_settings(_env_file=None, chroma_path=tmp_path, llm_provider="offline"), serving=False)
    services.index.ingest([sample_corpus()])
    results = list(run(read_cases(DESK), services))
    right = Counter(one.case.file.removesuffix(".tests.yaml") for one in results if not one.differences)

    assert len(results) == 66
    assert {name: right[name] for name, least in FLOORS.items() if right[name] < least} == {}
    assert right.total() >= LEAST
