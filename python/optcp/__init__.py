"""OpTCP: a packet-level, deterministic simulator of TCP over failing optical networks.

The simulator itself is the compiled module ``optcp._core``; this package is its front: studies, statistics,
the papers' exhibits, figures and reports. Nothing heavy is imported here, so that the command starts at once.
"""
