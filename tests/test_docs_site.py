"""The site of the docs: built whole, without a broken link, and without another server."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

pytest.importorskip("zensical", reason="`make docs` needs the development packages of the lock")

ROOT = Path(__file__).parents[1]
LOADED = re.compile(r"""<(?:script|img|link|iframe|source)\b[^>]*?\b(?:src|href)=["']?([^"'\s>]+)""")
LINKED = re.compile(r"""\b(?:src|href)=["']?([^"'\s>]+)""")
NAMED = re.compile(r"""\bid=["']?([^"'\s>]+)""")


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The built site."""
    folder = tmp_path_factory.mktemp("docs")
    shutil.copytree(ROOT / "docs", folder / "docs")
    shutil.copy(ROOT / "zensical.toml", folder)
    words = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


def test_every_page_stands_in_the_navigation_once():
    nav = json.dumps(tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]["nav"])
    named = re.findall(r'"([\w-]+\.md)"', nav)

    assert sorted(named) == sorted(page.name for page in (ROOT / "docs").glob("*.md"))


def test_every_link_of_the_site_leads_somewhere(site):
    pages = {page: page.read_text(encoding="utf-8") for page in site.glob("*.html") if page.name != "404.html"}
    names = {page: set(NAMED.findall(text)) for page, text in pages.items()}
    broken = []
    for page, text in pages.items():
        for link in LINKED.findall(text):
            if re.match(r"[a-z]+:", link):
                continue
            path, anchor = urldefrag(link)
            target = (site / unquote(path)).resolve() if path else page
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file() or (anchor and unquote(anchor) not in names.get(target, {unquote(anchor)})):
                broken.append((page.name, link))
    assert len(pages) > 25
    assert broken == []


def test_the_site_loads_nothing_from_another_server(site):
    loaded = {link for page in site.glob("*.html") for link in LOADED.findall(page.read_text(encoding="utf-8"))}
    styles = "".join(style.read_text(encoding="utf-8") for style in site.rglob("*.css"))

    assert [link for link in loaded if re.match(r"(?:https?:)?//", link)] == []
    assert re.findall(r"url\((?:https?:)?//[^)]*\)", styles) == []


def test_the_search_finds_words_of_every_page(site):
    found = {item["location"].partition("#")[0] for item in json.loads((site / "search.json").read_text())["items"]}
    assert found == {page.name for page in site.glob("*.html")} - {"404.html"}
