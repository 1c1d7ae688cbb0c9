"""Question sets, metrics and reports, for `waypoint eval`."""
