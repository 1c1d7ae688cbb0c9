"""Question sets, metrics and measurements: what the project claims, as commands."""
