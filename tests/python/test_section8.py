"""The study of section 8, its exhibits and their judgements, on runs made by hand."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from optcp import stats
from optcp.papers import judge
from optcp.papers.base import Options
from optcp.papers.gmpls import every_scheme, fig18, fig19, section8, table8
from optcp.papers.gmpls.probes import one_way_ps, shortest_round_trips_ps
from optcp.papers.gmpls.section8 import (
    DELTA_MS,
    LOCAL,
    LOOPBACK,
    MECHANISMS,
    PATH,
    SCENARIOS,
    VARIANT,
    Context,
    Delays,
    Measured,
    Switch,
)
from optcp.papers.registry import select
from optcp.plots import figures

N = 150
SHAPE = (N, len(SCENARIOS), len(DELTA_MS), len(MECHANISMS))
NOISE = np.random.default_rng(8).normal(0, 1, SHAPE)
MS = 10**9


def made(level=1.0, back=1.0, **changes):
    """A reduced study of 8 Mb/s (100 000 bytes an interval), times a level in (5 s, 7.5 s] and in (10 s, 11.5 s]."""
    bytes_ = np.full((*SHAPE, 115), 100_000.0)
    bytes_[..., 50:75] *= np.broadcast_to(level, SHAPE)[..., None]
    bytes_[..., 100:115] *= np.broadcast_to(back, SHAPE)[..., None]
    parts = {
        "lost": np.zeros((*SHAPE, 2), dtype=np.int64),
        "merge_drops": np.zeros(SHAPE, dtype=np.int64),
        "arriving_bytes": np.full((N, len(SCENARIOS), 2), [1e6, 4e4]),
        "ack_bytes": 40.0,
        "switches": {
            (scenario, mechanism): table8.expected_switches(scenario, mechanism, 5)
            for scenario in SCENARIOS
            for mechanism in MECHANISMS
        },
    }
    return Measured(0.1, bytes_.round().astype(np.int64), **(parts | changes))


def context(level=1.0, back=1.0, delta=0, **changes):
    return Context(made(level, back, **changes), 8e6, 10e6, 1000.0, "ns2-2001", False, delta)


def answer(function, *arguments):
    return judge.combine(function(*arguments))[0]


def by_mechanism(**levels):
    level = 1 + 0.001 * NOISE
    for name, values in levels.items():
        level[..., MECHANISMS.index(name)] *= np.broadcast_to(np.reshape(values, (1, -1, 1)), SHAPE[:3])
    return level


def chosen():
    return {parameter.name: parameter.default for parameter in section8.ASSUMED}


def test_the_backups_are_longer_by_what_table_7_says():
    # D: d_l = 20, d_p = 60, a = 40, b = 1, c = 10.
    settings = Delays.of("D").settings
    assert settings["parameters.local_delay"] == "10500 us"  # (1 + 20) / 2
    assert settings["parameters.path_delay"] == "27750 us"  # (51 + 60) / 4
    assert section8.cell("A", "loopbackvar", 50) == {
        "parameters.a": "2 ms",
        "parameters.b": "1 ms",
        "parameters.c": "48 ms",
        "parameters.local_delay": "1000 us",
        "parameters.path_delay": "13500 us",
        "parameters.scheme": "loopback-variant",
        "parameters.backup": '["L0", "L5", "L6", "L7", "L3"]',
        "parameters.switch_delay": "50 ms",
    }


def test_the_worlds():
    for name, branches in (("table8", [32, 16, 1, 1]), ("fig18", [32, 4]), ("fig19", [32])):
        (exhibit,) = select([f"gmpls/{name}"])
        assert [len(study.branches) for study in exhibit.studies(chosen(), Options()).values()] == branches
    (exhibit,) = select(["gmpls/fig19"])
    branches = exhibit.studies(chosen(), Options())[section8.GRID].branches
    assert [branch.key["parameters.scheme"] for branch in branches[:5]] == [
        "local",
        "path",
        "loopback",
        "loopback-variant",
        "local",
    ]
    assert [branches[i].key["parameters.switch_delay"] for i in (0, 4, 8)] == ["5 ms", "50 ms", "5 ms"]


def run(number, drops=()):
    """A run: drops as (ms, port, reason, ack); goodput and loads made of a number."""
    ports, reasons = ["L0->L5", "L1->L2", "L2->L1"], ["queue-full", "link-down", "lost-in-flight"]
    loads = np.zeros((2, 12), dtype="u8")
    loads[:, 4] = 10 * number, number
    return SimpleNamespace(
        switches=[
            {"node": "L1", "packets": "data", "to": "backup", "at_ps": 5005 * MS, "protection": 0},
            {"node": "L2", "packets": "acks", "to": "backup", "at_ps": 5005 * MS, "protection": 0},
            {"node": "L2", "packets": "acks", "to": "backup", "at_ps": 5005 * MS, "protection": 0},
        ],
        series={
            "goodput": {"interval_s": 0.1, "bytes": np.full((1, 115), number, dtype="u8")},
            "load": {"interval_s": 1.0, "ports": ["L2->L1", "L1->L2"], "bytes": loads},
            "drops": {
                "ports": ports,
                "reasons": reasons,
                "time_ps": np.array([time * MS for time, *_ in drops], dtype="u8"),
                "port": np.array([ports.index(port) for _, port, *_ in drops], dtype="u4"),
                "reason": np.array([reasons.index(reason) for _, _, reason, _ in drops], dtype="u1"),
                "ack": np.array([ack for *_, ack in drops], dtype=bool),
            },
        },
    )


def test_runs_are_reduced_in_the_order_of_the_branches():
    runs = [run(number) for number in range(32)]
    runs[31] = run(
        31,
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
    scenario = SimpleNamespace(resolved=lambda: json.dumps({"tcp": {"all": {"ack_size_bytes": 40}}}))

    class Runs(list):
        study = SimpleNamespace(branches=[SimpleNamespace(scenario=scenario)])

    measured = section8.measure(Runs([(1, runs)]))
    assert measured.goodput[0, ..., 0].ravel().tolist() == list(range(32))
    assert measured.lost[0, 3, 1, 3].tolist() == [2, 1]
    assert measured.merge_drops[0, 3, 1, 3] == 1
    assert measured.arriving_bytes[0].tolist() == [[0, 0], [8, 80], [16, 160], [24, 240]]
    assert measured.switches["A", "path"] == [
        Switch("L1", "data", "backup", 5005 * MS),
        Switch("L2", "acks", "backup", 5005 * MS),
    ]


def test_the_instants_of_section_8_1():
    # C: a = 20 ms, c = 30 ms.
    assert table8.expected_switches("C", "path", 5) == [
        Switch("L0", "data", "backup", 5025 * MS),
        Switch("L3", "acks", "backup", 5035 * MS),
        Switch("L0", "data", "working", 10020 * MS),
        Switch("L3", "acks", "working", 10030 * MS),
    ]
    variant = [(one.node, one.to, one.at_ps // MS) for one in table8.expected_switches("C", "loopbackvar", 50)]
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
        "event": np.array([events.index(one) for one in event], dtype="u1"),
        "seq": np.array(seq, dtype="u4"),
        "flow": np.zeros(len(rows), dtype="u4"),
    }
    probe = SimpleNamespace(series={"packets": packets})
    assert one_way_ps(probe, 0.05, 1.0) == ({60 * MS}, {41 * MS})
    assert shortest_round_trips_ps(probe).tolist() == [100 * MS]


TRANSMISSION_PS = {"data": 800_000_000, "acks": 32_000_000}  # 1000 and 40 bytes at 10 Mb/s


def told8(round_trip_ms=216.0, longer_ps=0, **changes):
    """Probes that say what Table 8 says, but for the changes."""
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
        "section 8": (round_trip_ms + 5.616) * MS + noise - noise.mean(),
        "section 6": 125.616 * MS + noise - noise.mean(),
    }
    return table8.Told(context(**changes), probes, trips, 1.0)


def test_table_8_from_probes_and_switches():
    assert told8().propagation_ms("section 8").mean() == pytest.approx(216)
    assert answer(table8.as_table_8_says, told8()) is True
    assert answer(table8.as_table_8_says, told8(longer_ps=1)) is False
    assert answer(table8.as_table_8_says, told8(round_trip_ms=220)) is False
    late = dict(made().switches)
    late["A", "path"] = table8.expected_switches("A", "path", 6)
    assert answer(table8.as_table_8_says, told8(switches=late)) is False


def arithmetic(factor=1.0):
    """Packets lost at 1000 a second: delta + b, for path protection also twice the way of the news."""
    lost = np.zeros((*SHAPE, 2))
    for i, scenario in enumerate(SCENARIOS):
        delays = Delays.of(scenario)
        lost[:, i] = 6
        lost[:, i, :, PATH] += 2 * delays.a, 2 * delays.c
    return np.round(factor * lost + (NOISE[..., None] > 1)).astype(np.int64)


def test_path_protection_loses_more():
    assert answer(table8.signalling_loses_more, told8(lost=arithmetic())) is True
    assert answer(table8.signalling_loses_more, told8(lost=arithmetic(1.5))) is False
    same = np.broadcast_to(arithmetic()[..., LOCAL : LOCAL + 1, :], (*SHAPE, 2))
    assert answer(table8.signalling_loses_more, told8(lost=same)) is False


def test_local_is_best_at_switch_over():
    assert answer(fig19.local_is_best, context(by_mechanism(path=0.9, loopback=0.9, loopbackvar=0.95))) is True
    assert answer(fig19.local_is_best, context(by_mechanism(path=0.9, loopback=1.1, loopbackvar=0.95))) is False


def test_loopback_against_path():
    assert answer(fig19.loopback_slightly_better, context(by_mechanism(path=0.99))) is True
    assert answer(fig19.loopback_slightly_better, context(by_mechanism(path=0.95))) is False
    (part, *_) = fig19.loopback_slightly_better(context(by_mechanism(path=0.99)))
    assert "sign: above" in part.text


def test_the_variant_ranks_between():
    assert answer(fig19.variant_between, context(by_mechanism(loopbackvar=0.95, loopback=0.9))) is True
    only_d = by_mechanism(loopbackvar=0.95, loopback=[0.9, 0.9, 0.9, 1.0])
    assert answer(fig19.variant_between, context(only_d)) is True
    assert answer(fig19.variant_between, context(by_mechanism(loopbackvar=0.85, loopback=0.9))) is False


def test_the_switch_back_ranking_needs_an_interval():
    ranked = by_mechanism(path=0.98, loopbackvar=0.98, loopback=0.96)
    assert answer(fig19.switch_back_ranking, context(back=ranked)) is True
    assert answer(fig19.switch_back_ranking, context(back=by_mechanism(local=0.9))) is False
    alike = context(back=1 + 0.01 * NOISE)
    assert answer(fig19.switch_back_ranking, alike) == "undecided"
    assert any("seeds would decide" in part.text for part in fig19.switch_back_ranking(alike))


def test_runs_to_decide():
    # z: 1.95996 + 0.84162; sd 2, mean 1: (2.80158 * 2)^2 = 31.4.
    values = np.tile([-1.0, 3.0], 5000)
    assert stats.runs_to_decide(values) == pytest.approx(31.4, abs=0.05)
    assert stats.runs_to_decide([-1.0, 1.0]) == float("inf")


def test_reserved_capacity():
    # Three local backups of two links, or one of four, both ways, 10 Mb/s each.
    assert fig19.reserved_mbps(10e6) == {"local": 120, "path": 80, "loopback": 80, "loopbackvar": 80}


def falling(depth, until):
    """Goodput that falls by a share (scenario, mechanism) in the intervals from 5 s to an index (scenario, mech.)."""
    bytes_ = np.full((*SHAPE, 115), 100_000.0) * (1 + 0.001 * NOISE[..., None])
    for i in range(len(SCENARIOS)):
        for j in range(len(MECHANISMS)):
            bytes_[:, i, :, j, 50 : 50 + until[i][j]] *= 1 - depth[i][j]
    return bytes_.round().astype(np.int64)


def told18(depth, until, drops=None, section_6=0.2):
    measured = made(merge_drops=np.zeros(SHAPE, dtype=np.int64) if drops is None else drops)
    measured = Measured(**{**vars(measured), "goodput": falling(depth, until)})
    alike = np.full((len(SCENARIOS), N, 11), 100_000.0)
    alike[..., 1:3] *= 1 - section_6
    return fig18.Told(Context(measured, 8e6, 10e6, 1000.0, "ns2-2001", False), alike)


DEPTH = [[0.2, 0.3 + 0.1 * i, 0.3 + 0.1 * i, 0.3] for i in range(4)]
UNTIL = [[2, 4 + 2 * i, 5 + 2 * i, 3] for i in range(3)] + [[2, 10, 11, 11]]


def test_the_variant_recovers_no_faster_in_d():
    drops = np.zeros(SHAPE, dtype=np.int64)
    drops[:, 3, :, VARIANT] = 5
    assert answer(fig18.variant_recovers_faster_unless_d, told18(DEPTH, UNTIL, drops)) is True
    assert answer(fig18.variant_recovers_faster_unless_d, told18(DEPTH, UNTIL)) is False
    faster = [[*row[:VARIANT], row[LOOPBACK] - 2] for row in UNTIL]
    assert answer(fig18.variant_recovers_faster_unless_d, told18(DEPTH, faster, drops)) is False
    everywhere = np.zeros(SHAPE, dtype=np.int64)
    everywhere[..., VARIANT] = 5
    assert answer(fig18.variant_recovers_faster_unless_d, told18(DEPTH, UNTIL, everywhere)) is False


def test_local_is_alike_and_the_others_worsen():
    assert answer(fig18.local_is_alike_others_worsen, told18(DEPTH, UNTIL)) is True
    assert answer(fig18.local_is_alike_others_worsen, told18(DEPTH, UNTIL, section_6=0.6)) is False
    better = [row[:PATH] + DEPTH[3 - i][PATH:] for i, row in enumerate(DEPTH)]
    assert answer(fig18.local_is_alike_others_worsen, told18(better, UNTIL)) is False
    unlike = [[0.2 + 0.2 * i, *row[PATH:]] for i, row in enumerate(DEPTH)]
    assert answer(fig18.local_is_alike_others_worsen, told18(unlike, UNTIL)) is False


def test_every_exhibit_draws():
    measured = made(by_mechanism())
    told = told8()
    curves = np.full((len(SCENARIOS), N, 11), 100_000.0)
    done = {
        section8.GRID: SimpleNamespace(once=lambda _: measured),
        table8.PROBES: SimpleNamespace(once=lambda _: told.probes),
        **{world: SimpleNamespace(once=lambda _, world=world: told.round_trips[world]) for world in told.round_trips},
        fig18.SECTION_6: SimpleNamespace(once=lambda _: curves),
    }
    for name in ("table8", "fig18", "fig19"):
        (exhibit,) = select([f"gmpls/{name}"])
        evaluation = exhibit.evaluate(chosen(), done)
        names = [row.name for row in evaluation.rows]
        assert len(names) == len(set(names))
        if name == "table8":
            assert {row.verdict for row in evaluation.rows if row.paper is not None} == {"match"}
        result = SimpleNamespace(exhibit=exhibit.id, rows=evaluation.rows, series=evaluation.series)
        assert len(figures(result)) == 1


def test_every_scheme_in_every_scenario():
    (exhibit,) = select(["gmpls/every-scheme"])
    chosen = {parameter.name: parameter.default for parameter in exhibit.assumed}
    studies = exhibit.studies(chosen, Options())
    assert [len(study.branches) for study in studies.values()] == [28, 28]
    keys = [branch.key for branch in studies["linux-6"].branches]
    assert [key["parameters.scheme"] for key in keys[:7]] == list(every_scheme.SCHEMES)
    assert [key.get("protection.0.computation") for key in keys[4:7]] == [None, None, "50 ms"]
    assert {key["parameters.backup"] for key in keys[1:7]} == {'["L0", "L5", "L6", "L7", "L3"]'}

    # 8 Mb/s for 2.5 s are 2.5 MB; path protection moves 1 MB less.
    good = np.full((5, len(SCENARIOS), len(every_scheme.SCHEMES)), 2.5e6)
    good[..., every_scheme.SCHEMES.index("path")] -= 1e6
    done = {profile: SimpleNamespace(once=lambda _: good) for profile in every_scheme.PROFILES}
    evaluation = exhibit.evaluate(chosen, done)
    rows = {row.name: row.measured for row in evaluation.rows}
    assert rows["profile=linux-6 scenario=C scheme=path switchover_pct"] == 60
    assert rows["profile=ns2-2001 scenario=D scheme=path minus_local_points"] == -40
    assert rows["profile=ns2-2001 scenario=D scheme=1+1 minus_local_points"] == 0
    assert len(figures(SimpleNamespace(exhibit=exhibit.id, rows=evaluation.rows, series=[]))) == 1
