"""Where records are stored: the package optcp-papers compares with them."""

from pathlib import Path

RECORDS = Path(__file__).resolve().parents[2] / "papers/optcp_papers/evidence/data"
