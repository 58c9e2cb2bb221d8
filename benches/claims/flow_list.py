"""Claim: a list of a million UDP flows is read and simulated in seconds. ``python benches/claims/flow_list.py``."""

import sys
import tempfile
from pathlib import Path

from claim import Claim, run, show

ROWS, HOSTS, SECONDS = 1_000_000, 64, 10

SCENARIO = f"""
stop = "{SECONDS + 1} s"

[[nodes]]
group = "h"
count = {HOSTS}

[[nodes]]
names = ["R"]

[[links]]
chain = ["h", "R"]
rate = "10 Gbps"
delay = "1 us"
queue = "1000 packets"

[[traffic]]
group = "calls"
list = "flows.csv"
path = "shortest"
process = "constant"
rate = "100 Mbps"
size = "1500 B"
"""

RUN = """
import sys, time
from optcp import load
start = time.process_time()
load(sys.argv[1]).run(seed=1)
print(time.process_time() - start)
"""


def main() -> None:
    """Write the list, run it and print."""
    with tempfile.TemporaryDirectory() as folder:
        scenario = Path(folder) / "list.toml"
        scenario.write_text(SCENARIO, encoding="utf-8")
        with (Path(folder) / "flows.csv").open("w", encoding="utf-8") as file:
            file.write("time (us),from,to,bytes,protocol\n")
            # A generator of full period (Knuth), so that the list is the same everywhere.
            state = 1
            for _ in range(ROWS):
                state = (6364136223846793005 * state + 1442695040888963407) % 2**64
                at, one, other = state >> 33, state >> 20, state >> 26
                start_us = at % (SECONDS * 10**6)
                receiver = (one % HOSTS + 1 + other % (HOSTS - 1)) % HOSTS
                file.write(f"{start_us},h{one % HOSTS},h{receiver},{64 + at % 11000},udp\n")
        process = run(sys.executable, "-c", RUN, str(scenario))
    claims = [
        Claim("CPU seconds", "8", f"{float(process.output):.1f}"),
        Claim("peak memory, GB", "1.4", f"{process.memory_mb / 1000:.1f}"),
    ]
    show(f"{ROWS} UDP flows between {HOSTS} hosts, n = 1", claims)


if __name__ == "__main__":
    main()
