"""Waypoint Co-Pilot meets the world: settings, wiring, command line, HTTP."""
