"""Documents added and removed over HTTP."""
