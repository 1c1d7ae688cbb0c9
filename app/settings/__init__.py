"""The settings, read from the environment and `.env`. Nothing else in the project reads the environment."""

from app.settings.reading import SettingsError, load_settings, unused_variables, unused_warning
from app.settings.settings import Settings, fields

__all__ = ["Settings", "SettingsError", "fields", "load_settings", "unused_variables", "unused_warning"]
