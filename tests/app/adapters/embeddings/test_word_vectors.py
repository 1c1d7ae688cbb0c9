import tracemalloc

import numpy as np

from app.adapters.embeddings.onnx.weights import find_weights
from app.adapters.embeddings.onnx.words import WordVectors


def test_a_word_is_near_to_its_synonyms_and_one_outside_the_table_to_none():
    cosines = WordVectors(find_weights())(["sister", "zqaaaa"], ["siblings", "invoice"])

    assert cosines[0, 0] > 0.5 > cosines[0, 1]
    assert not np.any(cosines[1])


def test_nothing_is_kept_of_words_outside_the_table():
    vectors = WordVectors(find_weights())
    tracemalloc.start()
    for number in range(1_000):
        vectors([f"zq{number}zq"], ["invoice"])
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert kept < 50_000
