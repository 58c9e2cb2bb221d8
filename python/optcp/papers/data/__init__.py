"""Data files: printed values, claims, tolerances, and the baseline of verdicts."""
