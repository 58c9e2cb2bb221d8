"""The report: one HTML page of all results in a directory, without anything from a network."""
