"""The service under load on loopback: what it adds to the time of the language model, and where that goes."""
