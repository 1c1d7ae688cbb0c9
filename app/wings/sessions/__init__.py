"""Sessions and conversations that several processes share."""
