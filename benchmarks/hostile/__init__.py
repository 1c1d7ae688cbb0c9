"""Hostile requests, files, settings and commands, each tried and counted: `make hostile`."""
