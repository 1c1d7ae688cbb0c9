"""A service under load whose provider fails one call in five -> whether it kept every promise: `make soak`."""
