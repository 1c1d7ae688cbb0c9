"""The HTTP contracts, one router each, and what they share: errors, options, history, examples, event streams."""
