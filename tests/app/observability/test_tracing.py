import threading

from structlog.testing import capture_logs

from app.observability.tracing import Export, close
from tests.waiting import PATIENCE_S, wait_until


class Backend:
    """Takes batches, one after the other, when the test lets it."""

    def __init__(self, *, open: bool = True) -> None:
        self.gate, self.fails = threading.Event(), False
        self.taken: list[list[int]] = []
        self.entered = threading.Event()
        if open:
            self.gate.set()

    def send(self, batch: list[int]) -> None:
        self.entered.set()
        assert self.gate.wait(PATIENCE_S)
        if self.fails:
            raise ConnectionError
        self.taken.append(batch)


def test_what_is_put_is_sent_in_order_in_batches():
    backend = Backend(open=False)
    export = Export("it", backend.send, batch=3)

    export.put(0)
    assert backend.entered.wait(PATIENCE_S)
    for item in range(1, 6):
        export.put(item)
    backend.gate.set()
    close([export], within_s=30)

    assert backend.taken == [[0], [1, 2, 3], [4, 5]]
    assert (export.sent, export.dropped) == (6, 0)


def test_where_too_many_wait_the_rest_is_dropped_and_counted_and_nobody_waits():
    backend = Backend(open=False)
    export = Export("it", backend.send, waiting=2)

    export.put(0)
    assert backend.entered.wait(PATIENCE_S)
    for item in range(1, 6):
        export.put(item)

    assert export.dropped == 3
    backend.gate.set()
    close([export], within_s=30)
    assert backend.taken == [[0], [1, 2]]


def test_an_outage_is_logged_once_and_so_is_its_end():
    backend = Backend()
    export = Export("it", backend.send, batch=1, pause_s=0)
    with capture_logs() as lines:
        backend.fails = True
        for item in range(3):
            export.put(item)
        wait_until(lambda: export.dropped == 3)
        backend.fails = False
        export.put(3)
        close([export], within_s=30)

    assert [(line["event"], line["log_level"]) for line in lines] == [
        ("traces_do_not_arrive", "warning"),
        ("traces_arrive_again", "info"),
    ]
    assert (export.sent, export.dropped) == (1, 3)


def test_the_end_does_not_wait_for_the_pause_after_a_failure():
    backend = Backend()
    backend.fails = True
    export = Export("it", backend.send, batch=1, pause_s=3600)
    export.put(0)
    wait_until(lambda: export.dropped == 1)
    backend.fails = False
    export.put(1)

    close([export], within_s=30)
    assert backend.taken == [[1]]
