"""The command line: one verb a function."""
