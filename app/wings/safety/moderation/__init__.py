"""Moderators: services and models that tell whether a question is harmful."""
