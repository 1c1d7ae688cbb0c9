"""The page as HTML, from the templates."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Literal

from jinja2 import Environment, PackageLoader, StrictUndefined

from app.web import assets, words

Theme = Literal["system", "light", "dark"]


@dataclass(frozen=True, slots=True)
class Visit:
    """What one visitor's page depends on.

    `question` fills the box; `examples` are offered below it. An embedded page has fewer parts.
    """

    language: str
    theme: str = "system"
    embedded: bool = False
    question: str = ""
    examples: Sequence[str] = ()


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


@cache
def _environment() -> Environment:
    loader = PackageLoader("app.web", "templates")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
