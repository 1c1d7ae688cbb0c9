"""Messages -> a topic exchange of RabbitMQ: kept on disk until the broker has them, delivered in order."""
