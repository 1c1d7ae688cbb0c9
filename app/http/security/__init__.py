"""Authentication: who may call what."""
