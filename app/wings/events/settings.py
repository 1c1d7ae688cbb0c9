"""The settings of this wing."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from app.settings.group import Group, address_of_host
from app.settings.values import BrokerAddress, Flag, Port, Positive


class EventSettings(Group):
    """Events about questions and answers."""

    PREFIX: ClassVar[str] = "events_"

    rabbitmq_url: BrokerAddress | None = Field(
        None,
        validation_alias="rabbitmq_url",
        description="Message broker for events, like amqp://user:password@host:5672/; empty: no events",
    )
    rabbitmq_host: str | None = Field(
        None,
        validation_alias="rabbitmq_host",
        description="Host of the broker if RABBITMQ_URL is not set; connects as RabbitMQ's default user, guest",
    )
    rabbitmq_port: Port = Field(5672, validation_alias="rabbitmq_port", description="Port of the broker")
    enabled: Flag = Field(True, description="Whether events are published when RABBITMQ_URL is set")
    capacity: Positive = Field(
        10_000,
        validation_alias="events_max",
        description="Maximum number of waiting events; the oldest are dropped beyond it",
    )

    @classmethod
    def completed(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the address of a host."""
        return address_of_host(values, "rabbitmq", 5672, "amqp://guest:guest@{}:{}/")
