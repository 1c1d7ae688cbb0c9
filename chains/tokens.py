"""Count tokens without a tokenizer: four characters are one token."""

CHARACTERS_PER_TOKEN = 4


class FourCharacters:
    """Counts four characters as a token, as the providers' own rules of thumb do; a part counts as a whole one."""

    def count(self, text: str) -> int:
        """Return the number of tokens."""
        return -(-len(text) // CHARACTERS_PER_TOKEN)

    def cut(self, text: str, tokens: int) -> str:
        """Return the beginning of the text that fits into so many tokens."""
        return text[: max(0, tokens) * CHARACTERS_PER_TOKEN]
