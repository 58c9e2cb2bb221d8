"""Real packets in simulated networks, in real time."""
