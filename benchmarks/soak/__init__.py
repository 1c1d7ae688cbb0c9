"""The soak test: 2,000 questions while one call to the provider in five fails: `make soak`."""
