"""Scenario files: loaded, changed, checked; the networks, matrices and schedules that they name."""
