from benchmarks.figures import read_figures, write_figures


def test_a_group_of_figures_is_replaced_with_its_date_and_command_and_others_are_kept(tmp_path):
    file = tmp_path / "figures.json"
    write_figures("speed", {"p95_ms": 9}, file=file)
    write_figures("size", {"lines": 12}, file=file)
    write_figures("size", {"lines": 11}, file=file)

    kept = read_figures(file=file)
    assert {name: group["values"] for name, group in kept.items()} == {"size": {"lines": 11}, "speed": {"p95_ms": 9}}
    assert all(group["date"] and group["command"].startswith("python -m ") for group in kept.values())
