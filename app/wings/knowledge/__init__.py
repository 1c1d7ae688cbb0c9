"""Care of the knowledge: proof of what answers rest on."""
