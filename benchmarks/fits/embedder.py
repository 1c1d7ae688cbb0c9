"""Build the ONNX graph of the embedding model, BERT's encoder, whose weights stay in the safetensors file.

`python -m benchmarks.fits.embedder` writes it beside the code that opens it; a test holds that it is this one.

BERT's encoder is that of Devlin et al. 2018 (https://arxiv.org/abs/1810.04805), sizes as in the model's config.json;
pooling and norm are those of the model card (https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2).
"""

import math
from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any

from onnx import ModelProto, NodeProto, TensorProto, helper
from safetensors import safe_open

from app.adapters.embeddings.onnx import GRAPH, WEIGHTS, find_weights

LAYERS = 6
HEADS = 12
HIDDEN = 384
LAYER_NORM_EPSILON = 1e-12


class _Graph:
    """Nodes and tensors as they are added; every method takes and returns names of values."""

    def __init__(self, weights: Mapping[str, TensorProto]) -> None:
        self.nodes: list[NodeProto] = []
        self.tensors: dict[str, TensorProto] = {}
        self._weights = weights

    def add(self, operator: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        output = output or f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [output], **attributes))
        return output

    def integers(self, *values: int) -> str:
        name = f"integers_{'_'.join(map(str, values))}"
        self.tensors[name] = helper.make_tensor(name, TensorProto.INT64, [len(values)], values)
        return name

    def weight(self, name: str) -> str:
        self.tensors[name] = self._weights[name]
        return name

    def linear(self, rows: str, layer: str) -> str:
        return self.add("Gemm", rows, self.weight(f"{layer}.weight"), self.weight(f"{layer}.bias"), transB=1)

    def add_and_norm(self, rows: str, residual: str, layer: str) -> str:
        weight, bias = self.weight(f"{layer}.weight"), self.weight(f"{layer}.bias")
        total = self.add("Add", rows, residual)
        return self.add("LayerNormalization", total, weight, bias, epsilon=LAYER_NORM_EPSILON)


def references(weights: Path) -> dict[str, TensorProto]:
    """Return references to the tensors of a safetensors file, by their names.

    The tensors follow the header without gaps (https://huggingface.co/docs/safetensors). Their places are needed, not
    their contents, so that the graph is small, onnxruntime maps the file and the weights are in memory once.
    """
    with safe_open(weights, framework="numpy") as file:
        tensors = {name: file.get_slice(name) for name in file.offset_keys()}
        shapes = {name: tuple(tensor.get_shape()) for name, tensor in tensors.items()}
        bits = {name: int(tensor.get_dtype()[1:]) for name, tensor in tensors.items()}  # Like "F32".
    lengths = [math.prod(shape) * bits[name] // 8 for name, shape in shapes.items()]
    offsets = accumulate(lengths[:-1], initial=weights.stat().st_size - sum(lengths))
    found = {}
    for (name, shape), offset, length in zip(shapes.items(), offsets, lengths, strict=True):
        found[name] = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape)
        found[name].data_location = TensorProto.EXTERNAL
        for key, value in (("location", weights.name), ("offset", offset), ("length", length)):
            found[name].external_data.add(key=key, value=str(value))
    return found


def build_graph(weights: Path) -> ModelProto:
    """Return the graph; its weights stay in their file.

    Inputs are `ids` (int64) and `mask` (int32, 1 for a token and 0 for padding), both batch x tokens; the output is
    `vectors` (float32), batch x 384, each of length one.
    """
    graph = _Graph(references(weights))
    sizes = graph.add("Concat", graph.add("Shape", "ids"), graph.integers(HIDDEN), axis=0)
    rows = _embeddings(graph)
    for layer in range(LAYERS):
        rows = _layer(graph, rows, sizes, f"encoder.layer.{layer}")
    _pool(graph, graph.add("Reshape", rows, sizes))
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch", "tokens"])
    mask = helper.make_tensor_value_info("mask", TensorProto.INT32, ["batch", "tokens"])
    vectors = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["batch", HIDDEN])
    whole = helper.make_graph(graph.nodes, "all-MiniLM-L6-v2", [ids, mask], [vectors], list(graph.tensors.values()))
    operators = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(whole, ir_version=10, opset_imports=operators)


def _embeddings(graph: _Graph) -> str:
    """Word, position and segment embeddings, summed and normed; one row of 384 for each token of the batch."""
    zero, one, two = graph.integers(0), graph.integers(1), graph.integers(2)
    tokens = graph.add("Slice", graph.add("Shape", "ids"), one, two)
    words = graph.add("Gather", graph.weight("embeddings.word_embeddings.weight"), "ids")
    positions = graph.add("Slice", graph.weight("embeddings.position_embeddings.weight"), zero, tokens)
    segment = graph.add("Slice", graph.weight("embeddings.token_type_embeddings.weight"), zero, one)
    total = graph.add("Add", words, graph.add("Add", positions, segment))
    weight, bias = graph.weight("embeddings.LayerNorm.weight"), graph.weight("embeddings.LayerNorm.bias")
    normed = graph.add("LayerNormalization", total, weight, bias, epsilon=LAYER_NORM_EPSILON)
    return graph.add("Reshape", normed, graph.integers(-1, HIDDEN))


def _layer(graph: _Graph, rows: str, sizes: str, name: str) -> str:
    """Self-attention, then the feed-forward network, each added to its input and normed."""
    attended = graph.linear(_attention(graph, rows, sizes, name), f"{name}.attention.output.dense")
    rows = graph.add_and_norm(attended, rows, f"{name}.attention.output.LayerNorm")
    wide = graph.add("Gelu", graph.linear(rows, f"{name}.intermediate.dense"))
    return graph.add_and_norm(graph.linear(wide, f"{name}.output.dense"), rows, f"{name}.output.LayerNorm")


def _attention(graph: _Graph, rows: str, sizes: str, name: str) -> str:
    """Twelve heads of scaled dot-product attention over the tokens that are no padding.

    onnxruntime's fused operator is faster for a query than the same in standard operators, and needs less memory.
    """
    parts = [graph.linear(rows, f"{name}.attention.self.{part}") for part in ("query", "key", "value")]
    parts = [graph.add("Reshape", part, sizes) for part in parts]
    attended = graph.add("MultiHeadAttention", *parts, "", "mask", num_heads=HEADS, domain="com.microsoft")
    return graph.add("Reshape", attended, graph.integers(-1, HIDDEN))


def _pool(graph: _Graph, hidden: str) -> None:
    """Mean over the tokens that are no padding, then L2 norm; the norm cancels the mean's divisor, so a sum will do."""
    weights = graph.add("Unsqueeze", graph.add("Cast", "mask", to=TensorProto.FLOAT), graph.integers(2))
    total = graph.add("ReduceSum", graph.add("Mul", hidden, weights), graph.integers(1), keepdims=0)
    graph.add("LpNormalization", total, axis=-1, p=2, output="vectors")


if __name__ == "__main__":
    GRAPH.write_bytes(build_graph(find_weights() / WEIGHTS).SerializeToString())
