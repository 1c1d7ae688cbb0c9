"""Checks of questions and documents: attacks on the model, personal data, moderation."""
