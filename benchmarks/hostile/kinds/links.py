"""Bare links behind any character, in an answer that was filtered, as four renderers of markdown read it."""

from pathlib import Path

from benchmarks.hostile.tried import Tried
from tests.chains.safety.test_renderers import RENDERERS, TEXTS, filtered, links


def attack(folder: Path) -> list[Tried]:
    """Filter each text, and render what is shown."""
    tried = Tried("bare links in an answer", "no renderer of four makes a link of it")
    for text in TEXTS:
        shown = filtered(text, len(text))
        tried.add(text, held=not any(links(shown, renderer) for renderer in RENDERERS))
    return [tried]
