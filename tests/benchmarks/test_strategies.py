from app import hooks
from benchmarks.strategies import COLUMNS, every_strategy, strategies, table_row
from evals.metrics import evaluate


def test_the_strategies_are_those_that_the_settings_allow():
    assert strategies() == tuple(hooks.names("retrieval"))
    assert "similarity" in strategies()


def test_every_strategy_is_run_over_one_store_or_named_with_the_reason(tmp_path):
    refused: dict[str, str] = {}
    run = [services.settings.retrieval.strategy for services in every_strategy(tmp_path, refused)]

    assert sorted([*run, *refused]) == sorted(strategies())


def test_every_column_of_the_table_is_a_metric():
    named = {metric.name for metric in evaluate([], [])}
    assert set(COLUMNS) - named <= {"retrieval p50 (ms)"}


def test_a_row_shows_a_dash_where_a_metric_has_no_questions():
    from tests.evals.test_metrics import case, row

    line = table_row("set", "similarity", evaluate([case()], [row(timings_ms={"retrieval": 2.0})]))
    assert line.startswith("| set | `similarity` | 0.00 |")
    assert line.endswith("| 2.0 ms |")
    assert " - |" in line
