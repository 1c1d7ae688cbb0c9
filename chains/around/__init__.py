"""What stands around a call of the chain: observers, conversations, deadline, records, and steps that may fail."""
