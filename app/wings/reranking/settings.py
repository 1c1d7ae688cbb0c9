"""The settings of this wing."""

from typing import ClassVar

from pydantic import Field, SecretStr

from app.settings.group import AllSettings, Group
from app.settings.values import WebAddress


class RerankerSettings(Group):
    """The reranker that RERANKER names."""

    PREFIX: ClassVar[str] = "reranker_"

    model: str | None = Field(
        None,
        description="Model of the reranker. cross-encoder: a name at the hub or a folder, empty is "
        "cross-encoder/ettin-reranker-17m-v1; service: its name there",
    )
    base_url: WebAddress | None = Field(
        None, description="For RERANKER=service: base URL up to /v1, like http://127.0.0.1:8080/v1"
    )
    api_key: SecretStr | None = Field(None, description="API key of the reranking service, sent as a bearer token")

    def contradiction(self, settings: AllSettings) -> str | None:
        """Return what the reranker lacks."""
        chosen = settings.of_variable("reranker")
        if chosen == "service" and self.base_url is None:
            return "RERANKER=service needs RERANKER_BASE_URL, like http://127.0.0.1:8080/v1"
        return None
