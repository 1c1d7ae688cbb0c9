"""Events for other services: stored on disk, then delivered to a RabbitMQ exchange in order, at least once."""
