"""Tables of docs/details/statistics.md compared with a new simulation."""

import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs" / "details"


def test_page_matches_simulation():
    subprocess.run([sys.executable, DOCS / "statistics.py", "--check"], check=True)
