"""Both kernels make the same run of scenarios on topologies by name; Rust's tests compare all shipped ones."""

from pathlib import Path

import pytest

import optcp
from optcp import _core

SCENARIOS = sorted((Path(optcp.__file__).parent / "scenarios").glob("*.toml"))
NAMED = [path for path in SCENARIOS if "\n[topology]" in path.read_text()]


@pytest.mark.parametrize("path", NAMED, ids=lambda path: path.stem)
def test_the_kernels_agree(path):
    scenario = _core.Scenario.load(str(path))
    plain, fast = (scenario.run(1, digest=True, kernel=kernel) for kernel in ("reference", "fast"))
    assert plain.records_sha256 == fast.records_sha256
    assert plain.metrics_sha256 == fast.metrics_sha256
    assert fast.counts["packet_hops"] > 10_000


def test_an_unknown_kernel_is_refused():
    scenario = _core.Scenario.load(str(SCENARIOS[0]))
    with pytest.raises(ValueError, match="`quick` is no kernel: it is `reference` or `fast`"):
        scenario.run(1, kernel="quick")
