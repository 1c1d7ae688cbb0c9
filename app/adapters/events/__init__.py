"""Events for other services: stored, then delivered to a RabbitMQ exchange in order, at least once."""
