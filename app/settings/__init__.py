"""The settings, read from the environment and `.env`. Nothing else in the project reads the environment."""

from app.settings.settings import Settings, SettingsError, fields, load_settings, unused_variables, unused_warning

__all__ = ["Settings", "SettingsError", "fields", "load_settings", "unused_variables", "unused_warning"]
