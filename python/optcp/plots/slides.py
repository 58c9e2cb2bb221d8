"""Figures of the slides."""
