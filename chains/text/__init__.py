"""Read and write plain text: what several stages need, and nothing of any stage."""
