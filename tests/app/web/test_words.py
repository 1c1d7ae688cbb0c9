"""The page's words: the same keys in every language, those that are asked for, and a visitor's language."""

import json
import re
from itertools import chain
from pathlib import Path

import pytest

from app import web
from app.web import words
from app.wings.safety.pii import KINDS
from chains.confidence.calibrated import OPENINGS, PARTLY, READ, REPLACED, UNMENTIONED, UNSAID_BESIDE
from chains.confidence.levels import DISAGREEMENT, LEAST_CERTAIN, NO_MATCH, OLDER, UNKNOWN_SCORES
from chains.errors import LLMCircuitError, LLMError, LLMRateLimitError, LLMReplyError, LLMTimeoutError
from chains.generation.reply import BROKE_OFF, reason_of

PACKAGE = Path(web.__file__).parent
SCRIPTS = [*PACKAGE.glob("static/js/**/*.js")]
TEMPLATES = [*PACKAGE.glob("templates/*.jinja")]

CALL = re.compile(r"\bt\((?P<argument>[^()]*)")
LITERAL = re.compile(r"""(["'`])(?P<text>[a-z][\w-]*\.[^"'`]*)\1""")
PLACE = re.compile(r"\{(\w+)\}")


def asked_for(files: list[Path]) -> set[str]:
    """The keys in calls of `t`; of one that is put together (`outcome.${name}`, "theme." ~ name) its beginning."""
    calls = [call["argument"] for file in files for call in CALL.finditer(file.read_text(encoding="utf-8"))]
    return {found["text"].split("${")[0] for call in calls for found in LITERAL.finditer(call)}


def test_every_language_has_the_same_keys_in_order_and_the_same_places_to_fill():
    english = words.languages()["en"]
    assert next(iter(words.languages())) == words.DEFAULT
    for code, table in words.languages().items():
        assert list(table) == sorted(english), code
        assert {key: set(PLACE.findall(text)) for key, text in table.items()} == {
            key: set(PLACE.findall(text)) for key, text in english.items()
        }
        assert [key for key, text in table.items() if text != text.strip() or not text] == []


def test_every_kind_of_personal_data_has_a_name():
    assert {f"redacted.{kind.name}" for kind in KINDS} <= set(words.languages()["en"])


def test_every_sentence_of_a_confidences_reason_has_words():
    kinds = (LLMError, LLMCircuitError, LLMRateLimitError, LLMReplyError, LLMTimeoutError)
    degraded = [reason_of(kind("down")).split("; ") for kind in kinds]
    sentences = {
        *chain(*OPENINGS.values()),
        *chain(*degraded),
        BROKE_OFF,
        NO_MATCH,
        PARTLY,
        UNKNOWN_SCORES,
        *(READ, REPLACED, UNMENTIONED, UNSAID_BESIDE),
        *(DISAGREEMENT, LEAST_CERTAIN, OLDER),
    }
    assert {f"reason.{sentence}" for sentence in sentences} == {
        key for key in words.languages()["en"] if key.startswith("reason.")
    }


def test_no_key_stands_twice_in_a_file():
    for file in words.FOLDER.glob("*.json"):
        pairs = json.loads(file.read_text(encoding="utf-8"), object_pairs_hook=list)
        assert len(dict(pairs)) == len(pairs), file.name


@pytest.mark.parametrize("files", [SCRIPTS, TEMPLATES], ids=["scripts", "templates"])
def test_every_key_that_is_asked_for_exists(files):
    known = words.languages()["en"]
    asked = asked_for(files)
    assert len(asked) > 3
    missing = {
        key for key in asked if key not in known and not (key[-1] in ".-" and any(k.startswith(key) for k in known))
    }
    assert missing == set()


def test_every_key_is_used_somewhere():
    sources = [*SCRIPTS, *TEMPLATES, *PACKAGE.glob("*.py")]
    text = "\n".join(file.read_text(encoding="utf-8") for file in sources)
    literals = {found["text"].split("${")[0] for found in LITERAL.finditer(text)}
    beginnings = tuple(literal for literal in literals if literal.endswith((".", "-")))
    unused = [key for key in words.languages()["en"] if key not in literals and not key.startswith(beginnings)]
    assert unused == []


@pytest.mark.parametrize(
    ("asked", "kept", "accepted", "chosen"),
    [
        (None, None, "", "en"),
        (None, None, "id", "id"),
        (None, None, "id-ID,id;q=0.9,en;q=0.8", "id"),
        (None, None, "in", "id"),
        (None, None, "fr, id;q=0.1", "id"),
        (None, None, "en;q=0.5, id;q=0.7", "id"),
        (None, None, "id;q=0", "en"),
        (None, None, "id;q=x, fr", "en"),
        (None, "id", "en", "id"),
        ("en", "id", "id", "en"),
        ("xx", "id", "en", "id"),
        ("../../etc", "", ";;,q=,*", "en"),
        (None, None, "x," * 100_000 + "id", "en"),
    ],
)
def test_the_address_goes_before_the_choice_and_that_before_the_browser(asked, kept, accepted, chosen):
    assert words.choose(asked, kept, accepted) == chosen


def test_a_text_is_filled_and_a_missing_one_is_an_error():
    assert words.text({"a": "{n} of {n}, {m}"}, "a", n=1) == "1 of 1, {m}"
    with pytest.raises(KeyError):
        words.text({}, "a")
