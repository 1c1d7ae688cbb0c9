"""Language models that run on this machine, for tests and measurements."""
