"""The page's modules in one script."""

from graphlib import CycleError

import pytest

from app.web import assets
from app.web.assets import join_modules, join_styles

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
