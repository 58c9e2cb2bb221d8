"""Papers that OpTCP reproduces: experiments, published values and claims; and evidence for its TCP model."""
