"""What looks at the documents after an ingestion never takes its report away."""

from app.cli.ingest import notes_of


def says(_services, _paths):
    yield "one thing"


def fails(_services, _paths):
    yield "half of it"
    yield str(1 / len(_paths))


def test_a_step_that_fails_is_named_and_the_others_are_told():
    assert list(notes_of([fails, says], None, [])) == [
        "fails failed (ZeroDivisionError: division by zero); the documents are in the index",
        "one thing",
    ]
