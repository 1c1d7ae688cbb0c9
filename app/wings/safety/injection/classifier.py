"""Tell how likely a text is an attack by the words of its stretches, their classes, and the classes that follow them.

A class gathers words of many languages that do the same in a sentence (`classes.txt`): DROP holds "ignore", "vergiss"
and "abaikan". What is learnt of one language so holds in the others.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

STRETCH = 30
"""How many words are looked at together, where sentences are not longer."""

FARTHEST, FOLLOWING = 8, 4
SHORTEST_STEM = 3
_ENDS = "\n.!?。！？।"
# Scripts that put no blanks between words, or add endings to them: a listed word is found inside a run of letters.
_UNSPACED = "\u0e00-\u0eff\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"

Sentence = list[str]


def stretches(folded: str) -> Iterator[list[Sentence]]:
    """Yield the text in stretches of about `STRETCH` words; each begins with the last sentence of the one before."""
    held: list[Sentence] = []
    for sentence in _sentences(folded):
        for start in range(0, len(sentence), STRETCH):
            part = sentence[start : start + STRETCH]
            if held and sum(map(len, held)) + len(part) > STRETCH:
                yield held
                held = held[-1:] if len(held[-1]) < STRETCH // 2 else []
            held = [*held, part]
    if held:
        yield held


def features(stretch: list[Sentence]) -> set[str]:
    """Return what a stretch shows, each feature by its name: `forget`, `DROP`, `^DROP` at a start, `DROP RULE`."""
    shown: set[str] = set()
    for sentence in stretch:
        shown |= {*sentence, f"^{sentence[0]}"}
        places = [place for place, word in enumerate(sentence) if word.isupper()]
        for n, place in enumerate(places):
            near = [other for other in places[n + 1 : n + 1 + FOLLOWING] if other - place <= FARTHEST]
            shown |= {f"{sentence[place]} {sentence[other]}" for other in near}
            if near[1:]:
                shown.add(f"{sentence[place]} {sentence[near[0]]} {sentence[near[1]]}")
    return shown


def _sentences(folded: str) -> list[Sentence]:
    """Return the words of each sentence: a class, by its name in capitals, or the word itself."""
    found: list[Sentence] = [[]]
    for token in _tokens().findall(folded):
        if token not in _ENDS:
            found[-1].append(class_of(token) or token)
        elif found[-1]:
            found.append([])
    return [sentence for sentence in found if sentence]


@lru_cache(20_000)
def class_of(word: str) -> str | None:
    """Return the class of a word, in lower case, of any language; None if it has none."""
    words, stems = _classes()
    if word in words:
        return words[word]
    return next((stems[word[:end]] for end in range(len(word), SHORTEST_STEM - 1, -1) if word[:end] in stems), None)


@cache
def _classes() -> tuple[dict[str, str], dict[str, str]]:
    """Return the class of each listed word, and of each beginning of words; where it stands in two, the first."""
    words: dict[str, str] = {}
    stems: dict[str, str] = {}
    for line in files(__package__).joinpath("classes.txt").read_text("utf-8").splitlines():
        name, *listed = line.split()
        for entry in listed:
            (stems if entry.endswith("*") else words).setdefault(entry.rstrip("*"), name)
    return words, stems


@cache
def _tokens() -> re.Pattern[str]:
    inner = [word for listed in _classes() for word in listed if re.match(f"[{_UNSPACED}]", word)]
    longest_first = "|".join(sorted(inner, key=len, reverse=True))
    return re.compile(rf"{longest_first}|[^\W\d_{_UNSPACED}]+|[{_ENDS}]")


@dataclass(frozen=True, slots=True)
class Classifier:
    """Logistic regression over the features of a stretch of text; a text is as risky as its riskiest stretch.

    `weights` are by how much each feature moves the log odds, `intercept` the odds without any.
    """

    intercept: float
    weights: Mapping[str, float]
    fitted_on: str = ""

    def risk(self, views: Iterable[str]) -> float:
        """Return the probability that a text is an attack, from its folded forms."""
        shown = [features(stretch) for view in views for stretch in stretches(view)]
        log_odds = [0.0, *(sum(self.weights.get(feature, 0.0) for feature in some) for some in shown)]
        return 1 / (1 + math.exp(-self.intercept - max(log_odds)))


@cache
def packaged_classifier() -> Classifier:
    return Classifier(**json.loads(files(__package__).joinpath("classifier.json").read_text("utf-8")))
