from benchmarks.hostile import settings


def test_an_attack_returns_rows_of_what_was_tried_and_held(tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "cases", lambda: iter([("retrieval_top_k", "x"), ("redis_url", "amqp://")]))

    assert [each.row()[:3] for each in settings.attack(tmp_path)] == [["settings", "2", "2"]]
