"""Checks the subjects of commits: `component: imperative`, at most 72 characters, no full stop at the end.

Without an argument all commits since :data:`SINCE` are checked; `subjects.py FILE` checks the message in a file, as a
commit-msg hook does.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

SINCE = "2026-11-28 16:40 +0000"
"""Time from which the rule holds."""
SUBJECT = re.compile(r"(?=.{1,72}$)[a-z][a-z0-9/_, .-]*: [a-z`0-9-].*[^.]$")


def main() -> int:
    """Print the subjects that break the rule."""
    if len(sys.argv) > 1:
        subjects = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()[:1]
    else:
        command = ["git", "log", f"--since={SINCE}", "--no-merges", "--format=%s"]
        # An archive of the source has no history.
        done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
        subjects = done.stdout.splitlines()
    wrong = [one for one in subjects if not SUBJECT.match(one)]
    for one in wrong:
        print(f"commit subject: expected `component: imperative`, at most 72 characters: {one}", file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
