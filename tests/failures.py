"""What became of a call to a service, for `pytest.raises(..., check=...)`."""

from chains.errors import WaypointError


def is_unavailable(error: WaypointError) -> bool:
    """Return whether the service could not be reached, or failed."""
    return error.failure == "unavailable"


def is_rate_limited(error: WaypointError) -> bool:
    """Return whether the service asked to wait."""
    return error.failure == "rate_limited"


def is_circuit_open(error: WaypointError) -> bool:
    """Return whether the service was not called, because it had failed so often."""
    return error.failure == "circuit_open"
