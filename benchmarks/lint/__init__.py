"""Plant contradictions in copies of two corpora, and count which of them `waypoint lint` finds."""
