"""Sessions that several processes share."""
