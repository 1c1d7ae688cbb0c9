"""Words of passages: what they are searched by, in FTS5 tables of SQLite and in terms and postings of PostgreSQL."""

from typing import Literal

# What strangers are answered by: of words that only internal passages hold, nothing may be told, not even by the scores
# and the order of public ones. It indexes rows of `words`, and keeps no text itself.
FTS = (
    "CREATE VIRTUAL TABLE words USING fts5(title, section, text, tokenize = 'porter unicode61')",
    "CREATE VIRTUAL TABLE public_words USING fts5("
    "title, section, text, content = words, tokenize = 'porter unicode61')",
    "CREATE VIRTUAL TABLE words_terms USING fts5vocab(words, 'row')",
    "CREATE VIRTUAL TABLE public_words_terms USING fts5vocab(public_words, 'row')",
)
# The terms of a passage stand beside it too: what holds them is counted when it is deleted.
POSTINGS = (
    "CREATE TABLE words (passage bigint PRIMARY KEY, searched text NOT NULL, terms integer[] NOT NULL, "
    "tokens integer NOT NULL, is_public boolean NOT NULL)",
    'CREATE TABLE terms (term text COLLATE "C" PRIMARY KEY, number integer GENERATED ALWAYS AS IDENTITY UNIQUE, '
    "passages integer NOT NULL, public_passages integer NOT NULL)",
    "CREATE TABLE postings (term integer, passage bigint, count smallint NOT NULL, tokens smallint NOT NULL, "
    "PRIMARY KEY (term, passage) INCLUDE (count, tokens))",
)


def tables_of_words(dialect: Literal["sqlite", "postgresql"]) -> tuple[str, ...]:
    """Return the statements that make the tables of words."""
    return FTS if dialect == "sqlite" else POSTINGS
