"""Measure retrieval and changes of the index as it grows: `make scale`."""
