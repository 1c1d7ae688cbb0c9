"""The HTTP contracts, one file each."""
