from pathlib import Path

import pytest

from app.web import words
from app.wiring import ExampleQuestions
from chains.errors import ConfigurationError


def test_the_sample_corpus_offers_questions_in_every_language_of_the_page():
    examples = ExampleQuestions(None, lambda: False)
    assert all(len(examples.of(language)) >= 4 for language in words.languages())


def test_questions_of_the_sample_are_not_offered_for_other_documents_but_chosen_ones_are(tmp_path):
    own = tmp_path / "examples.yaml"
    own.write_text('en: ["What is ours?"]')
    assert ExampleQuestions(None, lambda: True).of("en") == []
    assert ExampleQuestions(own, lambda: True).of("en") == ["What is ours?"]
    assert ExampleQuestions(own, lambda: True).of("id") == []


@pytest.mark.parametrize(
    "content",
    [
        b"- a",
        b"en: text",
        b"en: ['']",
        b"en: [1]",
        b"en: [a",
        b"\xff",
        b"en: [a, a, a, a, a, a, a, a, a, a, a, a, a]",
        b"",
    ],
)
def test_a_file_that_is_no_list_of_questions_is_refused_with_its_name_and_the_form(tmp_path, content):
    file = tmp_path / "examples.yaml"
    file.write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"examples\.yaml.*EXAMPLES_FILE"):
        ExampleQuestions(file, lambda: False)


def test_a_file_that_is_missing_is_refused(tmp_path: Path):
    with pytest.raises(ConfigurationError, match="cannot be read"):
        ExampleQuestions(tmp_path / "none.yaml", lambda: False)
