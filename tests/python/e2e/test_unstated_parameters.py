"""Study of unstated parameters with the compiled simulator."""

import json
import subprocess
import sys

CORNERS = """
from optcp.papers import assume
from optcp.papers.options import Options
from optcp.papers.registry import select
from optcp.papers.sensitivity.design import design
from optcp.papers.sensitivity.space import space
for name in ("gmpls/table3", "gmpls/table5", "slides/best-delay"):
    exhibit = select([name])[0]
    over = space(exhibit, {}, {})
    base = assume.values(exhibit.assumed, {})
    settings = [over.at([share] * len(over)) for share in (0, 1)] + design(over, 4).settings
    for setting in settings:
        exhibit.studies({**base, **setting}, Options())
    print(name, len(settings))
"""


def test_every_declared_range_makes_valid_scenarios():
    done = subprocess.run([sys.executable, "-c", CORNERS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 3


def test_choices_of_tcp_reach_the_runs(command, tmp_path):
    words = ("sensitivity", "gmpls/table3", "--set", "flows=10+10", "--over", "partial_ack", "--over", "tick_ms")
    done = command(*words, "--samples", "2", "--seeds", "2", "--out", "out")
    assert "partial_ack" in done.stdout
    found = json.loads((tmp_path / "out" / "sensitivity" / "gmpls" / "table3.json").read_text())
    assert len({tuple(item) for item in zip(*found["values"].values(), strict=True)}) == found["design"]["settings"]
