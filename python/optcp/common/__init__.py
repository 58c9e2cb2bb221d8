"""Shared helpers: arguments, files, stored results, words."""
