import pytest

from app.settings import load_settings
from app.wiring import Services
from benchmarks.chunk_spans import Coverage, Reply, coverage, print_spans, read_spans, reply


def test_recall_is_the_share_of_gold_characters_and_each_character_counts_once():
    # Gold 0-10 and 20-30 are 20 characters; retrieved 5-15, twice, and 20-25 hold 5 + 5 of them in 15 characters.
    found = coverage([(0, 10), (20, 30)], [(5, 15), (5, 15), (20, 25)])

    assert found == Coverage(recall=0.5, retrieved=15)
    assert found.recall_per_thousand == pytest.approx(0.5 * 1000 / 15)


def test_nothing_retrieved_is_no_recall():
    assert coverage([(0, 10)], []).recall == 0
    assert coverage([(0, 10)], []).recall_per_thousand == 0


def test_a_folder_of_spans_is_measured_with_the_strategy_in_force(tmp_path, capsys):
    evidence = "The rate of GST on imports into Singapore is 9 %."
    text = f"Ships are large and slow.\n\n{evidence}\n"
    start = text.index(evidence)
    folder = tmp_path / "spans"
    folder.mkdir()
    (folder / "desk.md").write_text(text)
    references = f'"[{{""start_index"": {start}, ""end_index"": {start + len(evidence)}}}]"'
    (folder / "questions.csv").write_text(f"question,references,corpus_id\nWhat is the GST rate?,{references},desk\n")

    assert [question.spans for question in read_spans(folder)] == [((start, start + len(evidence)),)]
    print_spans(folder, [Services(load_settings(chroma_path=tmp_path / "store", llm_provider="offline"))])
    head, _, line = capsys.readouterr().out.splitlines()
    assert head == "| strategy | recall@5 | per 1,000 characters | desk |"
    assert line.split(" | ")[1] == "1.000"
    services = Services(load_settings(chroma_path=tmp_path / "store" / "desk", llm_provider="offline"))
    assert reply(services, read_spans(folder)[0]) == Reply(searched=True, answered=True, right=True)
