"""The reduction of the section 5 study, on runs made by hand."""

import numpy as np
import pytest

from optcp.errors import RunFailed
from optcp.papers.base import Options
from optcp.papers.gmpls import section5
from optcp.papers.gmpls.section5 import DELTA_MS, Measured, measure
from optcp.study import RunData

PORTS = ["S0->A", "L1->L2", "L2->L1", "L5->L6"]


def run(goodput, drops=(), load=None, groups=("switched", "fixed")):
    """A run with 1000 intervals of 10 ms; drops are (time in ms, port, group, ack)."""
    times, ports, classes, acks = zip(*drops, strict=True) if drops else ((), (), (), ())
    series = {
        "goodput": {"kind": "goodput", "interval_s": 0.01, "groups": list(groups), "bytes": goodput},
        "load": {
            "kind": "load",
            "interval_s": 0.1,
            "ports": PORTS,
            "bytes": load if load is not None else zeros(4, 100),
        },
        "drops": {
            "kind": "drops",
            "ports": PORTS,
            "groups": ["fixed", "switched"],
            "reasons": ["queue-full"],
            "time_ps": np.array([time * 10**9 for time in times], dtype="u8"),
            "port": np.array([PORTS.index(port) for port in ports], dtype="u4"),
            "group": np.array([["fixed", "switched"].index(name) for name in classes], dtype="u4"),
            "ack": np.array(acks, dtype=bool),
            "reason": np.zeros(len(times), dtype="u1"),
        },
    }
    return RunData(1, "", None, "", {}, {}, None, [], None, 0.0, series)


def zeros(*shape):
    return np.zeros(shape, dtype="u8")


class Seeds:
    """Stands for a finished study."""

    def __init__(self, *seeds):
        self.seeds = seeds

    def __iter__(self):
        return enumerate(self.seeds, start=1)


def test_equation_5_counts_both_groups_from_after_5_s_to_6_5_s():
    bytes_ = zeros(2, 1000)
    bytes_[0, 499] = 1  # (4.99 s, 5 s]: before the window
    bytes_[0, 500] = 10  # (5 s, 5.01 s]: its first interval
    bytes_[1, 649] = 100  # (6.49 s, 6.5 s]: its last
    bytes_[1, 650] = 1000
    double = zeros(2, 1000)
    double[0, 500] = 220
    cells = [bytes_, double, bytes_, double, bytes_]
    measured = measure(Seeds([run(cell) for cell in cells]))
    assert measured.bytes_in(5.0, 6.5)[0].tolist() == [[10, 100], [220, 0], [10, 100], [220, 0], [10, 100]]
    assert measured.ratio.tolist() == [[1.0, 2.0, 1.0, 2.0, 1.0]]
    assert measured.best_share.tolist() == [[0.0, 0.5, 0.0, 0.5, 0.0]]
    assert measured.seeds == 1


def test_groups_are_found_by_name():
    bytes_ = zeros(2, 1000)
    bytes_[0, 500] = 7
    measured = measure(Seeds([run(bytes_, groups=("fixed", "switched"))] * 5))
    assert measured.bytes_in(5.0, 6.5)[0, 0].tolist() == [0, 7]


def test_no_goodput_without_delay_is_an_error():
    with pytest.raises(RunFailed, match="no meaning"):
        _ = measure(Seeds([run(zeros(2, 1000))] * 5)).ratio


def test_drops_are_counted_by_place_and_window():
    drops = [
        (3000, "L5->L6", "fixed", False),  # at 3 s: before (3 s, 5 s]
        (3001, "S0->A", "switched", False),  # no backbone port
        (4999, "L5->L6", "fixed", False),
        (5000, "L1->L2", "switched", False),  # at 5 s: the failure itself, in neither window
        (5001, "L1->L2", "switched", False),
        (5002, "L2->L1", "switched", True),
        (5010, "L5->L6", "fixed", False),
        (5060, "L5->L6", "switched", False),
        (5240, "L5->L6", "fixed", False),
        (6500, "L5->L6", "fixed", False),  # at 6.5 s: in
        (6501, "L5->L6", "fixed", False),
    ]
    measured = measure(Seeds([run(zeros(2, 1000), drops)] * 5))
    assert measured.backbone_drops[0].tolist() == [1] * 5
    assert measured.dead_link_drops[0].tolist() == [2] * 5
    assert measured.merge_drops[0].tolist() == [4] * 5
    # From the switch at 5 s + delta to the next drop there.
    assert measured.first_merge_drop_s[0] == pytest.approx([0.010, 0.010, 1.250, 1.000, 0.500])
    assert measured.both_classes_drop[0].tolist() == [True, True, False, False, False]
    assert not measured.no_merge_drop.any()


@pytest.mark.parametrize(("second_ms", "both"), [(5200, True), (5201, False)])
def test_both_classes_must_lose_within_200_ms(second_ms, both):
    drops = [(5010, "L5->L6", "fixed", False), (second_ms, "L5->L6", "switched", False)]
    measured = measure(Seeds([run(zeros(2, 1000), drops)] * 5))
    assert bool(measured.both_classes_drop[0, 0]) is both


def test_a_run_without_drops_counts_to_its_end():
    measured = measure(Seeds([run(zeros(2, 1000))] * 5))
    assert measured.no_merge_drop.all()
    assert measured.first_merge_drop_s[0] == pytest.approx([5.0, 4.95, 4.75, 4.5, 4.0])
    assert measured.merge_drops.sum() == 0


def test_load_of_the_failing_link():
    load = zeros(4, 100)
    load[1, 29] = 10**9  # (2.9 s, 3 s]: before
    load[1, 30] = 1_125_000
    load[1, 49] = 1_125_000
    measured = measure(Seeds([run(zeros(2, 1000), load=load)] * 5))
    # 2 x 1 125 000 B in 2 s are 9 Mb/s.
    assert measured.failing_link_load_bps.tolist() == [9e6]


def test_worlds_of_both_readings():
    chosen = {parameter.name: parameter.default for parameter in section5.ASSUMED}
    studies = section5.studies(chosen, Options())
    assert list(studies) == ["100+100", "10+10"]
    for reading, per_source in (("100+100", "10"), ("10+10", "1")):
        branches = studies[reading].branches
        assert [branch.key for branch in branches] == [{"parameters.switch_delay": f"{delta} ms"} for delta in DELTA_MS]
        parameters = branches[0].scenario.summary()["parameters"]
        assert parameters["flows_per_source"] == per_source
        assert parameters["backbone"] == "10000000 bps"
        assert parameters["queue"] == "50 packets"
    assert studies["100+100"].hash != studies["10+10"].hash


@pytest.mark.parametrize("text", ["10", "10+20", "5+5", "ten+ten", "", "0+0"])
def test_flow_readings_that_make_no_sense(text):
    with pytest.raises(ValueError, match="expected flows a class"):
        section5._flows(text)


def test_flow_readings():
    assert section5._flows("20+20,10+10, 20+20") == "20+20, 10+10"


def made(**changes):
    """A reduced study of three seeds in which nothing happens, but for the changes."""
    shape = (3, len(DELTA_MS))
    fields = {
        "interval_s": 0.01,
        "goodput": np.ones((*shape, 2, 1000), dtype=np.int64),
        "failing_link_load_bps": np.full(3, 9e6),
        "backbone_drops": np.zeros(shape, dtype=np.int64),
        "dead_link_drops": np.zeros(shape, dtype=np.int64),
        "merge_drops": np.zeros(shape, dtype=np.int64),
        "first_merge_drop_s": np.ones(shape),
        "no_merge_drop": np.zeros(shape, dtype=bool),
        "both_classes_drop": np.ones(shape, dtype=bool),
    }
    return Measured(**(fields | changes))
