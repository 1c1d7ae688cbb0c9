"""Find out who is calling: sessions in Redis, the auth service, API keys."""
