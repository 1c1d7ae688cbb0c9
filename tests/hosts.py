"""Hosts of one service: each runs `waypoint serve` with workers in a folder of its own, over what all share."""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from benchmarks.processes import Service, free_port, service, wait_until


@dataclass
class Host:
    """One of the hosts; its address stays the same when it is started again."""

    folder: Path
    settings: dict[str, str]
    workers: int = 2
    port: str = field(default_factory=lambda: str(free_port()))

    def __post_init__(self) -> None:
        self.folder.mkdir(exist_ok=True)
        self._running = ExitStack()
        self._service: Service | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        options = ("--workers", str(self.workers))
        self._service = self._running.enter_context(service(self.folder, *options, port=self.port, **self.settings))

    def kill(self) -> None:
        """End all of its processes by SIGKILL, as where a machine loses its power."""
        assert self._service
        parent = psutil.Process(self._service.process.pid)
        family = [parent, *parent.children(recursive=True)]
        for process in family:
            process.suspend()  # Else the parent sees its workers end, and starts others.
        for process in family:
            process.kill()
        psutil.wait_procs(family)
        self._running.close()

    def stop(self) -> None:
        if self._service and self._service.process.poll() is None:
            self.kill()

    def answering(self) -> list[psutil.Process]:
        """Return its workers, always in the same order, once all are there: it answers as soon as one is."""
        assert self._service
        serving = self._service
        wait_until(lambda: len(serving.workers()) == self.workers)
        return sorted(serving.workers(), key=lambda worker: worker.pid)

    def answered(self) -> set[str]:
        """Return the ids of the requests that it has answered since it was started."""
        assert self._service
        lines = self._service.messages.read_text(encoding="utf-8").splitlines()
        told = [json.loads(line) for line in lines if line.startswith("{")]
        return {line["request_id"] for line in told if line["event"] == "answer"}


@contextmanager
def running(*hosts: Host) -> Iterator[None]:
    """Start the hosts at the same time, and run them while the body runs."""
    try:
        with ThreadPoolExecutor(len(hosts)) as starting:
            list(starting.map(Host.start, hosts))
        yield
    finally:
        for host in hosts:
            host.stop()


def each_worker(hosts: Sequence[Host]) -> Iterator[None]:
    """Yield once for each worker of the hosts that are asked in turn; those that are not meant are suspended."""
    for number in range(hosts[0].workers):
        resting = [worker for host in hosts for worker in host.answering() if worker != host.answering()[number]]
        for worker in resting:
            worker.suspend()
        try:
            for _ in hosts:
                yield
        finally:
            for worker in resting:
                worker.resume()
