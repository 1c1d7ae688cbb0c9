"""The settings, read from the environment and `.env`. Nothing else in the project reads the environment."""

from app.settings.reading import SettingsError, load_settings, unused_variables
from app.settings.settings import Settings

__all__ = ["Settings", "SettingsError", "load_settings", "unused_variables"]
