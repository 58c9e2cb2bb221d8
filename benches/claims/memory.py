"""Claim: memory per flow, on the dumbbell of 1000 flows. ``python benches/claims/memory.py``."""

from claim import Claim, show

from optcp.checks.bench import measure

FLOWS, SECONDS = 1000, 10

#: Kilobytes per flow in docs/developers/performance.md.
STATED = {"linux-6": 35, "bbr": 107}


def main() -> None:
    """Measure and print."""
    rows = measure(tuple(STATED), FLOWS, SECONDS, 1)
    # Megabytes of the benchmark are 2^20 bytes.
    measured = {row.tcp: row.memory_mb * 1024 * 1.024 / row.flows for row in rows}
    claims = [Claim(f"{tcp}, kB per flow", f"{stated}", f"{measured[tcp]:.0f}") for tcp, stated in STATED.items()]
    show(f"Increase of the peak memory by {FLOWS} flows, {SECONDS} s", claims)


if __name__ == "__main__":
    main()
