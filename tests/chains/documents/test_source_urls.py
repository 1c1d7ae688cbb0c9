import json

import pytest

from chains.documents.naming import is_link, leads_to, not_links, source_urls, with_hosts
from chains.safety.output_check import KnownLinks
from chains.state import Passage

TWO = ["https://a.example/x", "https://b.example/y"]


@pytest.mark.parametrize(
    "given",
    [
        "https://a.example/x, https://b.example/y",
        "https://a.example/x,https://b.example/y",
        "https://a.example/x , N/A, https://b.example/y,",
        TWO,
        json.dumps(TWO),
        ["https://a.example/x, https://b.example/y"],
        [{"url": "https://a.example/x"}, {"url": "https://b.example/y", "title": "Y"}, None, "N/A", TWO[0]],
    ],
)
def test_links_are_read_from_a_string_a_list_and_json(given):
    assert source_urls(given) == TWO


def test_a_string_is_split_at_a_comma_before_a_link_and_only_there():
    assert source_urls("https://a.example/x,y,http//z?q=1,2, http://b.example/(1,2)") == [
        "https://a.example/x,y,http//z?q=1,2",
        "http://b.example/(1,2)",
    ]
    assert source_urls("N/A") == source_urls("") == source_urls(None) == source_urls([]) == []


@pytest.mark.parametrize(
    "text",
    [
        *("see the intranet", "https://", "https:///x", "ftp://a.example/x", "javascript:alert(1)", "www.a.example"),
        *("https://a.example/x y", "https://evil.example\\@a.example/", "https://a.example:99999/", "https://[a", "[1"),
    ],
)
def test_what_is_no_link_is_left_out_and_named(text):
    assert not is_link(text)
    assert (source_urls([text, TWO[0]]), not_links([text, TWO[0]])) == ([TWO[0]], [text])


def test_a_host_is_trusted_with_its_subdomains_and_nothing_that_only_looks_like_it():
    hosts = ("a.example", "gov.sg")
    trusted = ["https://a.example/x", "https://www.customs.gov.sg./y", "http://A.EXAMPLE:8080/z"]
    others = ["https://b.example/a.example", "https://nota.example/", "https://a.example.evil.example/", "https://sg/"]

    assert source_urls([*trusted, *others], hosts=hosts) == trusted
    assert not leads_to("https://a.example@evil.example/", hosts)
    assert with_hosts({"source_urls": json.dumps([*trusted, *others]), "title": "T"}, hosts) == {
        "source_urls": json.dumps(trusted),
        "title": "T",
    }


def test_an_answer_may_link_to_each_of_several_links_in_one_string():
    known = KnownLinks([Passage(content="", metadata={"source_urls": ", ".join(TWO)}, score=None)])

    assert [known.allow(url) for url in [*TWO, ", ".join(TWO)]] == [True, True, False]
