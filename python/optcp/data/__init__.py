"""Values of seeds and cells with named axes: cells, samples, estimates, tables."""
