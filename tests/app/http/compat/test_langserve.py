"""What app/http/compat/langserve.py expects of LangServe; a version that changes it fails here."""

from importlib.resources import files

from langchain_core.messages import AIMessage

from app.http.compat import langserve


def test_the_playgrounds_script_asks_stream_log_in_one_place():
    assets = files("langserve") / "playground" / "dist" / "assets"
    scripts = [file.read_bytes() for file in assets.iterdir() if file.name.endswith(".js")]
    assert [script.count(langserve._STREAM_LOG) for script in scripts] == [1]


def test_messages_are_serialized_by_their_type():
    assert '"type":"ai"' in langserve.serialize({"message": AIMessage("It is 9 %.")})
