import threading
from concurrent.futures import wait

from app.adapters.embeddings.onnx import available_cores, half_of_the_cores


def test_work_is_done_in_the_order_in_which_it_came_on_half_of_the_cores():
    done: list[int] = []
    held = threading.Event()
    with half_of_the_cores("work") as threads:
        first = [threads.submit(held.wait) for _ in range(max(1, available_cores() // 2))]
        rest = [threads.submit(done.append, number) for number in range(5)]
        assert not any(task.done() for task in rest)  # All threads are held.
        held.set()
        wait(first)
        wait(rest)

    assert sorted(done) == list(range(5))
