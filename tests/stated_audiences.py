"""Forms in which a document may say who may read it, by format; and names of folders that say internal."""

import json

from benchmarks.documents import docx, paragraph, pdf
from tests.office_documents import eml, epub, pptx, xlsx

WORDS = "Sails weekly to Jakarta, and the rate is nine percent."
BODY = f"# Line\n\n## Rate\n\n{WORDS}\n"

MARKDOWN = {
    "as documented": "---\ntitle: T\naudience: internal\n---\n",
    "a name with a capital": "---\nAudience: internal\n---\n",
    "a name in capitals": "---\nAUDIENCE: INTERNAL\n---\n",
    "a name with an invisible letter": "---\naud\u200bience: internal\n---\n",
    "a name with a lookalike letter": "---\n\u0430udience: internal\n---\n",
    "a wide name": "---\n\uff41\uff55\uff44\uff49\uff45\uff4e\uff43\uff45: internal\n---\n",
    "a name with quotes": "---\n'Audience' : internal\n---\n",
    "a value with an invisible letter": "---\naudience: pub\u200blic2\n---\n",
    "a value that looks like public": "---\naudience: publi\u0441\n---\n",
    "behind a blank line": "\n---\naudience: internal\n---\n",
    "behind blanks": "  \n\t\n---\naudience: internal\n---\n",
    "behind a BOM": "\ufeff---\naudience: internal\n---\n",
    "behind a BOM and a blank line": "\ufeff\n---\naudience: internal\n---\n",
    "behind an invisible letter": "\u200b---\naudience: internal\n---\n",
    "behind a comment": "<!-- made by a tool -->\n---\naudience: internal\n---\n",
    "behind a comment of lines": "<!--\nmade by\na tool\n-->\n\n---\naudience: internal\n---\n",
    "behind a heading": "# Line\n---\naudience: internal\n---\n",
    "four dashes": "----\naudience: internal\n----\n",
    "dashes as an editor writes them": "\u2014-\naudience: directors\n\u2014-\n",
    "closed by dots": "---\naudience: internal\n...\n",
    "TOML": '+++\ntitle = "T"\naudience = "internal"\n+++\n',
    "TOML with a capital": '+++\nAudience = "directors"\n+++\n',
    "TOML, twice": '+++\naudience = "public"\naudience = "internal"\n+++\n',
    "TOML in a table": '+++\ntitle = "T"\n[extra]\naudience = "internal"\n+++\n',
    "JSON": '{\n  "title": "T",\n  "audience": "internal"\n}\n',
    "twice, the last public": "---\naudience: internal\naudience: public\n---\n",
    "twice, the first public": "---\naudience: public\naudience: internal\n---\n",
    "twice in other cases": "---\nAudience: internal\naudience: public\n---\n",
    "merged": "---\nbase: &b {audience: internal}\n<<: *b\ntitle: T\n---\n",
    "merged below public": "---\nbase: &b\n  audience: internal\n<<: *b\naudience: public\n---\n",
    "nested": "---\nmeta:\n  audience: internal\n---\n",
    "a list": "---\naudience: [public, internal]\n---\n",
    "a list of lines": "---\naudience:\n  - public\n  - internal\n---\n",
    "a map": "---\naudience: {who: internal}\n---\n",
    "a folded value": "---\naudience: >\n  internal\n---\n",
    "an indented name": "---\n  audience: internal\n  title: T\n---\n",
    "another word": "---\naudience: directors\n---\n",
    "a category with a capital": "---\nCategory: internal\n---\n",
    "categories, twice": "---\ncategory: internal\ncategory: carrier\n---\n",
    "a source type with a capital": "---\nSource_Type: Internal memo\n---\n",
    "no fences": "Audience: internal\n\n",
    "no fences, another word": "Title: T\nAudience: directors\n\n",
    "bold": "# Line\n\n**Audience:** internal\n\n",
    "a quotation": "> Audience: internal\n\n",
    "a list entry": "- Audience: Internal staff\n\n",
    "a comment": "<!-- audience: internal -->\n\n",
}
PUBLIC = {
    "nothing": "",
    "public": "---\naudience: public\n---\n",
    "Public": "---\naudience: Public # for all\n---\n",
    "PUBLIC with an invisible letter": "---\naudience: PUB\u200bLIC\n---\n",
    "two lines of it": "---\naudience: public\nAudience: public\n---\n",
    "a rule and words": "\n---\n\nNote: read this first.\n\n---\n\n",
    "its readers": "# Line\n\nAudience: importers and brokers\n\n",
    "a word of the text": "The audience of this guide is not internal.\n\n",
    "an empty value": "---\naudience:\ntitle: T\n---\n",
}


def page(head: str = "", body: str = "") -> str:
    return f"<!doctype html><html><head><title>T</title>{head}</head><body>{body}<p>{WORDS}</p></body></html>"


OTHERS: dict[str, tuple[str, str | bytes]] = {
    "a meta tag": ("a.html", page('<meta name="audience" content="internal">')),
    "a meta tag in capitals": ("a.html", page('<META NAME="Audience" CONTENT="Directors">')),
    "a meta property": ("a.html", page('<meta property="dcterms:audience" content="internal">')),
    "two meta tags": (
        "a.html",
        page('<meta name="audience" content="public"><meta name="audience" content="internal">'),
    ),
    "a comment of HTML": ("a.html", page("<!-- audience: internal -->")),
    "an attribute of HTML": ("a.html", page().replace("<html>", '<html data-audience="internal">')),
    "the first line of HTML": ("a.html", page(body="<p><b>Audience:</b> internal</p>")),
    "a line of JSON": ("a.jsonl", json.dumps({"title": "T", "text": WORDS, "audience": "internal"})),
    "one of two lines of JSON": (
        "a.jsonl",
        "\n".join(json.dumps(one) for one in ({"Audience": "directors", "x": 1}, {"title": "T", "text": WORDS})),
    ),
    "JSON in JSON": ("a.ndjson", json.dumps({"title": "T", "text": WORDS, "metadata": {"AUDIENCE": "internal"}})),
    "a category in JSON": ("a.jsonl", json.dumps({"title": "T", "text": WORDS, "category": "internal"})),
    "a column": ("a.csv", f'Audience,Text\npublic,Nothing\ninternal,"{WORDS}"\n'),
    "a sheet": ("a.xlsx", xlsx({"Rates": [["Text", "Audience"], [WORDS, "directors"]]})),
    "a line of Word": ("a.docx", docx(paragraph("Audience: internal") + paragraph(WORDS))),
    "a slide": ("a.pptx", pptx(("Audience: internal", WORDS))),
    "a page": ("a.pdf", pdf(f"Audience: internal\n{WORDS}")),
    "a header of an e-mail": ("a.eml", eml(WORDS, Subject="S", Audience="internal")),
    "a line of an e-mail": ("a.eml", eml(f"Audience: internal\n\n{WORDS}", Subject="S")),
    "a book": ("a.epub", epub(page(body="<p>Audience: internal</p>"), title="B")),
}


FOLDERS = [
    *(
        *("04_internal", "internal_docs", "Internal Documents", "InternalDocs", "INTERNAL-2024", "Internal (HR)"),
        "3. Internal",
    ),
    *("inter\u200bnal", "\u0456nternal", "INTERNA\u041b".replace("\u041b", "L"), "\uff29nternal", "\u00ednternal"),
    *("lnternal", "1nternal", "intemal", "in-ternal", "team_internal_pricing", "internal.old"),
]
