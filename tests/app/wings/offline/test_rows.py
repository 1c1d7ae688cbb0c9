"""Which row of a table a question names, where words are compared by meaning."""

from collections.abc import Sequence

import numpy as np

from app.wings.offline.evidence import Evidence
from app.wings.offline.passages import entries
from app.wings.offline.question import read

TABLE = """[Surcharges]
| Region | Goods | Surcharge |
| --- | --- | --- |
| Norland | Chilled | 11% |
| Norland | Live animals | 26% |
| Sudmark | Frozen | 19% |"""


def near(first: Sequence[str], second: Sequence[str]) -> np.ndarray:
    pairs = [
        [1.0 if one == other else 0.6 * ({one, other} == {"frozen", "chilled"}) for other in second] for one in first
    ]
    return np.array(pairs, dtype=np.float32)


def test_a_near_word_names_no_row_where_another_row_says_the_word_itself():
    evidence = Evidence(read("What is the surcharge for frozen goods in Norland?"), entries(TABLE), near)
    assert evidence.contradicted == [True, True, True]
