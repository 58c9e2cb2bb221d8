"""Claim: a scenario, a seed and a version give one result, with any engine and number of threads.

``python benches/claims/identical.py``. The digest (``metrics_sha256``) can be compared with that of another machine.
"""

import hashlib
import tempfile
from pathlib import Path

from claim import Claim, show

import optcp
from optcp import _core
from optcp.scenarios.shipped import find

SCENARIOS = ("single-failure", "gmpls-section5", "spraying")
JOBS = (1, 2, 4)
SEEDS = 4


def main() -> None:
    """Run everything and print."""
    claims: list[Claim] = []
    notes: list[str] = []
    for name in SCENARIOS:
        digests = {digest(name, jobs) for jobs in JOBS}
        claims.append(Claim(f"{name}: digests with {JOBS} threads", "1", f"{len(digests)}"))
        scenario = _core.Scenario.load(str(find(name)), [])
        by_engine = {scenario.run(1, engine=engine).metrics_sha256 for engine in ("reference", "fast")}
        claims.append(Claim(f"{name}: digests with both engines", "1", f"{len(by_engine)}"))
        notes.append(f"{name}, seeds 1 to {SEEDS}: {' '.join(sorted(digests))}")
    show("Number of different results", claims, "SHA-256 of the digests, to compare with another machine:", *notes)


def digest(name: str, jobs: int) -> str:
    """Return the digest of a study of the scenario: of the digests of its runs."""
    with tempfile.TemporaryDirectory() as folder:
        done = optcp.Study(name, seeds=SEEDS).run(Path(folder) / "study", jobs=jobs)
        return hashlib.sha256("".join(done.digests("metrics_sha256")).encode()).hexdigest()


if __name__ == "__main__":
    main()
