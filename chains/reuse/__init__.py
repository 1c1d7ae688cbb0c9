"""The chain inside other programs: as a tool, in agents, as a graph, and its stages as plain functions."""
