"""What app/http/compat/langserve.py expects of LangServe; a version that changes it fails here."""

from importlib.resources import files

from langchain_core.messages import AIMessage
from pydantic import BaseModel

from app.http.compat import langserve


class Question(BaseModel):
    question: str


def test_the_playgrounds_script_asks_stream_log_in_one_place():
    assets = files("langserve") / "playground" / "dist" / "assets"
    scripts = [file.read_bytes() for file in assets.iterdir() if file.name.endswith(".js")]
    assert [script.count(langserve._STREAM_LOG) for script in scripts] == [1]


def test_bodies_have_the_fields_that_the_routes_read():
    bodies = {
        "invoke": langserve.invoke_body(Question),
        "batch": langserve.batch_body(Question, 3),
        "stream": langserve.stream_body(Question),
    }
    assert {name: set(body.model_fields) for name, body in bodies.items()} == {
        "invoke": {"input", "config", "kwargs"},
        "batch": {"inputs", "config", "kwargs"},
        "stream": {"input", "config", "kwargs"},
    }
    chosen = {f"{verb}_{name}" for verb in ("include", "exclude") for name in ("names", "types", "tags")}
    assert set(langserve.stream_events_body(Question).model_fields) == {"input", "config", "kwargs"} | chosen


def test_responses_have_the_fields_that_the_routes_return():
    for response in (langserve.invoke_response(dict), langserve.batch_response(dict)):
        assert set(response.model_fields) == {"output", "metadata"}


def test_messages_are_serialized_by_their_type():
    assert '"type":"ai"' in langserve.serialize({"message": AIMessage("It is 9 %.")})
