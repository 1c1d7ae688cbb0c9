"""What became of a call to a service, for `pytest.raises(..., check=...)`."""

from chains.errors import WaypointError


def is_unavailable(error: WaypointError) -> bool:
    return error.failure == "unavailable"


def is_rate_limited(error: WaypointError) -> bool:
    return error.failure == "rate_limited"


def is_circuit_open(error: WaypointError) -> bool:
    return error.failure == "circuit_open"
