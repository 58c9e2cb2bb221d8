"""DAS paper: each judgement on data made by hand, and evaluation of runs made by hand."""

import numpy as np
import pytest

import handmade
from handmade import HandMade
from optcp import _core
from optcp.data.axes import Axis
from optcp.data.cells import Cells, stack
from optcp.data.table import PICOSECONDS_A_SECOND
from optcp.papers import judge
from optcp.papers.options import Options, Size
from optcp.papers.printed import statements_of
from optcp.papers.registry import select
from optcp_papers.das import fig1, fig2, fig4, fig6, mechanisms, paper, repairs


def run(series, *, drops=None, routing=None, seed=1):
    return handmade.run(series, seed=seed, drops=drops or {}, routing=routing)


def listed(rows, names):
    """Return columns from (time in s, event, seq)."""
    time_s, event, seq = zip(*rows, strict=True) if rows else ((), (), ())
    return {
        "time_ps": np.round(np.array(time_s, dtype=float) * PICOSECONDS_A_SECOND).astype(np.uint64),
        "event": np.array([names.index(item) for item in event], dtype=np.uint8),
        "seq": np.array(seq, dtype=np.uint32),
        "events": names,
    }


def reordering(*rows):
    return listed(rows, ["overtaken", "resent", "recovery", "timeout"])


def packets(*rows):
    return listed(rows, ["sent", "resent", "arrived", "acked", "queued", "transmitted", "dropped"])


def combined(parts):
    return judge.combine(parts)[0]


def test_goodput_counts_a_packet_with_its_headers():
    # 1000 packets of 512 B in 2 s: 552 kB on the wire are 4416 kbit, 2208 kb/s; 2048 kb/s of payload.
    assert paper.kbps(512_000, 2) == pytest.approx(2208)
    assert paper.kbps(512_000, 2, 512) == pytest.approx(2048)


def goodput(*tenths):
    """Return bytes of one group in the 100 ms intervals that end at these tenths of a second, up to 11 s."""
    bytes_ = np.zeros((1, 110), dtype=np.uint64)
    bytes_[0, np.array(tenths, dtype=int) - 1] = 512
    return {"interval_s": 0.1, "groups": ["measured"], "bytes": bytes_}


def test_start_is_evaluated_around_failure_and_repair():
    plain = [
        (2.9, "overtaken", 0),
        (3.0, "overtaken", 0),  # not after the failure
        (4.0, "overtaken", 1),
        (8.0, "recovery", 2),  # not after the repair
        (8.5, "recovery", 3),
        (8.6, "overtaken", 3),
        (8.6, "resent", 3),
        (9.0, "timeout", 4),
        (9.1, "timeout", 5),  # more than a second after it
    ]
    das = [(8.5, "overtaken", 0)]
    runs = [
        {"goodput": goodput(*tenths), "reordering": reordering(*rows)}
        for tenths, rows in (((1, 110), plain), ((1, 2, 110), das))
    ]
    world = fig2.measure(HandMade({"receiver": ["plain", "das"]}, [runs]))
    measured = {
        name: getattr(world, name).values.tolist()
        for name in ("payload", "false", "resent", "overtaken_at_failure", "overtaken_at_repair")
    }
    assert measured == {
        "payload": [[1024, 1536]],
        "false": [[2, 0]],
        "resent": [[1, 0]],
        "overtaken_at_failure": [[1, 0]],
        "overtaken_at_repair": [[1, 1]],
    }


def flow(plain, das, *, false=(1, 0), resent=(5, 0), at_failure=(0, 0), at_repair=(9, 9)):
    """Return a start with these kb/s of payload over 11 s, and counts, for the plain receiver and DAS."""
    payload = [kbps * 1000 * 11 / 8 * 512 / 552 for kbps in (plain, das)]
    return payload, false, resent, at_failure, at_repair


def over(values, *axes):
    return Cells(np.asarray(values), axes, tuple(range(1, len(values) + 1)))


RECEIVER = Axis("receiver", ("plain", "das"))


def single(*starts):
    payload, *counts = (over(column, RECEIVER) for column in zip(*starts, strict=True))
    return fig2.World(over(payload.values[:, :, None], RECEIVER, Axis("time", ("11 s",))), *counts)


def test_published_values_are_matched_within_5_percent():
    # 19931 / 15280 = 1.3044.
    assert combined(fig2.matches_published_run(single(flow(15280, 19931)))) is True
    assert combined(fig2.matches_published_run(single(flow(15280, 15281), flow(15200, 19700)))) is True
    assert combined(fig2.matches_published_run(single(flow(18000, 23479)))) is False
    assert combined(fig2.matches_published_run(single(flow(15280, 19500)))) is False


def test_gains_are_over_affected_starts():
    measured = single(flow(100, 130), flow(100, 101, false=(0, 0)), flow(100, 120))
    gain = measured.gain_pct.at(receiver="das").mean()
    assert (float(gain.estimate), int(gain.n)) == (pytest.approx(25), 2)
    assert measured.best == 0
    rows = {(row.key["receiver"], row.metric): row for row in fig2.all_rows({"routing": "forward"}, measured)}
    assert rows["das", "gain_pct_max"].measured == pytest.approx(30)
    assert rows["das", "gain_pct_max"].n == 2
    assert rows["plain", "goodput_kbps"].measured == pytest.approx(100)
    assert rows["plain", "false_retransmit_share_pct"].n == 3


@pytest.mark.parametrize(
    ("change", "holds"),
    [
        ({}, True),
        ({"at_failure": (1, 0)}, False),
        ({"at_repair": (0, 0)}, False),
        ({"resent": (5, 1)}, False),
        ({"das": 90}, False),
    ],
)
def test_das_removes_effects_of_shorter_path(change, holds):
    start = {"plain": 100, "das": 130} | change
    assert combined(fig2.das_removes_false_retransmits(single(flow(**start)))) is holds


def test_a_backup_works_if_das_has_no_false_retransmit_and_plain_has():
    assert combined(fig2.works_with_each_backup(single(flow(100, 130)))) is True
    assert combined(fig2.works_with_each_backup(single(flow(100, 130, false=(0, 0))))) is False
    assert combined(fig2.works_with_each_backup(single(flow(100, 130, false=(1, 1))))) is False


def test_receivers_equal_packet_by_packet_without_failure():
    names = ["sent", "arrived"]
    same = listed([(1, "sent", 0), (2, "arrived", 0)], names) | {"ack": np.array([False, False])}
    other = same | {"seq": np.array([0, 1], dtype=np.uint32)}
    cells = len(fig2.LOSSES) * len(paper.RECEIVERS)
    axes = {"loss": fig2.LOSSES, "receiver": paper.RECEIVERS}
    equal = HandMade(axes, [[{"packets": same}] * cells])
    assert combined(fig2.receivers_equal_without_failure(equal)) is True
    different = HandMade(axes, [[{"packets": same}] * (cells - 1) + [{"packets": other}]])
    assert combined(fig2.receivers_equal_without_failure(different)) is False


def test_the_gain_falls_with_n():
    noise = np.linspace(-1, 1, 15)

    def measured(gain, share):
        plain = np.full(15, 1e6)
        payload = {
            n: over(np.column_stack([plain, plain * (1 + (gain / n + noise * 0.1) / 100)]), RECEIVER)
            for n in (1, 2, 10)
        }
        counts = {n: over(np.column_stack([share / n + 0.01 * noise, np.zeros(15)]), RECEIVER) for n in (1, 2, 10)}
        return fig4.network(*(stack("n", {str(n): cells for n, cells in item.items()}) for item in (payload, counts)))

    assert combined(fig4.falls_with_n(measured(10, 1))) is True
    assert combined(fig4.falls_with_n(measured(-10, 1))) is False
    assert measured(10, 1).false_recoveries_pct.at(n=10).values.mean() == pytest.approx(10)


def arrivals(*rows):
    """Return a run of Fig. 6 from (ms after the repair, event, packet)."""
    placed = [(fig6.REPAIR_S + ms / 1000, event, fig6.FIRST + packet) for ms, event, packet in rows]
    counts = [row for row in placed if row[1] == "timeout"]
    recovered = [(at, "recovery", 0) for at, event, _ in placed if event == "resent" and not counts]
    rest = [row for row in placed if row[1] != "timeout"]
    return run({"packets": packets(*rest), "reordering": reordering(*recovered, *counts)})


def case_c(*ending):
    start = [(10, "arrived", 0), (12, "arrived", 6), (14, "arrived", 4), (30, "acked", 1), (34, "acked", 5)]
    return fig6.trace(arrivals(*start, *ending), 5)


def test_duplicate_acks_are_counted_until_retransmission():
    one = case_c((40, "acked", 5), (41, "acked", 5), (42, "acked", 5), (42, "resent", 5), (43, "acked", 5))
    assert one.duplicates[:, 1].tolist() == [5, 5, 5]
    assert combined(fig6.still_signals_loss(one)) is True


def test_case_c_fails_without_duplicate_acks_or_with_a_timeout():
    silent = case_c((230, "timeout", 0), (230, "resent", 5), (250, "arrived", 5))
    assert combined(fig6.still_signals_loss(silent)) is False
    assert silent.filled_ms == pytest.approx(250)


def case(*rows):
    return {"das": fig6.trace(arrivals(*rows), 1)}


def test_cases_a_and_b():
    in_order = [(30 + n, "acked", n) for n in range(1, 8)]
    three = [(10, "acked", 1), (11, "acked", 1), (12, "acked", 1), (13, "acked", 1), (13, "resent", 1)]
    beside = {name: case(*in_order) for name in fig6.CASES if name.startswith("lost")}
    told = {"a": case(*in_order), "b": case(*three), **beside}
    assert combined(fig6.distinguishes_loss_and_reordering(told, "das")) is True
    assert combined(fig6.distinguishes_loss_and_reordering(told | {"a": case(*three)}, "das")) is False
    assert combined(fig6.distinguishes_loss_and_reordering(told | {"b": case(*three[:3])}, "das")) is False


def routed(announcements=0, on_failure=6, on_repair=6, converged=(), drops=None):
    steps = [
        {"at_ps": round(at * PICOSECONDS_A_SECOND), "router": "A", "cause": "convergence", "entries": 1}
        for at in converged
    ]
    counts = {"announcements": announcements, "on_failure": on_failure, "on_repair": on_repair}
    return run({}, drops=drops, routing={**counts, "on_convergence": len(steps), "steps": steps})


def timelines(**change):
    runs = {
        "short": [routed()],
        "long": [routed(2, 6, 0, [7.9, 7.9, 13, 13.5])],
        "own": [routed(2, 6, 0, [7.2, 7.9]), routed(2, 6, 0, [7.2, 7.9], {"ttl-expired": 3})],
    } | change
    kinds = dict(zip(fig1.KINDS, runs.values(), strict=True))
    return stack(
        "failure",
        {
            name: over([fig1.counts(item) for item in of_kind * (2 // len(of_kind))], Axis("what", fig1.COUNTS))
            for name, of_kind in kinds.items()
        },
    )


@pytest.mark.parametrize(
    ("change", "holds"),
    [
        ({}, True),
        ({"short": [routed(announcements=1)]}, False),
        ({"short": [routed(on_repair=5)]}, False),
        ({"long": [routed(2, 6, 0, [7.2, 7.9])]}, False),
        ({"long": [routed(2, 6, 0, [7.9], {"ttl-expired": 1})]}, False),
        ({"own": [routed(2, 6, 0, [7.2, 7.9])]}, False),
    ],
)
def test_judgement_of_announcements(change, holds):
    assert combined(fig1.only_long_failure_is_announced(timelines(**change))) is holds


def test_every_mechanism_is_run_on_both_networks():
    known = {one["name"] for one in _core.catalogue() if one["family"] == "fast-reroute"} - {"none"} | {"ecmp"}
    ran = {network: {name.split(",")[0] for name in mechanisms.ways(network)} for network in mechanisms.NETWORKS}
    assert ran == {"triangle": known, "square": known - {"lfa"}}


def by_mechanism(plain, das):
    names = Axis("mechanism", ("mrc", mechanisms.BLIND))
    false = np.stack([np.array([plain, das]).T] * 2, axis=1)
    return mechanisms.World(over(np.ones((len(plain), 2, 2)), names, RECEIVER), over(false, names, RECEIVER))


@pytest.mark.parametrize(
    ("plain", "das", "removes", "blind"),
    [
        ([0, 2], [0, 0], True, False),
        ([0, 2], [0, 2], False, True),
        ([0, 0], [0, 0], False, False),
        ([0, 2], [1, 2], False, False),
    ],
)
def test_judgements_by_mechanism(plain, das, removes, blind):
    world = by_mechanism(plain, das)
    assert combined(mechanisms.removes_false_retransmits(world, "mrc")) is removes
    assert combined(mechanisms.changes_nothing(world)) is blind


def test_every_statement_of_the_paper_is_judged():
    assert [len(statements_of(f"das/fig{n}")) for n in (1, 2, 4, 6)] == [1, 4, 1, 2]
    assert len(statements_of("das/mechanisms")) == 2


def test_variants_of_sack_are_compared_with_sack():
    assert repairs.base("SACK, RACK; plain") == "SACK; plain"
    assert repairs.base("linux-6; das-bounded") == "linux-6; plain"
    assert all(repairs.base(way) in repairs.WAYS for way in repairs.WAYS)


def test_sizes():
    (one,) = select(["das/fig4"])
    assert one.seeds("square, n = 5", Size("quick")) == 0
    assert one.seeds("square, n = 10", Size("quick")) == fig4.QUICK_RUNS
    assert one.seeds("square, n = 5", Size.asked(True, 7)) == 0
    assert one.seeds("square, n = 10", Size.asked(True, 7)) == 7
    assert one.seeds("square, n = 10", Size("seeds=150", 150)) == 150
    (two,) = select(["das/fig2"])
    assert two.seeds("both", Size("default")) == 500
    assert two.seeds(fig2.UNBROKEN, Size("default")) == fig2.UNBROKEN_SEEDS
    assert Options().fork
