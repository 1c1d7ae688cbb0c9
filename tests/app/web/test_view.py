"""The page as it is sent, and its files."""

import re
from graphlib import CycleError
from html.parser import HTMLParser

import pytest

from app.web import assets, view, words
from app.web.assets import join_modules, join_styles

PAGE_MAX_BYTES = 170_000
SETS = re.compile(r"\[[^\]]*\]")  # Of characters, in a pattern.


class Elements(HTMLParser):
    """The elements of a page with their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attributes)))

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


def page(**fields) -> str:
    return view.render(view.Visit(**{"name": "Waypoint", "language": "en"} | fields))


@pytest.mark.parametrize("language", words.languages())
def test_the_page_and_all_that_it_loads_are_small(language):
    files = sum(len(asset.content) for asset in assets.assets().values())
    assert len(page(language=language, examples=["x" * 100] * 6).encode()) + files <= PAGE_MAX_BYTES


def test_no_text_in_a_script_goes_over_lines_because_indentation_is_not_sent():
    lines = [line for source in assets.modules().values() for line in source.splitlines()]
    assert [line for line in lines if SETS.sub("", line).count("`") % 2] == []


@pytest.mark.parametrize("embedded", [False, True])
def test_nothing_is_inline_and_nothing_comes_from_elsewhere(embedded):
    elements = Elements(page(embedded=embedded))
    for tag, attributes in elements.found:
        assert not [name for name in attributes if name == "style" or name.startswith("on")], tag
        for name in ("src", "href", "action"):
            assert not re.match(r"[a-z]+:|//", attributes.get(name) or ""), tag
    scripts = elements.of("script")
    assert [script["type"] for script in scripts if "src" not in script] == ["application/json"] * 2
    assert elements.of("style") == []


@pytest.mark.parametrize("embedded", [False, True])
def test_ids_are_unique_and_what_refers_to_one_finds_it(embedded):
    elements = Elements(page(embedded=embedded, examples=["a", "b"])).found
    ids = [attributes["id"] for _, attributes in elements if "id" in attributes]
    referring = ("aria-labelledby", "aria-describedby", "for", "form", "aria-controls")
    named = [word for _, has in elements for name in referring for word in (has.get(name) or "").split()]
    assert len(ids) == len(set(ids))
    assert set(named) - set(ids) == set()


def test_without_script_there_are_header_box_examples_and_a_sentence_that_helps():
    html = page(examples=["What is GST?"], question='a"</textarea><script>')
    assert "<noscript>" in html
    assert 'value="What is GST?"' in html
    assert "a&#34;&lt;/textarea&gt;&lt;script&gt;</textarea>" in html
    assert [form.get("method") for form in Elements(html).of("form") if form.get("id") == "ask"] == ["get"]


def test_words_of_the_page_cannot_end_its_data(monkeypatch):
    table = dict(words.languages()["en"]) | {"ask.busy": "</script><script>alert(1)</script>"}
    monkeypatch.setattr(words, "languages", lambda: {"en": table})
    assert "<script>alert" not in page()


@pytest.mark.parametrize("theme", view.THEMES)
def test_the_page_is_sent_in_the_chosen_colours(theme):
    assert f'data-theme="{theme}"' in page(theme=theme)


def test_files_are_kept_for_good_at_addresses_that_change_with_them():
    address = assets.address("page.js")
    asset, lasting = assets.find(address.removeprefix("static/"))
    assert asset is not None
    assert lasting
    assert assets.find("page.js") == (asset, False)
    assert assets.find("v-000000000000/page.js") == (asset, False)
    assert assets.find("../view.py") == (None, False)


@pytest.mark.parametrize("embedded", [False, True])
def test_a_browser_asks_for_one_script_and_one_style_sheet(embedded):
    elements = Elements(page(embedded=embedded))
    asked = [link["href"] for link in elements.of("link")] + [
        one["src"] for one in elements.of("script") if "src" in one
    ]
    assert asked == ["icon", assets.address("page.css"), assets.address("page.js")]


def test_every_module_is_short_and_says_first_what_it_does():
    for name, source in assets.modules().items():
        lines = source.splitlines()
        assert lines[0].startswith("// "), name
        assert len(lines) < 200, name


def test_the_widget_carries_its_words_in_every_language():
    script = view.widget().content.decode()
    for table in words.languages().values():
        assert table["widget.open"] in script


MAIN = """// Begins.
import { greet as hello } from "./words.js";
import * as all from "./words.js";

hello(all);
"""
WORDS = """/** Greet.
 * @param {string} name */
export function greet(name) {
  return name; // As it is.
}
"""
JOINED = """const $words = (() => {
function greet(name) {
return name;
}
return { greet };
})();
const $main = (() => {
const { greet: hello } = $words;
const all = $words;
hello(all);
return {  };
})();
"""


def test_a_module_becomes_a_function_that_gives_what_it_exports():
    assert join_modules({"main.js": MAIN, "words.js": WORDS}) == JOINED


@pytest.mark.parametrize(
    "line",
    ['import "./other.js";', "export default 1;", "export { a };", 'import { a } from "other";', "export let a;"],
)
def test_a_form_that_is_not_known_is_refused_by_the_name_of_its_module(line):
    with pytest.raises(ValueError, match=r"^main\.js: "):
        join_modules({"main.js": f"{line}\n"})


def test_modules_that_import_each_other_are_refused():
    with pytest.raises(CycleError):
        join_modules({"a.js": 'import { b } from "./b.js";\n', "b.js": 'import { a } from "./a.js";\n'})


def test_what_looks_like_a_comment_in_a_text_or_a_pattern_stays():
    joined = join_modules({"main.js": "const address = 'http://x.test/*';\nuse(/^\\/\\//); // Two slashes.\n"})
    assert "const address = 'http://x.test/*';\nuse(/^\\/\\//);\n" in joined


def test_styles_apply_in_their_order_without_comments():
    assert (
        join_styles(["/* First. */\na { color: red; }\n", "  b { top: 0; } /* Why. */\n"])
        == "a { color: red; }\nb { top: 0; } \n"
    )


def test_the_page_sends_no_comment():
    files = assets.assets()
    for name in (assets.SCRIPT, assets.STYLE):
        assert b"/*" not in files[name].content
        assert not [line for line in files[name].content.splitlines() if line.startswith(b"//")]
