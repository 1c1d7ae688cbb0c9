"""The page as HTML, from the templates."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from app.web import assets, words
from chains.question import QUESTION_MAX_CHARACTERS

WIDGET = "widget."  # What the keys of its words begin with.
_KEY = re.compile(r"[\"`]([a-z]+(?:-[a-z]+)*\.[a-z.-]*)")
THEMES = ("system", "light", "dark")


@dataclass(frozen=True, slots=True)
class Visit:
    """What one visitor's page depends on.

    `name` stands in the header and the title; `greeting` above the first question, in place of the page's own.
    `question` fills the box; `examples` are offered below it; `teams` are those to ask where the documents do not help.
    An embedded page has fewer parts.
    """

    name: str
    language: str
    greeting: str = ""
    theme: str = "system"
    embedded: bool = False
    question: str = ""
    examples: Sequence[str] = ()
    teams: Mapping[str, Any] = field(default_factory=dict)


def render(visit: Visit) -> str:
    table = words.languages()[visit.language]
    names = {code: its_words[words.NAME] for code, its_words in words.languages().items()}
    script_words = {key: text for key, text in table.items() if key in _shown_by_scripts()}
    values = {"visit": visit, "words": script_words, "languages": names, "most_characters": QUESTION_MAX_CHARACTERS}
    return _filled("page.html.jinja", visit.language, **values)


def document(shown: Mapping[str, Any], language: str) -> str:
    """Return the page of one document, which works without script; `shown` holds its facts and its `html`."""
    html = Markup(shown["html"])  # noqa: S704 - sanitised where it was made.
    return _filled("document.html.jinja", language, document=shown, html=html)


def insights(found: Any, *, days: int, language: str) -> str:
    """Return the page of what to write next; `found` is what `waypoint insights` reports of the last `days`."""
    return _filled("insights.html.jinja", language, found=found, days=days)


def _filled(template: str, language: str, **values: Any) -> str:
    translated = partial(words.text, words.languages()[language])
    return (
        _environment().get_template(template).render(language=language, t=translated, static=assets.address, **values)
    )


@cache
def _shown_by_scripts() -> frozenset[str]:
    """Return the keys of the texts that the page's modules show; the other texts need not be sent twice."""
    literals = {found for source in assets.modules().values() for found in _KEY.findall(source)}
    beginnings = tuple(literal for literal in literals if literal.endswith((".", "-")))  # t(`outcome.${name}`)
    known = words.languages()[words.DEFAULT]
    return frozenset(key for key in known if key in literals or key.startswith(beginnings))


@cache
def widget() -> assets.Asset:
    """Return the script that puts the page on somebody's page, with the few words that it shows itself."""
    labels = {
        code: {key.removeprefix(WIDGET): text for key, text in table.items() if key.startswith(WIDGET)}
        for code, table in words.languages().items()
    }
    script = _environment().get_template("widget.js.jinja").render(words=labels, default=words.DEFAULT)
    return assets.asset(script.encode(), ".js")


@cache
def _environment() -> Environment:
    loader = PackageLoader(__package__, "templates")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False}  # The page is UTF-8.
    return environment
