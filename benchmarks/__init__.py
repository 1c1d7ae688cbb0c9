"""Measurements of speed, load, scale and retrieval; for development, not in the wheel."""
