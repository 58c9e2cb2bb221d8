"""Claim: the speed of OpTCP on a dumbbell, beside ns-2 and ns-3 if they are installed.

``python benches/claims/speed.py [--repeat N] [--flows N ...]``. The peers are Debian's packages ``ns2`` and
``libns3-dev``; the latter needs a C++ compiler, ``pkg-config`` and ``libgsl-dev``. Every program simulates the same
dumbbell, one after the other in each round. The table contains medians.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from claim import Claim, run, show

from optcp.checks.bench import SIZES, measure

if TYPE_CHECKING:
    from collections.abc import Callable

PEERS = Path(__file__).parent / "peers"
MODULES = ("applications", "internet", "point-to-point", "traffic-control", "network", "core")

#: Million packet-hops per CPU second in README.md, by number of flows.
STATED: dict[str, dict[int, float]] = {
    "OpTCP, NewReno": {10: 83, 100: 80, 1000: 74},
    "OpTCP, Linux 6 with CUBIC": {10: 47, 100: 41, 1000: 28},
    "OpTCP, Linux 6 with BBR": {10: 24, 100: 17, 1000: 8.7},
    "ns-2, NewReno": {10: 5.4, 100: 3.5, 1000: 1.5},
    "ns-3, NewReno with SACK": {10: 0.25, 100: 0.15, 1000: 0.04},
}
OWN = {"OpTCP, NewReno": "newreno", "OpTCP, Linux 6 with CUBIC": "linux-6", "OpTCP, Linux 6 with BBR": "bbr"}

#: Simulated seconds of ns-3 with 1000 flows; it takes minutes per second.
SHORT_S = 1.5


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=3, help="number of rounds (default: 3)")
    sizes = dict(SIZES)
    parser.add_argument("--flows", type=int, nargs="+", choices=sizes, default=list(sizes), help="sizes (default: all)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        peers = found_peers(Path(folder))
        claims = []
        for flows in options.flows:
            rounds = [one_round(flows, sizes[flows], peers) for _ in range(options.repeat)]
            speeds = {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}
            claims += [
                Claim(f"{name}, {flows} flows", f"{stated[flows]:g}", f"{speeds[name]:.3g}" if name in speeds else "")
                for name, stated in STATED.items()
            ]
            fastest = max((speeds[name] for name in peers), default=0)
            if fastest:
                ratio = statistics.median(one["OpTCP, NewReno"] / max(one[name] for name in peers) for one in rounds)
                best = max(STATED[name][flows] for name in peers)
                stated = STATED["OpTCP, NewReno"][flows] / best
                what = f"ratio to the fastest of these peers, {flows} flows"
                claims.append(Claim(what, f"{stated:.0f}", f"{ratio:.0f}"))
    title = "Million packet-hops per CPU second"
    show(title, claims, f"n = {options.repeat} rounds; medians. Ratios are taken in each round.")


def found_peers(folder: Path) -> dict[str, Callable[[int, float], float]]:
    """Return the peers of this machine: functions from flows and seconds to million packet-hops per CPU second."""
    peers: dict[str, Callable[[int, float], float]] = {}
    if ns2 := shutil.which("ns"):

        def by_ns2(flows: int, seconds: float) -> float:
            process = run(ns2, str(PEERS / "dumbbell.tcl"), str(flows), str(seconds))
            return float(process.output.split()[0]) / process.cpu_s / 1e6

        peers["ns-2, NewReno"] = by_ns2
    if program := built_for_ns3(folder):

        def by_ns3(flows: int, seconds: float) -> float:
            process = run(str(program), str(flows), str(SHORT_S if flows >= 1000 else seconds))
            hops, _, cpu_s = map(float, process.output.split())
            return hops / cpu_s / 1e6

        peers["ns-3, NewReno with SACK"] = by_ns3
    return peers


def built_for_ns3(folder: Path) -> Path | None:
    """Compile the program for ns-3. Return None without ns-3 or a compiler."""
    compiler, flags_of = shutil.which("g++"), shutil.which("pkg-config")
    if not (compiler and flags_of):
        return None
    names = [f"ns3-{name}" for name in MODULES]
    flags = subprocess.run([flags_of, "--cflags", "--libs", *names], capture_output=True, text=True, check=False)  # noqa: S603
    if flags.returncode:
        return None
    program = folder / "dumbbell"
    command = [compiler, "-O2", "-o", str(program), str(PEERS / "dumbbell.cc"), *flags.stdout.split()]
    subprocess.run(command, check=True)  # noqa: S603 - the compiler of this machine
    return program


def one_round(flows: int, seconds: int, peers: dict[str, Callable[[int, float], float]]) -> dict[str, float]:
    """Return million packet-hops per CPU second of each program."""
    rows = measure(tuple(OWN.values()), flows, seconds, 1)
    own = {row.tcp: row.hops_per_cpu_s / 1e6 for row in rows}
    speeds = {name: own[tcp] for name, tcp in OWN.items()}
    return speeds | {name: peer(flows, seconds) for name, peer in peers.items()}


if __name__ == "__main__":
    main()
