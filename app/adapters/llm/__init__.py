"""Chat models: Groq, any service that speaks OpenAI's protocol, and the offline answerer."""
