"""OpenAI's chat completions contract."""
