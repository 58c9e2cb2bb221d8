"""Pictures of one run: ``optcp trace``, and the method ``plot`` of runs."""
