"""Language models that run on this machine, and what the project makes of their answers."""
