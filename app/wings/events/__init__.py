"""Events about questions and answers, published to RabbitMQ."""
