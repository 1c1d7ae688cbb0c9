import json
import re

import httpx
import pytest

from tests.fakes import Reply
from tests.served import ANSWER, QUESTION, guide_services

services = guide_services()


def view(client: httpx.Client) -> dict:
    """What the page has in the end: the patches applied one after the other."""
    response = client.post("/copilot/playground/run", json={"input": {"question": QUESTION}, "config": {}})
    page: dict = {}
    for data in re.findall(r"^data: (.*)\r$", response.text, re.MULTILINE):
        for patch in json.loads(data)["ops"]:
            match patch["path"].split("/"):
                case [""]:
                    page = patch["value"]
                case ["", "streamed_output", "-"]:
                    page["streamed_output"].append(patch["value"])
                case ["", "streamed_output"]:
                    page["streamed_output"] = patch["value"]
                case ["", "logs", name]:
                    page["logs"][name] = patch["value"]
    return page


def test_the_page_and_its_script_are_served_and_ask_a_route_that_is_there(client):
    page = client.get("/copilot/playground/").text
    [script] = re.findall(r'src="([^"]+\.js)"', page)
    source = client.get(script)

    assert source.headers["content-type"].startswith("application/javascript")
    assert '"/playground/run"' in source.text
    assert "stream_log" not in source.text


@pytest.mark.parametrize("name", ["nowhere.js", "assets", "assets/", "%00", "x" * 300, "../../../../etc/passwd"])
def test_what_is_no_file_of_the_page_is_a_404(client, name):
    assert client.get(f"/copilot/playground/{name}").status_code == 404


def test_the_page_shows_the_words_and_the_other_fields_as_steps(client, groq):
    groq.replies[:] = [Reply(ANSWER)]
    page = view(client)

    assert "".join(page["streamed_output"]) == ANSWER
    assert {"documents", "citations", "confidence", "metadata"} <= set(page["logs"])
    assert page["logs"]["citations"]["final_output"][0]["title"] == "GST Guide"


def test_words_that_are_replaced_are_replaced_on_the_page(client, groq):
    groq.replies[:] = [Reply("It is forty percent.")]
    assert "forty" not in "".join(map(str, view(client)["streamed_output"]))


def test_an_error_is_shown_in_words(client, groq):
    groq.replies[:] = [Reply(status=429)]
    assert view(client)["streamed_output"] == ["The language model is busy. Try again in a minute."]
