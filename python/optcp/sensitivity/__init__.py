"""``optcp sensitivity``: which unsaid parameter carries an exhibit's result."""
