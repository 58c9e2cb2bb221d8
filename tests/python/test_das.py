"""The DAS paper: each judgement on data made by hand, and the reading of runs made by hand."""

import numpy as np
import pytest

from optcp.papers import judge
from optcp.papers.base import Options, Size
from optcp.papers.das import fig1, fig2, fig4, fig6, paper, repairs
from optcp.papers.printed import statements_of
from optcp.papers.registry import select
from optcp.study.store import RunData


def run(series, *, drops=None, routing=None, seed=1):
    return RunData(seed, "", None, "", {}, drops or {}, None, [], routing, 0.0, series)


def listed(rows, names):
    """Columns from (time in s, event, seq)."""
    time_s, event, seq = zip(*rows, strict=True) if rows else ((), (), ())
    return {
        "time_ps": np.round(np.array(time_s, dtype=float) * paper.PS).astype(np.uint64),
        "event": np.array([names.index(one) for one in event], dtype=np.uint8),
        "seq": np.array(seq, dtype=np.uint32),
        "events": names,
    }


def reordering(*rows):
    return listed(rows, ["overtaken", "resent", "recovery", "timeout"])


def packets(*rows):
    return listed(rows, ["sent", "resent", "arrived", "acked", "queued", "transmitted", "dropped"])


def combined(parts):
    return judge.combine(parts)[0]


def test_events_of_a_window_and_goodput():
    one = run({"reordering": reordering((8.0, "recovery", 0), (8.5, "recovery", 0), (9.5, "timeout", 0))})
    assert paper.events(one, "recovery", 8, 9).tolist() == [8_500_000_000_000]
    assert paper.events(one, "timeout").size == 1
    # 1000 packets of 512 B in 2 s: 552 kB on the wire are 4416 kbit, 2208 kb/s; 2048 kb/s of payload.
    assert paper.kbps(512_000, 2) == pytest.approx(2208)
    assert paper.kbps(512_000, 2, 512) == pytest.approx(2048)


def flow(plain, das, *, false=(1, 0), resent=(5, 0), at_failure=(0, 0), at_repair=(9, 9)):
    """A start: payload that stands for these kb/s over 11 s, and counts, for the plain receiver and DAS."""
    payload = [kbps * 1000 * 11 / 8 * 512 / 552 for kbps in (plain, das)]
    return payload, false, resent, at_failure, at_repair


def single(*starts):
    columns = [np.array(column) for column in zip(*starts, strict=True)]
    return fig2.Measured(columns[0].astype(float), *columns[1:])


def test_the_print_is_reached_within_5_percent():
    # 19931 / 15280 = 1.3044.
    assert combined(fig2.reaches_the_print(single(flow(15280, 19931)))) is True
    assert combined(fig2.reaches_the_print(single(flow(15280, 15281), flow(15200, 19700)))) is True
    assert combined(fig2.reaches_the_print(single(flow(18000, 23479)))) is False
    assert combined(fig2.reaches_the_print(single(flow(15280, 19500)))) is False


def test_gains_are_over_the_starts_that_are_hit():
    measured = single(flow(100, 130), flow(100, 101, false=(0, 0)), flow(100, 120))
    assert measured.gain_pct("das") == pytest.approx([30, 20])
    assert measured.best() == 0


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
def test_das_removes_what_the_shorter_path_causes(change, holds):
    start = {"plain": 100, "das": 130} | change
    assert combined(fig2.removes_every_false_one(single(flow(**start)))) is holds


def test_a_backup_works_if_das_has_no_false_retransmit_and_plain_has():
    assert combined(fig2.works_with_the_backup(single(flow(100, 130)))) is True
    assert combined(fig2.works_with_the_backup(single(flow(100, 130, false=(0, 0))))) is False
    assert combined(fig2.works_with_the_backup(single(flow(100, 130, false=(1, 1))))) is False


class Finished:
    """A finished study: seeds and their runs."""

    def __init__(self, *runs):
        self.seeds = tuple(range(1, len(runs) + 1))
        self.runs = runs

    def __iter__(self):
        return iter(zip(self.seeds, self.runs, strict=True))


def test_nothing_without_a_shorter_path_means_packet_by_packet():
    names = ["sent", "arrived"]
    same = listed([(1, "sent", 0), (2, "arrived", 0)], names) | {"ack": np.array([False, False])}
    other = same | {"seq": np.array([0, 1], dtype=np.uint32)}
    cells = len(fig2.LOSS_PROBABILITIES) * len(paper.RECEIVERS)
    equal = Finished([run({"packets": same})] * cells)
    assert combined(fig2.does_nothing_without_a_shorter_path(equal)) is True
    different = Finished([run({"packets": same})] * (cells - 1) + [run({"packets": other})])
    assert combined(fig2.does_nothing_without_a_shorter_path(different)) is False


def test_the_gain_falls_with_n():
    noise = np.linspace(-1, 1, 15)

    def measured(gain, share):
        plain = np.full(15, 1e6)
        payload = {n: np.column_stack([plain, plain * (1 + (gain / n + noise * 0.1) / 100)]) for n in (1, 2, 10)}
        counts = {n: np.column_stack([share / n + 0.01 * noise, np.zeros(15)]) for n in (1, 2, 10)}
        return fig4.Measured(payload, counts)

    assert combined(fig4.falls_with_n(measured(10, 1))) is True
    assert combined(fig4.falls_with_n(measured(-10, 1))) is False
    assert measured(10, 1).suffering_pct(10).mean() == pytest.approx(10)


def arrivals(*rows):
    """A run of Fig. 6 from (ms after the repair, event, packet)."""
    placed = [(fig6.REPAIR_S + ms / 1000, event, fig6.FIRST + packet) for ms, event, packet in rows]
    counts = [row for row in placed if row[1] == "timeout"]
    recovered = [(at, "recovery", 0) for at, event, _ in placed if event == "resent" and not counts]
    rest = [row for row in placed if row[1] != "timeout"]
    return run({"packets": packets(*rest), "reordering": reordering(*recovered, *counts)})


def case_c(*ending):
    start = [(10, "arrived", 0), (12, "arrived", 6), (14, "arrived", 4), (30, "acked", 1), (34, "acked", 5)]
    return fig6.trace(arrivals(*start, *ending), 5)


def test_duplicate_acks_are_counted_until_something_is_sent_again():
    one = case_c((40, "acked", 5), (41, "acked", 5), (42, "acked", 5), (42, "resent", 5), (43, "acked", 5))
    assert one.duplicates[:, 1].tolist() == [5, 5, 5]
    assert combined(fig6.goes_on_telling(one)) is True


def test_case_c_fails_without_duplicate_acks_or_with_a_timeout():
    silent = case_c((230, "timeout", 0), (230, "resent", 5), (250, "arrived", 5))
    assert combined(fig6.goes_on_telling(silent)) is False
    assert silent.filled_ms == pytest.approx(250)


def case(*rows):
    return {"das": fig6.trace(arrivals(*rows), 1)}


def test_cases_a_and_b():
    in_order = [(30 + n, "acked", n) for n in range(1, 8)]
    three = [(10, "acked", 1), (11, "acked", 1), (12, "acked", 1), (13, "acked", 1), (13, "resent", 1)]
    beside = {name: case(*in_order) for name in fig6.CASES if name.startswith("lost")}
    told = {"a": case(*in_order), "b": case(*three), **beside}
    assert combined(fig6.tells_both_apart(told, "das")) is True
    assert combined(fig6.tells_both_apart(told | {"a": case(*three)}, "das")) is False
    assert combined(fig6.tells_both_apart(told | {"b": case(*three[:3])}, "das")) is False


def routed(announcements=0, on_failure=6, on_repair=6, converged=(), drops=None):
    steps = [{"at_ps": round(at * paper.PS), "router": "A", "cause": "convergence", "entries": 1} for at in converged]
    counts = {"announcements": announcements, "on_failure": on_failure, "on_repair": on_repair}
    return run({}, drops=drops, routing={**counts, "on_convergence": len(steps), "steps": steps})


def timelines(**change):
    runs = {
        "short": [routed()],
        "long": [routed(2, 6, 0, [7.9, 7.9, 13, 13.5])],
        "own": [routed(2, 6, 0, [7.2, 7.9]), routed(2, 6, 0, [7.2, 7.9], {"ttl-expired": 3})],
    } | change
    return dict(zip(fig1.CELLS, runs.values(), strict=True))


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
def test_only_what_lasts_is_announced(change, holds):
    assert combined(fig1.announces_what_lasts(timelines(**change))) is holds


def test_every_statement_of_the_paper_is_judged():
    assert [len(statements_of(f"das/fig{n}")) for n in (1, 2, 4, 6)] == [1, 4, 1, 2]


def test_variants_of_sack_are_compared_with_sack():
    ways = repairs._ways()
    against = {ways[j]: ways[repairs._base(j)] for j in range(len(ways))}
    assert against["SACK, RACK", "plain"] == ("SACK", "plain")
    assert against["linux-6", "das-bounded"] == ("linux-6", "plain")


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
