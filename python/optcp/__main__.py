"""``python -m optcp``: the same command as ``optcp``."""

from optcp.cli import main

if __name__ == "__main__":
    main()
