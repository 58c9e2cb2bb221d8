"""Break reducers and statistics one line at a time, and say which check notices.

    python tests/mutants.py [PART OF A FILE'S NAME]

Works on a copy of the tree in ``target/mutants``. A mutant in Rust is given to the tests of its crate, and where these
pass to generated scenarios with a reducer of their own. One in Python is given to the tests of statistics and results.
The last line says how many were noticed; the status is 1 if one was not.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
TREE = ROOT / "target" / "mutants" / "tree"
WORLDS = "150"
STATISTICS = (
    "test_stats", "test_samples", "test_cells", "test_compare", "test_completion_times", "test_sequential",
    "test_statistics_page", "test_study_until", "test_sensitivity", "e2e/test_unfinished",
)  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A line that is changed."""

    file: str
    line: str
    changed: str


SURVIVAL, METRICS = "crates/store/src/survival.rs", "crates/store/src/metrics.rs"
MEASURED = "crates/scenario/src/plan/observe.rs"
STATS, QUANTILES, CELLS = "python/optcp/stats/means.py", "python/optcp/stats/quantiles.py", "python/optcp/data/cells.py"
MUTANTS = [
    Mutant(SURVIVAL, "beyond / count(observations.len() - place)", "beyond / count(observations.len())"),
    Mutant(SURVIVAL, "beyond -= shares[at];", "beyond -= 0.0 * shares[at];"),
    Mutant(SURVIVAL, "then(other.ended.cmp(&one.ended))", "then(one.ended.cmp(&other.ended))"),
    Mutant(SURVIVAL, "reached >= share * (1.0 - ROUNDING)", "reached > share * (1.0 + ROUNDING)"),
    Mutant(
        SURVIVAL,
        "Estimate::beyond(self.longest)\n    }\n\n    /// The mean;",
        "Estimate::exact(self.longest)\n    }\n\n    /// The mean;",
    ),
    Mutant(SURVIVAL, "+ self.beyond * self.longest;", ";"),
    Mutant(SURVIVAL, "beyond: if cut {", "beyond: if !cut {"),
    Mutant(METRICS, "seconds(window.lasts().as_ps())", "seconds(series.stop.as_ps())"),
    Mutant(MEASURED, "self.until.as_ps().div_ceil(interval.as_ps())", "self.until.as_ps() / interval.as_ps()"),
    Mutant(METRICS, "(8.0 * measured / can).min(1.0)", "8.0 * measured / can"),
    Mutant(METRICS, "        rate = next;\n", ""),
    Mutant(METRICS, "since = since.max(at);", "since = at;"),
    Mutant(
        METRICS,
        "let area: f64 = measured.clone().map(|place| means[place] * length(place)).sum();",
        "let area: f64 = measured.clone().map(length).sum::<f64>() * means[measured.start];",
    ),
    Mutant(METRICS, "most[measured].iter().copied().fold(0.0, f64::max)", "most.iter().copied().fold(0.0, f64::max)"),
    Mutant(
        METRICS,
        "let ours = ours.into_iter().filter(|&row| measured.contains(&starts[row]));",
        "let ours = ours.into_iter();",
    ),
    Mutant(METRICS, "float((flows.len() - ended) as u64)", "float(flows.len() as u64)"),
    Mutant(METRICS, "(P95, 0.95)", "(P95, 0.9)"),
    Mutant(METRICS, "filter(|&row| lost[row] > 0.5)", "filter(|&row| lost[row] >= 0.0)"),
    Mutant(METRICS, "seconds: (gaps[row] - usual[row]) / 1e12", "seconds: gaps[row] / 1e12"),
    Mutant(
        METRICS,
        "packets.iter().zip(means).map(|(packets, mean)| packets * mean).sum();",
        "means.iter().sum::<f64>() * sent / means.len() as f64;",
    ),
    Mutant(METRICS, "Some(dropped + float(counts.delivered))", "Some(float(counts.sent))"),
    Mutant(METRICS, "sent + found.of(DUPLICATED).unwrap_or(0.0)", "sent"),
    Mutant("crates/engine/src/counts.rs", "            (&mut self.delivered, delivered),\n", ""),
    Mutant(
        "crates/runs/src/run.rs",
        "if !self.simulation.run_before_while(at + Duration::from_ps(1), go_on) {",
        "if !self.simulation.run_before_while(at, go_on) {",
    ),
    Mutant(STATS, "special.stdtrit(freedom, 0.5 + level / 2)", "special.ndtri(0.5 + level / 2)"),
    Mutant(STATS, "float(array.var(ddof=1))", "float(array.var(ddof=0))"),
    Mutant(STATS, "if not np.isfinite(array).all():", "if False:"),
    Mutant(
        STATS,
        "return Comparison(interval, min(1.0, 2 * _tail(difference, batches)))",
        "return Comparison(interval, min(1.0, _tail(difference, batches)))",
    ),
    Mutant(STATS, "difference[rounding & np.isfinite(difference)] = 0", "difference[rounding] = 0"),
    Mutant(
        STATS,
        "    if error == 0:\n        return Interval(centre, -np.inf, np.inf, n)",
        "    if n == 1:\n        return Interval(centre, -np.inf, np.inf, n)",
    ),
    Mutant(QUANTILES, "int(np.ceil(q * count * (1 - 1e-12))) - 1", "int(q * count)"),
    Mutant(
        QUANTILES,
        "high = n - int(np.count_nonzero(1 - below <= tail))",
        "high = n - 1 - int(np.count_nonzero(1 - below <= tail))",
    ),
    Mutant(QUANTILES, "return n / (n - 1) * float(spread @ spread)", "return float(spread @ spread) / n"),
    Mutant(
        QUANTILES, "(restricted if largest not in at_least[~known] else np.inf), restricted", "restricted, restricted"
    ),
    Mutant(
        QUANTILES,
        '_core.product_limit(arguments.shaped(at_least, "at_least", values.shape), np.isfinite(values))',
        "np.isfinite(values) / np.isfinite(values).sum()",
    ),
    Mutant("python/optcp/stats/signflip.py", "* 2.0**-given.size)", "* 2.0**-(given.size + 2))"),
    Mutant("python/optcp/stats/signflip.py", "given = differences[differences != 0]", "given = differences"),
    Mutant(CELLS, "result = np.where(np.isnan(result) & ~wrong, np.inf, result)", ""),
    Mutant("python/optcp/data/compare.py", "if not np.isfinite(gap.estimate):", "if False:"),
    Mutant("python/optcp/data/compare.py", "both[np.argmax(both) + 1 :] = False", "pass"),
    Mutant(
        "python/optcp/study/done.py",
        'took_s = np.where(table.numbers("finished").astype(bool)[ours], lasted_s, np.inf)',
        "took_s = lasted_s",
    ),
    Mutant("python/optcp/stats/sequential.py", "return LEVEL / number", "return LEVEL"),
]


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def environment() -> dict[str, str]:
    """Compiled files and Python modules are those of the copy."""
    target = str(TREE.parent / "built")
    return {**os.environ, "PYTHONPATH": str(TREE / "python"), "CARGO_TARGET_DIR": target, "WORLDS_TO": WORLDS}


def failing(command: list[str], pattern: str) -> str:
    """Return the first test of a command that fails, by a pattern; empty where all pass."""
    done = subprocess.run(command, cwd=TREE, env=environment(), capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return ""
    found = re.search(pattern, done.stdout + done.stderr)
    return found[1] if found else "it does not compile: " + (done.stdout + done.stderr)[-300:]


def noticed(mutant: Mutant) -> str:
    """Return the check that notices a mutant; empty where none does."""
    if mutant.file.endswith(".py"):
        tests = [f"tests/python/{name}.py" for name in STATISTICS]
        return failing([sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests], r"FAILED (\S+)")
    crate = failing(["cargo", "test", "--locked", "-q", "-p", "optcp-store"], r"failures:\n +(\S+)\n")
    worlds = ["cargo", "test", "--locked", "-q", "-p", "optcp-runs", "--test", "worlds", "--", "--nocapture"]
    return crate or failing(worlds, r"world \d+: ([^:]+):")


def main(chosen: str = "") -> int:
    """Try the mutants."""
    shutil.rmtree(TREE, ignore_errors=True)
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    for name in filter(None, files.split("\0")):
        (TREE / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, TREE / name)  # with new times, so that nothing compiled before counts
    for extension in (ROOT / "python" / "optcp").glob("_core*.so"):
        shutil.copy2(extension, TREE / "python" / "optcp")
    mutants = [mutant for mutant in MUTANTS if chosen in mutant.file]
    caught = 0
    for number, mutant in enumerate(mutants, 1):
        path = TREE / mutant.file
        text = path.read_text(encoding="utf-8")
        if text.count(mutant.line) != 1:
            say(f"{number}: {mutant.file}: stands {text.count(mutant.line)} times: {mutant.line}")
            continue
        path.write_text(text.replace(mutant.line, mutant.changed), encoding="utf-8")
        check = noticed(mutant)
        path.write_text(text, encoding="utf-8")
        caught += bool(check)
        say(
            f"{number}: {mutant.file}: `{mutant.line.strip()}` -> `{mutant.changed.strip()}`: {check or 'NOT NOTICED'}",
        )
    say(f"{caught} of {len(mutants)} mutants noticed")
    return int(caught < len(mutants))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
