"""Claim: small commands start in 10 to 50 ms. ``python benches/claims/start.py``."""

import statistics
import sys
import tempfile
from pathlib import Path

from claim import Claim, run, show

REPEAT = 15


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        scenario = str(Path(folder) / "ring.toml")
        run(sys.executable, "-m", "optcp", "new", scenario)
        commands = {
            "python -c pass": ("9", ("-c", "pass")),
            "import optcp": ("17", ("-c", "import optcp")),
            "optcp --version": ("50", ("-m", "optcp", "--version")),
            "optcp --help": ("50", ("-m", "optcp", "--help")),
            "optcp validate": ("50", ("-m", "optcp", "validate", scenario)),
        }
        claims = []
        for name, (stated, words) in commands.items():
            time_s = statistics.median(run(sys.executable, *words).wall_s for _ in range(REPEAT))
            claims.append(Claim(f"{name}, ms", stated, f"{1000 * time_s:.0f}"))
    show("Time of a command, with the interpreter", claims, f"n = {REPEAT}; medians of the elapsed time.")


if __name__ == "__main__":
    main()
