"""Claim: a core of burst switches, the scenario ``burst-core``. ``python benches/claims/bursts.py``."""

from claim import Claim, show

from optcp.checks.bench import measure_core

REPEAT = 3


def main() -> None:
    """Measure and print."""
    core = measure_core(REPEAT)
    claims = [
        Claim("packets, million", "4.17", f"{core.packets / 1e6:.2f}"),
        Claim("CPU seconds", "0.98", f"{core.cpu_s:.2f}"),
        Claim("increase of the peak memory, MB", "64", f"{core.memory_mb * 1.048576:.0f}"),
        Claim("requests that fail, %", "8.2", f"{100 * core.lost / core.requests:.1f}"),
    ]
    show("60 ms of 14 burst switches at load 0.5", claims, f"n = {REPEAT}; medians.")


if __name__ == "__main__":
    main()
