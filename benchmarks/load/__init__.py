"""Load tests on loopback: what the service adds to the time of the language model."""
