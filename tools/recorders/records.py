"""Directory of recordings, which the package optcp-papers uses for comparison."""

from pathlib import Path

RECORDS = Path(__file__).resolve().parents[2] / "papers/optcp_papers/evidence/data"
