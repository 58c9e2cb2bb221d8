"""``python -m optcp``: the same command as ``optcp``."""

from optcp.cli.main import main

if __name__ == "__main__":
    main()
