from benchmarks.hostile.kinds import attack_of, kinds


def test_every_kind_of_attack_is_found_by_its_file():
    assert {"audience", "commands", "files", "replies", "requests", "settings", "stack"} <= set(kinds())
    assert all(callable(attack_of(kind)) for kind in kinds())


def test_an_attack_returns_rows_of_what_was_tried_and_held(tmp_path, monkeypatch):
    import benchmarks.hostile.kinds.settings as kind

    monkeypatch.setattr(kind, "cases", lambda: iter([("retrieval_top_k", "x"), ("redis_url", "amqp://")]))

    assert [each.row()[:3] for each in attack_of("settings")(tmp_path)] == [["settings", "2", "2"]]
