"""The texts that the injection classifier is fitted on, the fit, and what it is worth on families it has not seen."""
