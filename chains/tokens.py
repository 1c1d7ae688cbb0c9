"""A text -> its size in tokens, where no tokenizer is at hand: four characters a token."""

CHARACTERS_PER_TOKEN = 4


class FourCharacters:
    """Counts four characters as a token, as the providers' own rules of thumb do; a part counts as a whole one."""

    def count(self, text: str) -> int:
        """Return the number of tokens."""
        return -(-len(text) // CHARACTERS_PER_TOKEN)

    def cut(self, text: str, tokens: int) -> str:
        """Return as much of the beginning of the text as so many tokens hold."""
        return text[: max(0, tokens) * CHARACTERS_PER_TOKEN]
