"""Run the HTTP service in one process or several, until a signal has drained it.

uvicorn closes its listeners at the signal. This module handles the signal first: new requests are refused and running
ones end, then uvicorn's handler is called.
"""

import asyncio
import multiprocessing
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import uvicorn

from app.http.middleware.limits import InFlight
from app.http.uvicorn_compat import BoundedConnection, OneProcess, Workers
from app.observability.logs import configure_logs
from app.settings import load_settings
from app.wiring import Service, open_service
from chains.errors import WaypointError
from chains.logs import get_logger

if sys.platform != "win32":
    import resource

if TYPE_CHECKING:
    from fastapi import FastAPI

SIGNALS = (signal.SIGTERM, signal.SIGINT)
# How long sending a finished answer may take after the drain.
SHUTDOWN_TIMEOUT_S = 5
DRAIN_S = 30.0  # How long running answers may take to finish after SIGTERM.
# How long a worker may take to start on a busy machine.
WORKER_START_TIMEOUT_S = 60

log = get_logger(__name__)


def serve(
    services: Service, *, host: str, port: int, workers: int = 1, on_started: Callable[[], None] = lambda: None
) -> None:
    """Serve until a signal comes and the service is drained; a second signal stops it at once.

    `on_started` is called when everything is loaded and the first process listens. Raise WaypointError if nothing can
    listen there, or the application did not start.
    """
    settings = services.settings
    config = uvicorn.Config(
        f"{__name__}:worker" if workers > 1 else partial(application, services),
        factory=True,
        host=host,
        port=port,
        workers=workers,
        log_config=None,  # Its log lines use our format.
        log_level=settings.logs.level,
        access_log=False,  # Each question has its own log line, and each request is counted.
        server_header=False,
        http=BoundedConnection,
        ws="none",
        proxy_headers=bool(settings.access.forwarded_allow_ips),  # No X-Forwarded-For is trusted by default.
        forwarded_allow_ips=settings.access.forwarded_allow_ips,
        timeout_graceful_shutdown=SHUTDOWN_TIMEOUT_S,
        timeout_worker_healthcheck=WORKER_START_TIMEOUT_S,
    )
    if sys.platform != "win32":  # As many open connections as the system grants; the default is 1,024.
        _, granted = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (granted, granted))
    try:
        with _bound(host, port) as listener:
            if workers > 1:
                with TemporaryDirectory(prefix="waypoint-metrics-") as shared:
                    os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", shared)  # noqa: TID251 - For the processes.
                    Workers(config, [listener], on_started).run()
            else:
                for number in SIGNALS:  # uvicorn raises the signal again once stopped; a drained stop is no failure.
                    signal.signal(number, signal.SIG_IGN)
                OneProcess(config, on_started).run([listener])
    except SystemExit:
        raise WaypointError("the service could not start; the lines above say why") from None


def _bound(host: str, port: int) -> socket.socket:
    """Return a bound socket that does not listen yet, so that a taken address is reported before anything is loaded."""
    listener = None
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        if listener is not None:
            listener.close()
        msg = f"cannot listen on {host}:{port} ({error.strerror}); give another --host or --port"
        raise WaypointError(msg) from error
    log.info("bound", host=host, port=port)
    return listener


def worker() -> "FastAPI":
    settings = load_settings()
    configure_logs(settings.logs.level, settings.logs.format)

    def end_with_parent() -> None:
        """Drain if the parent was killed: an orphan would keep the address, and nobody could stop or replace it."""
        if parent := multiprocessing.parent_process():
            parent.join()
            log.warning("parent_died")
            os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=end_with_parent, daemon=True).start()
    try:
        return application(open_service(settings))
    except WaypointError as error:
        log.error("worker_failed_to_start", error=str(error))
        sys.exit(1)


def application(services: Service) -> "FastAPI":
    """Return the application, which drains at signals; called inside the event loop that will serve it."""
    from app.http.server import create_app

    app = create_app(services)
    drain_at_signals(app.state.in_flight, DRAIN_S)
    return app


def drain_at_signals(in_flight: InFlight, timeout_s: float) -> None:
    """Drain at a signal, then call the server's own handler; a second signal ends the process at once."""
    loop = asyncio.get_running_loop()
    begun: list[asyncio.Task[None]] = []

    async def drain_and_stop(stop: Callable[[], Any]) -> None:
        log.info("draining", running=in_flight.running)
        await in_flight.drain(timeout_s)
        log.info("drained", running=in_flight.running)
        stop()

    def drain(number: signal.Signals, stop: Callable[..., Any]) -> None:
        if not begun:
            begun.append(loop.create_task(drain_and_stop(partial(stop, number, None))))
        elif multiprocessing.parent_process() is None:  # A worker may get one signal twice: from parent and terminal.
            os._exit(128 + number)  # Threads are not waited for.

    for number in SIGNALS:
        stop = signal.getsignal(number)
        if callable(stop):
            loop.add_signal_handler(number, drain, number, stop)
