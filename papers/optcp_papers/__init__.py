"""OpTCP's own papers: their exhibits, printed values and claims, and the evidence for its model of TCP."""
