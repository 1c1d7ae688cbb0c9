"""A process that answers tasks within limits."""

from app.adapters.documents.process import LimitedProcess


def test_a_process_that_was_given_up_after_its_reply_takes_the_next_task():
    worker = LimitedProcess("app.adapters.documents.page_worker", timeout_s=10, memory_mb=1024)
    task = {"path": "missing.pdf", "page": 1, "chunks": [], "width": 100}
    first = worker.ask(task)
    worker.interrupt()
    assert worker.ask(task) == first
    worker.stop()
