"""``optcp sensitivity``: which unstated parameter drives an exhibit's result."""
