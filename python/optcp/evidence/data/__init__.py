"""Data files: outside figures, runs of ns-2 with the script that makes them, and the table of mechanisms."""
