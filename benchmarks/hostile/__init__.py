"""Hostile clients, files, settings, commands, replies and servers, each tried and counted: `make hostile`."""
