"""What touches the internals of a library: one module for each, with a test that fails where a new version differs."""
