"""Chat models behind an API: Groq, and any other service that speaks OpenAI's protocol."""
