"""The documents as tools and resources for agents (Model Context Protocol)."""
