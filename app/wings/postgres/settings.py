"""The settings of this wing."""

from typing import ClassVar

from pydantic import Field, SecretStr

from app.settings.group import AllSettings, Group
from app.settings.values import Positive


class DatabaseSettings(Group):
    """The database of DATABASE_URL."""

    PREFIX: ClassVar[str] = "database_"

    url: SecretStr | None = Field(
        None, description="PostgreSQL database, like postgresql://user:password@host:5432/name"
    )
    pool_size: Positive = Field(10, description="Maximum database connections per process")

    def contradiction(self, settings: AllSettings) -> str | None:
        """Return that something is kept in PostgreSQL, and nothing says where that is."""
        names = ("vector_store_type", "session_backend", "events_backend")
        used = [name.upper() for name in names if settings.of_variable(name) == "postgres"]
        if used and self.url is None:
            return f"{used[0]}=postgres needs DATABASE_URL, like postgresql://user:password@host:5432/name"
        return None
