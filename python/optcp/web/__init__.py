"""Pages that a browser opens: animations of runs, and a page that simulates."""
