"""Access to libraries' internals: one module each, with a test that fails when a new version differs."""
