"""One definition of quantiles in all modules."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ROOT / "python" / "optcp", ROOT / "papers" / "optcp_papers"
INTERPOLATING = {"percentile", "quantile", "quantiles", "median", "nanpercentile", "nanquantile", "nanmedian"}
OTHERS = {
    "checks/bench.py": "medians of turns of a stopwatch, which no run of a world shows",
    "stats/resampling.py": "ends of a bootstrap's interval, as order statistics of its resamples",
}
"""Modules that may call quantiles of NumPy or the standard library, with reasons."""


def other_quantiles(module):
    """Return the lines of a module that call quantiles of NumPy or of `statistics`."""
    names = {"np", "numpy", "statistics"}
    tree = ast.parse(module.read_text(encoding="utf-8"))
    attributes = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr in INTERPOLATING
        and isinstance(node.value, ast.Name)
        and node.value.id in names
    ]
    imported = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and node.module in ("numpy", "statistics")
        and INTERPOLATING & {name.name for name in node.names}
    ]
    return attributes + imported


def test_quantiles_have_one_definition_in_all_modules():
    found = {
        str(module.relative_to(package)): lines
        for package in PACKAGES
        for module in sorted(package.rglob("*.py"))
        if (lines := other_quantiles(module))
    }
    assert set(found) == set(OTHERS), f"use optcp.stats.quantiles.sample_quantile, or say why not: {found}"
