"""Join a Ray cluster, or start Ray on this machine, without a word on the terminal."""

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from app.hooks import from_extra
from chains.errors import EmbeddingError, IngestionError

CONNECT_TIMEOUT_S = 5
# Ray alone would take a third of the memory for its objects; a batch of chunks or vectors takes a megabyte.
OBJECT_STORE_BYTES = 512 * 2**20
# What has been read and not taken yet, in all of the cluster.
READ_AHEAD_BYTES = 256 * 2**20


def connect(address: str | None) -> bool:
    """Join the cluster whose head is at `address`; None starts one here. Return whether it has to be stopped.

    Raise ConfigurationError if the extra is not installed; IngestionError if there is no cluster at the address.
    """
    with from_extra("ray", "--engine ray"):
        import ray.data  # noqa: PLC0415 - seconds, and an extra.
    joins = not ray.is_initialized()
    if joins:
        _join(address)
    # Files in order, what is read ahead bounded, and the terminal free.
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    context.execution_options.preserve_order = True
    limits = ray.data.ExecutionResources.for_limits(object_store_memory=READ_AHEAD_BYTES)
    context.execution_options.resource_limits = limits
    for name in ("ray", "ray.data"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return joins


def _join(address: str | None) -> None:
    import ray  # noqa: PLC0415 - as above.

    if address is not None:
        _require_listener(address)
    options: dict[str, Any] = {"object_store_memory": OBJECT_STORE_BYTES, "include_dashboard": False}
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    try:
        ray.init(address=address or "local", **(options if address is None else {}), **quiet)
    except (OSError, RuntimeError, ValueError) as error:
        where = repr(address) if address else "this machine"
        msg = f"Ray cannot be used on {where} ({str(error).splitlines()[0]}); run this on a machine of the cluster"
        raise IngestionError(msg) from error


def size_of(*, gpu: bool) -> tuple[int, int]:
    """Return how many models the cluster can run at once, and how many GPUs each one takes."""
    import ray  # noqa: PLC0415 - as above.

    resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    gpus = int(resources.get("GPU", 0)) if gpu else 0
    return (gpus, 1) if gpus else (max(1, int(resources.get("CPU", 1))), 0)


@contextmanager
def errors_translated(purpose: str) -> Iterator[None]:
    """Raise what Ray could not mend as an error of ours, with its reason."""
    import ray.exceptions  # noqa: PLC0415 - as above.

    try:
        yield
    except ray.exceptions.RayError as error:
        reason = str(getattr(error, "cause", None) or error).strip().splitlines()[-1]
        msg = f"Ray could not {purpose} ({reason}); what is written stays, and the same command goes on from there"
        raise EmbeddingError(msg) from error


def _require_listener(address: str) -> None:
    """Check that something listens: Ray itself would try for minutes, and write of it to the terminal."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), CONNECT_TIMEOUT_S):
            pass
    except (OSError, ValueError, OverflowError) as error:
        msg = f"no Ray cluster answers at {address!r} ({error}); give the address of its head, like 10.0.0.1:6379"
        raise IngestionError(msg) from error
