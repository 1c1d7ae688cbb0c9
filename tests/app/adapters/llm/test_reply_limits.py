import gzip
import json

import pytest
import zstandard
from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr
from werkzeug import Request, Response

from app.adapters.http_client import MAX_BYTES
from app.adapters.llm.groq_compat import groq_model
from app.adapters.llm.openai_compatible import openai_compatible_model
from chains.errors import LLMReplyError
from tests.completions import completion

TEXT = "Nine percent."
REPLY = json.dumps(completion({"model": "m", "messages": [{"content": "?"}]}, TEXT)).encode()


def large() -> bytes:
    """Return what is a whole reply as JSON, with blanks after it."""
    return REPLY + b" " * (100 * 1024 * 1024)


@pytest.fixture(params=["groq", "openai-compatible"])
def model(request, httpserver) -> BaseChatModel:
    """A model at the server."""
    url, key = httpserver.url_for("").rstrip("/"), SecretStr("sk-test")
    if request.param == "groq":
        return groq_model(api_key=key, model="m", base_url=url, timeout_s=30)
    return openai_compatible_model(api_key=key, model="m", base_url=f"{url}/v1", timeout_s=30)


async def ask(model: BaseChatModel, way: str) -> str:
    return str((model.invoke("?") if way == "invoke" else await model.ainvoke("?")).text)


def serve(httpserver, payload: bytes, encoding: str | None = None) -> list[str | None]:
    """Reply with the payload, and return the list in which the encodings are kept that were asked for."""
    asked: list[str | None] = []

    def reply(request: Request) -> Response:
        asked.append(request.headers.get("Accept-Encoding"))
        headers = {"Content-Type": "application/json"} | ({"Content-Encoding": encoding} if encoding else {})
        return Response(payload, headers=headers)

    httpserver.expect_request("", method="POST").respond_with_handler(reply)
    return asked


@pytest.fixture(scope="module")
def bomb() -> bytes:
    """A small reply that is a large one when it is read."""
    compressed = gzip.compress(large())
    assert len(compressed) < MAX_BYTES // 32
    return compressed


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_replies_are_asked_for_uncompressed(httpserver, model, way):
    asked = serve(httpserver, REPLY)

    assert await ask(model, way) == TEXT
    assert asked == ["identity"]


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_a_small_reply_that_is_compressed_all_the_same_is_read(httpserver, model, way):
    serve(httpserver, gzip.compress(REPLY), "gzip")
    assert await ask(model, way) == TEXT


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
@pytest.mark.parametrize("encoding", ["zstd", "gzip, gzip"])
async def test_what_may_grow_without_a_bound_is_not_read(httpserver, model, way, encoding):
    payload = zstandard.compress(REPLY) if encoding == "zstd" else gzip.compress(gzip.compress(REPLY))
    serve(httpserver, payload, encoding)
    with pytest.raises(LLMReplyError):
        await ask(model, way)


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_a_large_reply_or_one_that_would_grow_large_is_not_read_to_its_end(httpserver, model, way, bomb):
    for reply, *encoding in ((large()[: MAX_BYTES + 1],), (bomb, "gzip")):
        httpserver.clear_all_handlers()
        serve(httpserver, reply, *encoding)
        with pytest.raises(LLMReplyError):
            await ask(model, way)
