import pytest

from app.http.page_files import Teams
from app.wiring.storage import sample_corpus
from chains.documents.audience import CATEGORIES
from chains.errors import ConfigurationError
from chains.scope import SCOPE_FILE, load_scope


def test_the_sample_corpus_names_a_team_for_each_category_and_intent_and_one_for_everything_else():
    teams = Teams(None, lambda: False).by_category()
    scope = load_scope(sample_corpus() / SCOPE_FILE)
    redirected = {intent.name for intent in scope.intents} - {"off_topic"}  # That is no desk's.
    assert set(teams) == {*CATEGORIES.values(), *redirected, "other"}
    assert all(team["name"] for team in teams.values())


def test_teams_of_the_sample_are_not_named_for_other_documents_but_chosen_ones_are(tmp_path):
    own = tmp_path / "teams.yaml"
    own.write_text("other: {name: Ours}")
    assert Teams(None, lambda: True).by_category() == {}
    assert Teams(own, lambda: True).by_category() == {"other": {"name": "Ours"}}


@pytest.mark.parametrize(
    "content", ["- a", "other: text", "other: {}", "other: {name: ''}", "other: {name: A, mail: b}"]
)
def test_a_file_of_another_form_is_refused_with_its_name_and_the_form(tmp_path, content):
    file = tmp_path / "teams.yaml"
    file.write_text(content)
    with pytest.raises(ConfigurationError, match=r"teams\.yaml.* needs UTF-8 YAML"):
        Teams(file, lambda: False)
