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
        """Return that the index is kept in PostgreSQL, and nothing says where that is."""
        if settings.of_variable("vector_store_type") == "postgres" and self.url is None:
            return "VECTOR_STORE_TYPE=postgres needs DATABASE_URL, like postgresql://user:password@host:5432/name"
        return None
