"""A test double of ``optcp._core``: it simulates nothing.

It has the real module's interface and makes up series of the right form from (scenario, seed), so that studies,
exhibits, tables and reports can be tested without the compiled simulator. It reads just enough TOML for that.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import re
import threading
import time
import tomllib
from decimal import Decimal
from pathlib import Path

PORTS = ["L0->L1", "L1->L2", "L2->L1", "L5->L6", "S0->A"]
GROUPS = ["switched", "fixed"]
REASONS = ["queue-full", "link-down"]
DOUBLED = ("gmpls/fig7", "gmpls/fig8", "gmpls/table3")
"""The exhibits of which the double makes up runs; others are tested on hand-made series and with the real simulator."""
calls: list[tuple[int, int]] = []
"""(seed, number of branches) of every run_branches call, for tests that count them."""


class ScenarioError(ValueError):
    pass


class Cancelled(Exception):  # noqa: N818 - the real one's name
    pass


class Cancel:
    def __init__(self):
        self.flag = threading.Event()

    def cancel(self):
        self.flag.set()


UNITS = {"us": (1e-6, "s"), "ms": (1e-3, "s"), "s": (1.0, "s"), "Mbps": (1e6, "bit/s"), "B": (1.0, "B"), "": (1.0, "")}


def quantity(text):
    found = re.fullmatch(r"([\d.]+(?:e-?\d+)?) ?(\w*)", text)
    if not found or found[2] not in UNITS:
        return None
    factor, unit = UNITS[found[2]]
    return float(Decimal(found[1]) * Decimal(str(factor))), unit


class Scenario:
    def __init__(self, text, name, overrides):
        try:
            self._data = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ScenarioError(f"{name}: {error}") from None
        fixed = {path for path, _ in overrides}
        sweep = self._data.pop("sweep", {})
        self.axes = [(key, [str(v) for v in values]) for key, values in sweep.items() if key not in fixed]
        self._source = text, name, list(overrides)
        for path, value in overrides:
            self._set(path.split("."), value, name)
        self.sha256 = hashlib.sha256(self.resolved().encode()).hexdigest()

    def _set(self, path, value, name):
        table = self._data
        for part in path[:-1]:
            table = table[int(part)] if isinstance(table, list) else table.get(part, {})
        known = path[-1] in table or path[0] in ("tcp", "protection")
        if not known:
            close = difflib.get_close_matches(path[-1], table, n=1)
            raise ScenarioError(f"{name}: unknown key `{'.'.join(path)}`; did you mean `{(close or ['?'])[0]}`?")
        if path[-1] == "profile" and value == "foo":
            raise ScenarioError(f"unknown choice in --set {'.'.join(path)}={value}")
        table[path[-1]] = value

    def spare(self):
        return []

    def coverage(self):
        return None

    @staticmethod
    def load(path, overrides=()):
        try:
            text = Path(path).read_text()
        except OSError as error:
            raise ScenarioError(f"{path}: {error.strerror}") from None
        return Scenario(text, path, overrides)

    @staticmethod
    def parse(text, name, overrides=()):
        return Scenario(text, name, overrides)

    def override(self, settings):
        text, name, overrides = self._source
        return Scenario(text, name, [*overrides, *settings])

    def summary(self):
        return {
            "title": self._data.get("title", ""),
            "nodes": 32,
            "links": 36,
            "flows": 20,
            "groups": GROUPS,
            "stop_s": 10.0,
            "observe": [entry["name"] for entry in json.loads(self.resolved())["observe"]],
            "parameters": {name: str(value) for name, value in self._data.get("parameters", {}).items()},
        }

    def resolved(self):
        observe = [
            {"name": "goodput", "kind": "goodput", "groups": GROUPS, "interval_ps": 10**10},
            {"name": "load", "kind": "load", "ports": PORTS, "interval_ps": 10**11},
            {"name": "drops", "kind": "drops", "ports": None},
        ]
        return json.dumps({**self._data, "observe": self._data.get("observe", observe)}, sort_keys=True)

    def run(self, seed, *, digest=False, kernel="fast", cancel=None):
        return Run(self, seed, digest)


class Run:
    def __init__(self, scenario, seed, digest):
        import numpy as np  # as late as the real module needs it

        parameters = scenario._data["parameters"]
        delta_s = float(str(parameters["switch_delay"]).partition(" ")[0]) / 1000
        word = str(parameters.get("backbone", "10 Mbps"))
        backbone = float(word.partition(" ")[0]) * (1e6 if "Mbps" in word else 1)
        # The same noise for every branch of a seed: paired, as in the simulator.
        rng = np.random.default_rng([seed, int(parameters.get("flows_per_source", 1))])
        full = backbone / 8 * 0.01
        share = np.full((2, 1000), 0.85) * rng.uniform(0.9, 1.0, (2, 1000))
        gain = rng.normal(0.05, 0.04) if delta_s else 0.0
        share[:, 500:650] *= 0.6 * (1 + gain)
        share[0, 500 : 500 + round(delta_s * 100)] *= 0.2
        share[0, 700 + seed % 7] = 1.3
        self.seed = seed
        self.scenario_sha256 = scenario.sha256
        self.metrics_sha256 = hashlib.sha256(f"{scenario.sha256} {seed}".encode()).hexdigest()
        self.records_sha256 = hashlib.sha256(self.metrics_sha256.encode()).hexdigest() if digest else None
        self.counts = {"sent": 100, "delivered": 90, "dropped": 6, "in_flight": 4, "packet_hops": 700, "events": 900}
        self.drops = {"queue-full": 4, "link-down": 2}
        self.forked_at_s = 5.0
        self.switches = []
        self.routing = None
        self.arrived = {}
        times = [5.01, 5.02, 5.01 + delta_s, 5.02 + delta_s, 5.03 + delta_s, 8.0]
        order = np.argsort(times, kind="stable")
        self.series = {
            "goodput": {"kind": "goodput", "interval_s": 0.01, "groups": GROUPS, "bytes": (share * full).astype("u8")},
            "load": {
                "kind": "load",
                "interval_s": 0.1,
                "ports": PORTS,
                "bytes": np.full((len(PORTS), 100), int(0.9 * backbone / 8 * 0.1), dtype="u8"),
            },
            "drops": {
                "kind": "drops",
                "ports": PORTS,
                "groups": GROUPS,
                "reasons": REASONS,
                "time_ps": (np.array(times)[order] * 1e12).round().astype("u8"),
                "port": np.array([1, 2, 3, 3, 3, 3], dtype="u4")[order],
                "group": np.array([0, 0, 0, 1, 1, 0], dtype="u4")[order],
                "ack": np.array([False, True, False, False, False, False])[order],
                "reason": np.array([1, 1, 0, 0, 0, 0], dtype="u1")[order],
            },
        }

    def to_parquet(self, name):
        import numpy as np

        series = self.series[name]
        if "interval_s" in series:
            rows = next(part for part in ("groups", "ports") if part in series)
            height, length = series["bytes"].shape
            ends = np.arange(1, length + 1, dtype="u8") * round(series["interval_s"] * 1e12)
            columns = {
                "time_ps": np.tile(ends, height),
                rows.removesuffix("s"): [row for row in series[rows] for _ in range(length)],
                "bytes": series["bytes"].ravel(),
            }
            about = {"optcp.interval_ps": str(round(series["interval_s"] * 1e12))}
        else:
            columns = {part: value for part, value in series.items() if isinstance(value, np.ndarray)}
            columns |= {part: [series[part + "s"][i] for i in columns[part]] for part in ("port", "group", "reason")}
            about = {}
        return write_parquet(columns, {"optcp.kind": series["kind"], **about})


def write_parquet(columns, metadata):
    """A stand-in for Parquet: JSON with the types beside the values."""
    parts = {
        name: ["text", values] if isinstance(values, list) else [str(values.dtype), values.tolist()]
        for name, values in columns.items()
    }
    if len({len(values) for _, values in parts.values()}) > 1:
        raise ValueError("columns of unlike lengths")
    return json.dumps([metadata, parts]).encode()


def read_parquet(data):
    import numpy as np

    metadata, parts = json.loads(data)
    columns = {}
    for name, (kind, values) in parts.items():
        if kind == "text":
            names, codes = np.unique(np.array(values, dtype=str), return_inverse=True)
            columns[name] = (codes.astype("u4"), [str(one) for one in names])
        else:
            columns[name] = np.array(values, dtype=kind)
    return metadata, columns


def run_branches(branches, seed, *, fork=True, digest=False, kernel="fast", cancel=None):
    slow = max(float(branch._data.get("test_sleep_s", 0)) for branch in branches)
    if any("fails_at_seed" in branch._data and int(branch._data["fails_at_seed"]) == seed for branch in branches):
        raise RuntimeError("the world came apart")
    until = time.monotonic() + slow
    while time.monotonic() < until:
        if cancel is not None and cancel.flag.is_set():
            raise Cancelled
        time.sleep(0.005)
    calls.append((seed, len(branches)))
    return [branch.run(seed, digest=digest) for branch in branches]


def schema():
    return json.dumps({"title": "scenario"})


def catalogue():
    return [
        {"family": "profiles", "name": "ns2-2001", "summary": "TCP as ns-2 had it in 2001", "source": "ns-2.1b8"},
        {"family": "unit", "name": "Mbps", "summary": "megabit a second", "source": ""},
    ]


def profiles():
    rfc = [("mss", "1460 B", "an Ethernet frame less its headers"), ("header", "40 B", "IPv4 and TCP")]
    older = [("header", "0 B", "it counted no headers")]
    return [
        {"name": "rfc", "summary": "as the RFCs have it", "source": "RFC 5681", "choices": rfc},
        {"name": "ns2-2001", "summary": "TCP as ns-2 had it in 2001", "source": "ns-2.1b8", "choices": older},
    ]


def conformance(text):
    try:
        cases = json.loads(text)["scenarios"]
    except ValueError as error:
        raise ScenarioError(f"not JSON: {error}") from None
    known = [case["id"] for case in cases if case["variant"] != "vegas"]
    one = {"completion_ack_s": 1.5, "retransmissions": 2, "timeouts": 0, "sequence": [[0.0, 0], [0.1, 1]]}
    stuck = {**one, "completion_ack_s": None}
    results = {name: stuck if name == "stuck" else one for name in known}
    return json.dumps(results), [f"case {case['id']}: no vegas" for case in cases if case["id"] not in known]


def packetdrill(text, tolerance_us=None):
    if text.startswith("fails"):
        at = {"line": 3, "at_s": 0.5, "expected": "> . 1:1001(1000) ack 1"}
        return {"result": "failed", **at, "happened": f"nothing within {tolerance_us} us"}
    if text.startswith("asks"):
        return {"result": "refused", "line": 2, "reason": "the system call `poll` is not simulated"}
    return {"result": "ok"}


def version():
    return "0.0.0+fake"


def install():
    """Stand in for the compiled module, before anything imports it."""
    import sys

    import optcp

    sys.modules["optcp._core"] = sys.modules[__name__]
    optcp._core = sys.modules[__name__]


if __name__ == "__main__":
    import fake_core

    fake_core.install()
    from optcp.cli import main

    main()
