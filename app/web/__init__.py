"""The page: its HTML, styles, scripts and words, without a web framework."""
