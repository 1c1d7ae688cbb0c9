"""Web sites on loopback, ingested into a real index: what is fetched, kept, removed and refused."""

import json
import re
from collections.abc import Iterator

import pytest

from app.wings.sources import plugin
from app.wiring import Service
from chains.errors import IngestionError
from tests.remote import counts, ids, services_over
from tests.website import Website, website


@pytest.fixture
def site() -> Iterator[Website]:
    with website() as site:
        site.html("/", "<title>Home</title><p>Welcome.<a href=/fees/>Fees</a><a href='/a.pdf'>No such file</a>")
        site.html("/fees/", "<title>Fees</title><h1>Fees</h1><p>A winch costs 9.<a href='../gold?page=2#top'>Gold</a>")
        site.html(
            "/gold?page=2", "<h1>Gold</h1><p>Gold is free.<a href='http://elsewhere.example/'>x</a><a href=/>y</a>"
        )
        yield site


@pytest.fixture(autouse=True)
def _without_a_pause_between_two_requests(monkeypatch) -> None:
    monkeypatch.setattr(plugin, "DELAY_S", 0.01)


@pytest.fixture
def services(tmp_path) -> Service:
    return services_over(tmp_path)


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("ftp://host/x", "begins with az://, gs://, http://, https://, s3://"),
        ("https://user:word@host/", "leave out user names and keys"),
        ("https:///x", "needs a bucket or a host"),
    ],
)
def test_an_address_that_cannot_be_read_is_refused_with_what_to_do(services, address, told):
    with pytest.raises(IngestionError, match=re.escape(told)) as error:
        services.index.ingest([address])
    assert "word" not in str(error.value)


def test_a_site_is_read_along_its_links_and_again_only_where_it_changed(services, site):
    report = services.index.ingest([site.url])

    assert ids(services) == {"index", "fees", next(one for one in ids(services) if one.startswith("gold-"))}
    fees = services.index.library.catalogue().entries["fees"]
    assert (fees.title, fees.source_urls) == ("Fees", [f"{site.url}/fees/"])
    assert [(problem.path, problem.reason) for problem in report.skipped] == [
        (f"{site.url}/a.pdf", "the server answers with status 404")
    ]
    assert report.problems == []
    site.taken()
    site.html("/fees/", "<title>Fees</title><h1>Fees</h1><p>A winch costs 12 now.")
    report = services.index.ingest([f"{site.url}/"])
    statuses = dict(site.taken())
    assert (statuses["/"], statuses["/fees/"]) == (304, 200)
    assert counts(report) == (0, 1, 1, 1)
    assert ids(services) == {"index", "fees"}
    site.pages["/fees/"] = 500  # For now: its document stays.
    report = services.index.ingest([site.url])
    assert ids(services) == {"index", "fees"}
    assert [problem.path for problem in report.problems] == [f"{site.url}/fees/"]


def test_robots_txt_is_obeyed(services, site):
    site.pages["/robots.txt"] = ("text/plain", b"User-agent: *\nDisallow: /fees\n")
    report = services.index.ingest([site.url])
    assert ids(services) == {"index"}
    assert (f"{site.url}/fees/", "its robots.txt forbids it") in [(one.path, one.reason) for one in report.skipped]
    assert "/fees/" not in dict(site.taken())


def test_nothing_is_read_where_robots_txt_fails(services, site):
    site.pages["/robots.txt"] = 503
    with pytest.raises(IngestionError, match=r"robots\.txt answers with status 503"):
        services.index.ingest([site.url])
    assert dict(site.taken()) == {"/robots.txt": 503}


def test_a_sitemap_names_the_pages(services, site):
    index = f"<sitemapindex><sitemap><loc>{site.url}/one.xml</loc></sitemap></sitemapindex>"
    site.pages["/sitemap.xml"] = ("application/xml", index.encode())
    urls = f"<urlset><url><loc>{site.url}/fees/</loc></url><url><loc>https://elsewhere.example/</loc></url></urlset>"
    site.pages["/one.xml"] = ("application/xml", urls.encode())
    services.index.ingest([site.url])
    assert ids(services) == {"index", "fees"}


def test_one_document_of_a_site_is_taken_alone(services, site):
    site.pages["/files/rates.csv"] = ("text/csv", b"Goods,Rate\nGold,9\n")
    services.index.ingest([f"{site.url}/files/rates.csv"])
    assert ids(services) == {"rates"}


def test_limits_of_pages_and_depth_hold(tmp_path, site, monkeypatch):
    for folder, pages, depth in (("pages", 2, 5), ("depth", 500, 1)):
        monkeypatch.setattr("app.wings.sources.site.MAX_PAGES", pages)
        monkeypatch.setattr("app.wings.sources.site.MAX_DEPTH", depth)
        services = services_over(tmp_path / folder)
        report = services.index.ingest([site.url])
        assert ids(services) == {"index", "fees"}
        assert bool(report.problems) == (folder == "pages")


def test_a_page_that_asks_not_to_be_found_is_not(services, site):
    site.html("/fees/", "<meta name=robots content='noindex, nofollow'><p>Words.<a href=/gold?page=2>Gold</a>")
    services.index.ingest([site.url])
    assert ids(services) == {"index"}


def test_redirects_stay_on_the_host(services, site):
    site.redirects = {"/fees/": "/new", "/gold": "http://elsewhere.example/"}
    site.html("/new", "<title>New fees</title><p>A winch costs 9.<a href=/gold>Gold</a>")
    report = services.index.ingest([site.url])
    assert ids(services) == {"index", "new"}
    assert [problem.path for problem in report.problems] == [f"{site.url}/gold"]


def test_private_addresses_are_refused(tmp_path, site):
    with pytest.raises(IngestionError, match="leads into a private network; WEB_ALLOW_PRIVATE=true"):
        services_over(tmp_path, web_allow_private=False).index.ingest([site.url])
    assert site.taken() == []


def test_the_command_ingests_an_address_and_reports_by_document(waypoint, site):
    code, out, _ = waypoint("ingest", "--json", site.url, WEB_ALLOW_PRIVATE="true")
    assert (code, json.loads(out)["files"]) == (0, 3)
