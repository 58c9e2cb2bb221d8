"""`make fuzz`: every target in turn, coverage-guided, for an equal share of the time; then a summary.

New inputs are stored in target/fuzz/corpus, from which the next run starts. A failing input is stored in
target/fuzz/failed: remove it after the fix, and add a small one to fuzz/corpus.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
OUT = ROOT / "target" / "fuzz"
PAPERS = [str(path.relative_to(ROOT)) for path in ROOT.glob("papers/optcp_papers/*/scenarios")]
# Kinds with more files than fuzz/corpus has.
MORE = {
    "scenario": ["python/optcp/scenarios", *PAPERS, "crates/scenario/tests/bad"],
    "packetdrill": ["tests/packetdrill"],
}
RUST = ("scenario", "overrides", "packetdrill", "conformance", "parquet")
PYTHON = (
    "gml",
    "graphml",
    "topology",
    "matrix",
    "mahimahi",
    "list",
    "parquet-list",
    "flows",
    "passes",
    "paths",
    "places",
    "tles",
    "network",
    "results",
    "kept",
    "study",
    "cell",
    "part",
    "table",
)
ATHERIS = "atheris==3.0.0"


def build() -> None:
    """Build the Rust targets, and install the driver of the Python ones."""
    # The sanitizers check unsafe code; without them a stable compiler is sufficient.
    command = ["cargo", "fuzz", "build", "--sanitizer", "none", "--target-dir", str(OUT / "build")]
    subprocess.run(command, cwd=ROOT, check=True)
    if not (OUT / "atheris").is_dir():
        # Install next to .venv instead of into it, because requirements.lock lists the content of .venv.
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--target", str(OUT / "atheris"), ATHERIS], check=True)


def program(target: str) -> list[str]:
    """Return the command that fuzzes a target."""
    if target in RUST:
        (built,) = (OUT / "build").glob(f"*/release/{target}")
        return [str(built)]
    return [sys.executable, str(ROOT / "fuzz" / "python.py"), target]


def fuzz(target: str, seconds: int) -> tuple[int, int, list[Path]]:
    """Fuzz a target; return the number of inputs, the program's exit status, and the failing inputs."""
    grown, failed = OUT / "corpus" / target, OUT / "failed" / target
    for directory in (grown, failed):
        directory.mkdir(parents=True, exist_ok=True)
    corpora = [grown, *(ROOT / place for place in (f"fuzz/corpus/{target}", *MORE.get(target, [])))]
    options = [f"-max_total_time={seconds}", "-timeout=20", "-rss_limit_mb=2000", "-max_len=16000"]
    done = subprocess.run(
        [*program(target), *options, "-print_final_stats=1", f"-artifact_prefix={failed}/", *map(str, corpora)],
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'python'}:{OUT / 'atheris'}", "RUST_BACKTRACE": "1"},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    (OUT / f"{target}.log").write_text(done.stdout + done.stderr, encoding="utf-8")
    result = re.search(r"number_of_executed_units: (\d+)", done.stderr)
    return int(result[1]) if result else 0, done.returncode, sorted(failed.iterdir())


def main() -> None:
    """Fuzz all targets, or the named ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, required=True, help="for all targets together")
    parser.add_argument("target", nargs="*", help=f"of {', '.join((*RUST, *PYTHON))}; all by default")
    asked = parser.parse_args()
    targets = asked.target or [*RUST, *PYTHON]
    if unknown := set(targets) - {*RUST, *PYTHON}:
        parser.error(f"no target {', '.join(sorted(unknown))}; there are {', '.join((*RUST, *PYTHON))}")
    build()
    seconds = max(1, round(asked.hours * 3600 / len(targets)))
    bad = False
    for target in targets:
        inputs, status, failed = fuzz(target, seconds)
        said = ", ".join(str(path.relative_to(ROOT)) for path in failed) or "none"
        print(f"{target:12} {inputs:>12,} inputs   fail: {said}", flush=True)
        if status and not failed:
            print(f"{target:12} ended with status {status}: see target/fuzz/{target}.log", flush=True)
        bad |= bool(failed or status)
    sys.exit(bad)


if __name__ == "__main__":
    main()
