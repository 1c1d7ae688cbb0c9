"""Stage 5: rate how far the answer can be trusted."""
