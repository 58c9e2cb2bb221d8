"""Study of section 8, its experiments and their judgements, on runs made by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

import handmade
from handmade import HandMade, cells
from optcp import stats
from optcp.papers import judge
from optcp.papers.exhibit import Found
from optcp.papers.options import Options
from optcp.plots import figures
from optcp_papers.gmpls import fig18, fig19, goodput, section8, table8
from optcp_papers.gmpls.every_scheme import EVERY_SCHEME, PROFILES, SCHEMES
from optcp_papers.gmpls.goodput import Goodput
from optcp_papers.gmpls.paper import REPAIR_S, WINDOW_S
from optcp_papers.gmpls.probes import one_way_ps, shortest_round_trips_ps
from optcp_papers.gmpls.section8 import (
    DELTA_MS,
    MECHANISMS,
    PATH,
    SCENARIOS,
    SWITCH_BACK_S,
    SWITCH_OVER_S,
    VARIANT,
    Delays,
)
from optcp_papers.gmpls.table8 import Measured, Switch

N = 150
SHAPE = (N, len(SCENARIOS), len(MECHANISMS))
NOISE = np.random.default_rng(8).normal(0, 1, (N, len(SCENARIOS), len(DELTA_MS), len(MECHANISMS)))[:, :, 0]
INTERVALS = [f"{(i + 1) / 10} s" for i in range(115)]
GRID = {"scenario": SCENARIOS, "mechanism": MECHANISMS}
MS = 10**9


def make_goodput(bytes_):
    """Return goodput of every scenario and scheme with one switch delay."""
    return Goodput(cells(bytes_.round(), **GRID, time=INTERVALS), SWITCH_OVER_S, REPAIR_S, 8e6)


def pct(level, window_s=SWITCH_OVER_S):
    """Return 8 Mb/s (100 000 bytes per interval) times a level in a window, in % of the access bandwidth."""
    bytes_ = np.full((*SHAPE, 115), 100_000.0)
    start, end = (round(10 * instant) for instant in window_s)
    bytes_[..., start:end] *= np.broadcast_to(level, SHAPE)[..., None]
    return make_goodput(bytes_).access_pct(window_s)


def answer(function, *arguments):
    return judge.combine(function(*arguments))[0]


def by_mechanism(**levels):
    level = 1 + 0.001 * NOISE
    for name, values in levels.items():
        level[..., MECHANISMS.index(name)] *= np.broadcast_to(np.reshape(values, (1, -1)), SHAPE[:2])
    return level


def chosen():
    return {parameter.name: parameter.default for parameter in section8.ASSUMED}


def test_the_backups_are_longer_by_what_table_7_says():
    # D: d_l = 20, d_p = 60, a = 40, b = 1, c = 10.
    settings = Delays.of("D").settings
    assert settings["parameters.local_delay"] == "10500 us"  # (1 + 20) / 2
    assert settings["parameters.path_delay"] == "27750 us"  # (51 + 60) / 4
    (grid,) = section8.grids(chosen(), Options()).values()
    assert grid.branches[7].key == {
        "parameters.a": "2 ms",
        "parameters.b": "1 ms",
        "parameters.c": "48 ms",
        "parameters.local_delay": "1000 us",
        "parameters.path_delay": "13500 us",
        "parameters.scheme": "loopback-variant",
        "parameters.backup": '["L0", "L5", "L6", "L7", "L3"]',
        "parameters.switch_delay": "50 ms",
    }


def test_grids_have_all_scenarios():
    for exhibit, branches in ((table8.TABLE8, [32, 16, 1, 1]), (fig18.FIG18, [32, 4]), (fig19.FIG19, [32])):
        assert [len(grid.branches) for grid in exhibit.studies(chosen(), Options()).values()] == branches
    branches = fig19.FIG19.studies(chosen(), Options())[section8.GRID].branches
    assert [branch.key["parameters.scheme"] for branch in branches[:5]] == [
        "local",
        "path",
        "loopback",
        "loopback-variant",
        "local",
    ]
    assert [branches[i].key["parameters.switch_delay"] for i in (0, 4, 8)] == ["5 ms", "50 ms", "5 ms"]


def run(number, drops=(), switched_ms=5005):
    """Return a run: drops as (ms, port, reason, ack); goodput and loads derived from a number."""
    ports, reasons = ["L0->L5", "L1->L2", "L2->L1"], ["queue-full", "link-down", "lost-in-flight"]
    loads = np.zeros((2, 12), dtype="u8")
    loads[:, 4] = 10 * number, number
    return {
        "switches": {
            "nodes": ["L1", "L2"],
            "packetss": ["data", "acks"],
            "tos": ["backup"],
            "node": np.array([0, 1, 1]),
            "packets": np.array([0, 1, 1]),
            "to": np.zeros(3, dtype=int),
            "time_ps": np.full(3, switched_ms * MS),
        },
        "goodput": {"interval_s": 0.1, "groups": ["switched"], "bytes": np.full((1, 115), number, dtype="u8")},
        "load": {"interval_s": 1.0, "ports": ["L2->L1", "L1->L2"], "bytes": loads},
        "drops": {
            "ports": ports,
            "reasons": reasons,
            "time_ps": np.array([time * MS for time, *_ in drops], dtype="u8"),
            "port": np.array([ports.index(port) for _, port, *_ in drops], dtype="u4"),
            "reason": np.array([reasons.index(reason) for _, _, reason, _ in drops], dtype="u1"),
            "ack": np.array([ack for *_, ack in drops], dtype=bool),
        },
    }


def study(*seeds):
    return HandMade({"scenario": SCENARIOS, "delta_ms": DELTA_MS, "mechanism": MECHANISMS}, seeds)


def test_runs_are_reduced_in_the_order_of_the_branches():
    runs = [run(number) for number in range(32)]
    runs[27] = run(
        27,
        [
            (5000, "L1->L2", "lost-in-flight", False),
            (5001, "L1->L2", "link-down", False),
            (5001, "L2->L1", "link-down", True),
            (5002, "L1->L2", "queue-full", False),
            (5000, "L0->L5", "queue-full", False),  # at 5 s sharp: not after it
            (5300, "L0->L5", "queue-full", False),
            (5301, "L0->L5", "queue-full", False),
        ],
    )
    done = study(runs)
    found = Found(chosen(), {section8.GRID: done}, changed=False)
    by_delta = [section8.goodput(found, delta).cells.values[0, ..., 0] for delta in DELTA_MS]
    assert np.stack(by_delta, axis=1).ravel().tolist() == list(range(32))
    lost, last = table8.count_lost(done), {"scenario": "D", "mechanism": VARIANT}
    assert [lost[packets].at(**last).values.tolist() for packets in ("data", "acks")] == [[2], [1]]
    assert [lost[packets].values.sum() for packets in ("data", "acks")] == [2, 1]
    assert section8.merge_drops(done).at(**last, delta_ms=5).values.tolist() == [1]
    arriving = table8.count_arriving(done)
    assert arriving["data"].values.tolist() == [[0, 8, 16, 24]]
    assert arriving["acks"].values.tolist() == [[0, 80, 160, 240]]
    assert table8.switches(done)["A", PATH] == [
        Switch("L1", "data", "backup", 5005 * MS),
        Switch("L2", "acks", "backup", 5005 * MS),
    ]


def test_switches_are_the_same_in_every_run():
    alike = [run(number) for number in range(32)]
    assert len(table8.switches(study(alike, alike))) == 16
    with pytest.raises(RuntimeError, match="switch at different times"):
        table8.switches(study(alike, [*alike[:31], run(31, switched_ms=5006)]))


def test_switchover_times_of_section_8_1():
    # C: a = 20 ms, c = 30 ms.
    assert table8.expected_switches("C", "path", 5) == [
        Switch("L0", "data", "backup", 5025 * MS),
        Switch("L3", "acks", "backup", 5035 * MS),
        Switch("L0", "data", "working", 10020 * MS),
        Switch("L3", "acks", "working", 10030 * MS),
    ]
    variant = [
        (switch.node, switch.to, switch.at_ps // MS) for switch in table8.expected_switches("C", "loopbackvar", 50)
    ]
    assert variant == [
        *(("L1", "backup", 5050), ("L2", "backup", 5050), ("L0", "backup", 5070), ("L3", "backup", 5080)),
        *(("L1", "working", 10000), ("L2", "working", 10000), ("L0", "working", 10020), ("L3", "working", 10030)),
    ]


def test_probes_are_timed_per_direction():
    rows = [
        (0, "sent", 0),
        (60, "arrived", 0),
        (100, "acked", 1),
        (100, "sent", 1),
        (160, "arrived", 1),
        (201, "acked", 2),
        (201, "sent", 2),
    ]
    events = ["sent", "arrived", "acked"]
    time, event, seq = zip(*rows, strict=True)
    packets = {
        "events": events,
        "time_ps": np.array(time, dtype="u8") * MS,
        "event": np.array([events.index(item) for item in event], dtype="u1"),
        "seq": np.array(seq, dtype="u4"),
        "flow": np.zeros(len(rows), dtype="u4"),
        "flows": ["probe"],
    }
    probe = handmade.run({"packets": packets})
    assert one_way_ps(probe, 0.05, 1.0) == ({60 * MS}, {41 * MS})
    assert shortest_round_trips_ps(probe).tolist() == [100 * MS]


TRANSMISSION_PS = {"data": 800_000_000, "acks": 32_000_000}  # 1000 and 40 bytes at 10 Mb/s


def measured8(round_trip_ms=216.0, longer_ps=0, **changes):
    """Return probe results that match Table 8, except for the changes."""
    rng = np.random.default_rng(3)
    links = {"local": 4, "path": 4, "loopback": 6, "loopbackvar": 4}
    probes = {}
    for scenario in SCENARIOS:
        for mechanism in MECHANISMS:
            extra = table8.expected_extra_ms(scenario, mechanism)
            before = ({108 * MS}, {107 * MS})
            during = tuple(
                {base + ms * MS + (links[mechanism] - 3) * TRANSMISSION_PS[packets] + longer_ps}
                for (base,), ms, packets in zip(before, extra, ("data", "acks"), strict=True)
            )
            probes[scenario, mechanism] = [before, during, before]
    # Three access links at 8 Mb/s and three of the backbone, both ways: 5.4 ms and 0.216 ms.
    noise = rng.normal(0, 5, N) * MS
    trips = {
        "section 8": cells((round_trip_ms + 5.616) * MS + noise - noise.mean()),
        "section 6": cells(125.616 * MS + noise - noise.mean()),
    }
    parts = {
        "lost": dict.fromkeys(("data", "acks"), cells(np.zeros(SHAPE), **GRID)),
        "arriving_bytes": {
            packets: cells(np.full(SHAPE[:2], bytes_), scenario=SCENARIOS)
            for packets, bytes_ in (("data", 1e6), ("acks", 4e4))
        },
        "switches": expected_switches(),
        "probes": probes,
        "round_trips_ps": trips,
        "packet_bytes": {"data": 1000.0, "acks": 40.0},
        "access_bps": 8e6,
        "backbone_bps": 10e6,
    }
    return Measured(**(parts | changes))


def expected_switches():
    return {
        (scenario, mechanism): table8.expected_switches(scenario, mechanism, 5)
        for scenario in SCENARIOS
        for mechanism in MECHANISMS
    }


def test_table_8_from_probes_and_switches():
    assert measured8().propagation_ms("section 8").values.mean() == pytest.approx(216)
    assert answer(table8.as_table_8_says, measured8()) is True
    assert answer(table8.as_table_8_says, measured8(longer_ps=1)) is False
    assert answer(table8.as_table_8_says, measured8(round_trip_ms=220)) is False
    late = expected_switches() | {("A", PATH): table8.expected_switches("A", PATH, 6)}
    assert answer(table8.as_table_8_says, measured8(switches=late)) is False


def arithmetic(factor=1.0, like_local=False):
    """Return packets lost at 1000/s: delta + b, and for path protection also twice the notification delay."""
    lost = np.zeros((*SHAPE, 2))
    for i, scenario in enumerate(SCENARIOS):
        delays = Delays.of(scenario)
        lost[:, i] = 6
        lost[:, i, MECHANISMS.index(PATH)] += 2 * delays.a, 2 * delays.c
    lost = np.round(factor * lost + (NOISE[..., None] > 1))
    lost = np.broadcast_to(lost[:, :, :1], lost.shape) if like_local else lost
    return {packets: cells(lost[..., i], **GRID) for i, packets in enumerate(("data", "acks"))}


def test_path_protection_loses_more():
    assert answer(table8.signalling_loses_more, measured8(lost=arithmetic())) is True
    assert answer(table8.signalling_loses_more, measured8(lost=arithmetic(1.5))) is False
    assert answer(table8.signalling_loses_more, measured8(lost=arithmetic(like_local=True))) is False


def test_local_is_best_at_switch_over():
    assert answer(fig19.local_is_best, pct(by_mechanism(path=0.9, loopback=0.9, loopbackvar=0.95))) is True
    assert answer(fig19.local_is_best, pct(by_mechanism(path=0.9, loopback=1.1, loopbackvar=0.95))) is False


def test_loopback_against_path():
    assert answer(fig19.loopback_slightly_better, pct(by_mechanism(path=0.99))) is True
    assert answer(fig19.loopback_slightly_better, pct(by_mechanism(path=0.95))) is False
    (part, *_) = fig19.loopback_slightly_better(pct(by_mechanism(path=0.99)))
    assert "sign: above" in part.text


def test_the_variant_ranks_between():
    assert answer(fig19.variant_between, pct(by_mechanism(loopbackvar=0.95, loopback=0.9))) is True
    only_d = by_mechanism(loopbackvar=0.95, loopback=[0.9, 0.9, 0.9, 1.0])
    assert answer(fig19.variant_between, pct(only_d)) is True
    assert answer(fig19.variant_between, pct(by_mechanism(loopbackvar=0.85, loopback=0.9))) is False


def test_the_switch_back_ranking_needs_an_interval():
    ranked = by_mechanism(path=0.98, loopbackvar=0.98, loopback=0.96)
    assert answer(fig19.switch_back_ranking, pct(ranked, SWITCH_BACK_S)) is True
    assert answer(fig19.switch_back_ranking, pct(by_mechanism(local=0.9), SWITCH_BACK_S)) is False
    alike = pct(1 + 0.01 * NOISE, SWITCH_BACK_S)
    assert answer(fig19.switch_back_ranking, alike) == "undecided"
    assert any("seeds would decide" in part.text for part in fig19.switch_back_ranking(alike))


def test_required_runs_to_decide():
    # z: 1.95996 + 0.84162; sd 2, mean 1: (2.80158 * 2)^2 = 31.4.
    values = np.tile([-1.0, 3.0], 5000)
    assert stats.runs_to_decide(values) == pytest.approx(31.4, abs=0.05)
    assert stats.runs_to_decide([-1.0, 1.0]) == float("inf")


def test_reserved_capacity():
    # Three local backups of two links, or one of four, both ways, 10 Mb/s each.
    assert fig19.reserved_mbps(10e6) == {"local": 120, "path": 80, "loopback": 80, "loopbackvar": 80}


def falling(depth, until):
    """Return goodput that falls by a share (scenario, mechanism) in the intervals from 5 s to an index."""
    bytes_ = np.full((*SHAPE, 115), 100_000.0) * (1 + 0.001 * NOISE[..., None])
    for i in range(len(SCENARIOS)):
        for j in range(len(MECHANISMS)):
            bytes_[:, i, j, 50 : 50 + until[i][j]] *= 1 - depth[i][j]
    return make_goodput(bytes_)


def section_6(fall=0.2):
    """Return section 6's network with a fall in the first 200 ms, equal for every scenario."""
    bytes_ = np.full((N, len(SCENARIOS), 60), 100_000.0)
    bytes_[..., 50:52] *= 1 - fall
    return Goodput(cells(bytes_, scenario=SCENARIOS, time=INTERVALS[:60]), WINDOW_S, fig18.SECTION_6_UNTIL_S, 8e6)


def overflows(*scenarios):
    """Return whether packets overflow under the variant: always in some scenarios, never in the others."""
    return cells(np.tile([float(scenario in scenarios) for scenario in SCENARIOS], (N, 1)), scenario=SCENARIOS)


DEPTH = [[0.2, 0.3 + 0.1 * i, 0.3 + 0.1 * i, 0.3] for i in range(4)]
UNTIL = [[2, 4 + 2 * i, 5 + 2 * i, 3] for i in range(3)] + [[2, 10, 11, 11]]


def test_the_variant_recovers_no_faster_in_d():
    judged = fig18.variant_recovers_faster_unless_d
    assert answer(judged, falling(DEPTH, UNTIL), overflows("D")) is True
    assert answer(judged, falling(DEPTH, UNTIL), overflows()) is False
    faster = [[*row[:3], row[2] - 2] for row in UNTIL]  # the variant against plain loop-back
    assert answer(judged, falling(DEPTH, faster), overflows("D")) is False
    assert answer(judged, falling(DEPTH, UNTIL), overflows(*SCENARIOS)) is False


def test_judgement_of_dips_by_scheme():
    judged = fig18.local_is_alike_others_worsen
    assert answer(judged, falling(DEPTH, UNTIL), section_6()) is True
    assert answer(judged, falling(DEPTH, UNTIL), section_6(0.6)) is False
    better = [row[:1] + DEPTH[3 - i][1:] for i, row in enumerate(DEPTH)]
    assert answer(judged, falling(better, UNTIL), section_6()) is False
    unlike = [[0.2 + 0.2 * i, *row[1:]] for i, row in enumerate(DEPTH)]
    assert answer(judged, falling(unlike, UNTIL), section_6()) is False


def test_every_exhibit_draws(monkeypatch):
    bytes_ = np.full((N, len(SCENARIOS), len(DELTA_MS), len(MECHANISMS), 115), 100_000.0)
    bytes_ *= by_mechanism()[:, :, None, :, None]
    axes = {"scenario": SCENARIOS, "delta_ms": DELTA_MS, "mechanism": MECHANISMS}
    shared = {
        goodput.read: cells(bytes_, **axes, time=INTERVALS),
        section8.merge_drops: cells(np.zeros(bytes_.shape[:-1]), **axes),
    }
    done = {
        section8.GRID: SimpleNamespace(once=lambda reduce: shared[reduce]),
        fig18.SECTION_6: SimpleNamespace(once=lambda _: section_6().cells),
    }
    monkeypatch.setattr(Measured, "of", lambda _: measured8())
    for exhibit in (table8.TABLE8, fig18.FIG18, fig19.FIG19):
        evaluation = exhibit.evaluate(chosen(), done)
        names = [row.name for row in evaluation.rows]
        assert len(names) == len(set(names))
        if exhibit is table8.TABLE8:
            assert {row.verdict for row in evaluation.rows if row.paper is not None} == {"match"}
        result = SimpleNamespace(exhibit=exhibit.id, rows=evaluation.rows, series=evaluation.series)
        assert len(figures(result)) == 1


def test_every_scheme_in_every_scenario():
    chosen = {parameter.name: parameter.default for parameter in EVERY_SCHEME.assumed}
    grids = EVERY_SCHEME.studies(chosen, Options())
    assert [len(grid.branches) for grid in grids.values()] == [28, 28]
    keys = [branch.key for branch in grids["linux-6"].branches]
    assert [key["parameters.scheme"] for key in keys[:7]] == list(SCHEMES)
    assert [key.get("protection.0.computation") for key in keys[4:7]] == [None, None, "50 ms"]
    assert {key["parameters.backup"] for key in keys[1:7]} == {'["L0", "L5", "L6", "L7", "L3"]'}

    def run(scheme):
        """Return a run: 8 Mb/s for 2.5 s are 2.5 MB; path protection has 1 MB less. Times before 5 s do not count."""
        bytes_ = np.zeros((1, 75), dtype="u8")
        bytes_[0, 49], bytes_[0, 50], bytes_[0, 74] = 10**6, 10**6, 500_000 if scheme == "path" else 1_500_000
        return {"goodput": {"interval_s": 0.1, "groups": ["switched"], "bytes": bytes_}}

    seed = [run(scheme) for _ in SCENARIOS for scheme in SCHEMES]
    done = {profile: HandMade({"scenario": SCENARIOS, "scheme": SCHEMES}, [seed] * 5) for profile in PROFILES}
    evaluation = EVERY_SCHEME.evaluate(chosen, done)
    rows = {row.name: row.measured for row in evaluation.rows}
    assert rows["profile=linux-6 scenario=C scheme=path switchover_pct"] == 60
    assert rows["profile=ns2-2001 scenario=D scheme=path minus_local_points"] == -40
    assert rows["profile=ns2-2001 scenario=D scheme=1+1 minus_local_points"] == 0
    assert len(figures(SimpleNamespace(exhibit=EVERY_SCHEME.id, rows=evaluation.rows, series=[]))) == 1
