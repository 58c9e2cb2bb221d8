"""File of the OBS paper over a core of burst switches, with the compiled simulator, compared with closed forms."""

import pytest
from pyarrow import compute, parquet

from optcp import StudyResult

SEEDS = 8


@pytest.fixture
def ran(command, tmp_path):
    """Run a scenario with parameters, and return one table of its seeds per observation, and the drops per run."""

    def run(scenario, *words, runs=SEEDS, **parameters):
        out = tmp_path / "-".join((scenario, *words, *parameters.values())).replace("/", "-")[:60]
        settings = [word for key, value in parameters.items() for word in ("--set", f"parameters.{key}={value}")]
        command("run", scenario, *words, *settings, "--runs", runs, "--out", out)
        tables = {name: parquet.read_table(out / name) for name in ("completions", "bursts")}
        return tables, [item.drops for _, (item,) in StudyResult.open(out)]

    return run


def lost_share(tables):
    """Return the share of lost bursts, data and ACKs."""
    return compute.mean(tables["bursts"]["lost"].cast("int64")).as_py()


def erlang_b(erlangs):
    """Return Erlang's formula B for two servers."""
    return erlangs**2 / 2 / (1 + erlangs + erlangs**2 / 2)


@pytest.mark.parametrize("timer", ["10 us", "1 ms", "10 ms"])
def test_core_without_cross_traffic_equals_paper_path(ran, timer):
    same = {"timer": timer, "size": "2 MB"}
    core, drops = ran("obs-emergent", "--set", "traffic=[]", runs=1, **same)
    lossless = {"recovery": "sack", "wavelength": "1 Gbps", "offset": "20 us", "loss_probability": "0"}
    path, _ = ran("obs", "--set", "traffic=[]", runs=1, **same, **lossless)
    assert core["completions"]["time_ps"] == path["completions"]["time_ps"]
    assert drops == [{}]


def test_burst_loss_matches_erlang_b(ran):
    # Poisson bursts occupy the fibre independently of the file's bursts and sizes; any wavelength can be used.
    tables, _ = ran("obs-emergent", timer="10 us", size="1 MB", erlangs="0.5")
    assert lost_share(tables) == pytest.approx(erlang_b(0.5), rel=0.1)


def test_without_conversion_a_burst_waits_for_one_wavelength(ran):
    # A node keeps the wavelength that it used last, and uses the other one while that is busy. Between half and all of
    # the others are therefore on the file's wavelength: Erlang B for one server, A / (1 + A).
    tables, _ = ran("obs-emergent", timer="10 us", size="1 MB", erlangs="0.1", conversion="none")
    assert 0.9 * 0.05 / 1.05 < lost_share(tables) < 1.1 * 0.1 / 1.1
    # With conversion the loss would be a tenth of that.
    assert lost_share(tables) > 5 * erlang_b(0.1)


def test_packets_are_only_dropped_with_their_burst(ran):
    every = 'observe=[{ name = "completions", kind = "completions" }, { name = "bursts", kind = "bursts" }]'
    tables, drops = ran("obs-emergent", "--set", every, runs=1, size="1 MB", erlangs="0.5")
    rows = tables["bursts"]
    lost = compute.sum(rows.filter(rows["lost"])["packets"]).as_py()
    assert drops == [{"contention": lost}]
    assert lost > 0


def test_long_bursts_lose_more_only_if_others_reserve_earlier(ran):
    def both(ahead):
        result = []
        for timer in ("10 us", "10 ms"):
            tables, _ = ran("obs-emergent", timer=timer, ahead=ahead, size="4 MB", erlangs="0.2")
            data = compute.greater(tables["bursts"]["segments"], 0)
            result.append(lost_share({"bursts": tables["bursts"].filter(data)}))
        return result

    one, window = both("1 ms")
    assert window > 2 * one
    one, window = both("20 us")
    assert window == pytest.approx(one, rel=0.6)
