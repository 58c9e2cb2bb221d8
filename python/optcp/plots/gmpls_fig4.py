"""Figure 4."""
