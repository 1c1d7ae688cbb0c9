"""The page as HTML, from the templates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from app.web import assets, words

WIDGET = "widget."  # What the keys of its words begin with.
THEMES = ("system", "light", "dark")


@dataclass(frozen=True, slots=True)
class Visit:
    """What one visitor's page depends on.

    `question` fills the box; `examples` are offered below it; `teams` are whom to ask else. An embedded page
    has fewer parts.
    """

    language: str
    theme: str = "system"
    embedded: bool = False
    question: str = ""
    examples: Sequence[str] = ()
    teams: Mapping[str, Any] = field(default_factory=dict)


def render(visit: Visit) -> str:
    """Return the page."""
    table = words.languages()[visit.language]
    return (
        _environment()
        .get_template("page.html.jinja")
        .render(
            visit=visit,
            t=partial(words.text, table),
            words=dict(table),
            languages=words.names(),
            static=assets.address,
            styles=assets.styles(),
            modules=assets.modules(),
        )
    )


def document(shown: Mapping[str, Any], language: str) -> str:
    """Return the page of one document, which works without script; `shown` holds its facts and its `html`."""
    table = words.languages()[language]
    return (
        _environment()
        .get_template("document.html.jinja")
        .render(
            document=shown,
            html=Markup(shown["html"]),  # noqa: S704 - sanitised where it was made.
            language=language,
            t=partial(words.text, table),
            static=assets.address,
            styles=assets.styles(),
        )
    )


@cache
def widget() -> assets.Asset:
    """Return the script that puts the page on somebody's page, with the few words that it shows itself."""
    told = {
        code: {key.removeprefix(WIDGET): text for key, text in table.items() if key.startswith(WIDGET)}
        for code, table in words.languages().items()
    }
    return assets.script(_environment().get_template("widget.js.jinja").render(words=told, default=words.DEFAULT))


@cache
def _environment() -> Environment:
    loader = PackageLoader("app.web", "templates")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
