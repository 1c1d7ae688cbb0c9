"""A document as HTML."""

from app.web.document import Quote, render
from chains.library import Part


def test_headings_skip_no_level_however_the_document_does():
    html, _ = render([Part("## A\n\na\n\n#### B\n\nb\n\n###### C\n\nc\n\n## D\n\nd", 0)], "markdown", None)
    assert [line for line in html.splitlines() if line.startswith("<h")] == [
        "<h3>A</h3>",
        "<h4>B</h4>",
        "<h5>C</h5>",
        "<h4>D</h4>",
    ]


def test_plain_text_is_never_markup():
    html, marked = render([Part("<b>9</b> & *x*\n\nnext", 0)], "text", Quote("next", 16))
    assert html == '<p>&lt;b&gt;9&lt;/b&gt; &amp; *x*</p>\n<p><mark class="quote" id="quote">next</mark></p>\n'
    assert marked
