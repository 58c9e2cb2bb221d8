"""gmpls/aqm: its grids, and its results for hand-made runs."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from handmade import HandMade
from optcp.errors import InputError
from optcp.papers import assume
from optcp.papers.options import Options, Size
from optcp.plots.registry import figures
from optcp_papers.gmpls.aqm import AQM, DELTA_MS, DISCIPLINES, MESH, WITHOUT

# TopoHub does not close its files, and Python warns when it collects them.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")

WAYS = ("forward", "reverse")
DELAYS = (WITHOUT, *map(str, DELTA_MS))
MESH_DELAYS = (WITHOUT, "50")
PS = 10**12


def chosen(**settings):
    return assume.values(AQM.assumed, settings)


def section5_run(queue, delay):
    """Return a run in which both classes get 50 kB per 50 ms; after 5 s half of that, with PIE three quarters.

    L5->L6 queues 12.5 kB, 10 ms at 10 Mb/s, from 5.25 s on.
    """
    bytes_ = np.full((2, 200), 50_000, dtype="u8")
    if delay != WITHOUT:
        bytes_[:, 100:] = 37_500 if queue == "pie" else 25_000
    held, longest = np.zeros((2, 200)), np.zeros((2, 200), dtype="u8")
    held[0, 80:100], held[1, 105:] = 11_250, 12_500
    longest[1, 100:] = 20 * PS // 1000
    ports = {"interval_s": 0.05, "ports": ["A->L0", "L5->L6"], "mean_bytes": held, "longest_ps": longest}
    return {"goodput": {"interval_s": 0.05, "groups": ["switched", "fixed"], "bytes": bytes_}, "ports": ports}


def mesh_run(queue, delay):
    """Five of 100 counted flows take 1 s, the others 0.1 s; the cut adds 0.2 s, with FQ-CoDel 0.1 s."""
    start = np.full(101, 3 * PS, dtype="u8")
    start[100] = PS  # too early
    took = np.where(np.arange(101) < 94, PS // 10, PS).astype("u8")
    took[100] = 7 * PS
    if delay != WITHOUT:
        took += PS // 10 if queue == "fq-codel" else PS // 5
    bytes_ = np.full((1, 80), 10_000, dtype="u8")
    if delay != WITHOUT:
        bytes_[0, 30:45] = 9_000
    held = np.zeros((2, 160))
    held[0, 40:60], held[1, 61:90] = 125_000, 250_000
    names = ["Erfurt->Wuerzburg", "Kassel->Fulda"]
    ports = {"interval_s": 0.05, "ports": names, "mean_bytes": held, "longest_ps": np.zeros((2, 160), dtype="u8")}
    return {
        "goodput": {"interval_s": 0.1, "groups": ["web"], "bytes": bytes_},
        "ends": {"time_ps": start + took, "start_ps": start, "finished": np.ones(101, dtype="u8")},
        "ports": ports,
    }


def study(run, delays):
    seed = [run(queue, delay) for queue in DISCIPLINES for delay in delays]
    return HandMade({"queue": DISCIPLINES, "delta_ms": delays}, [seed] * 4)


def test_every_discipline_with_and_without_a_failure():
    grids = AQM.studies(chosen(), Options())
    assert {name: len(grid.branches) for name, grid in grids.items()} == {
        "10+10": 40,
        "100+100": 40,
        "10+10, backbone only": 40,
        "100+100, backbone only": 40,
        MESH: 20,
    }
    first, *_, last = grids["10+10"].branches
    assert first.resolved["failures"] == []
    assert [axis.values for axis in grids["10+10"].axes] == [tuple(DISCIPLINES), DELAYS]
    assert last.resolved["tcp"]["all"]["congestion"] == "prague"
    assert {link[way]["discipline"]["kind"] for link in last.resolved["links"] for way in WAYS} == {"dualpi2"}
    quick = Size.asked(quick=True, seeds=None)
    assert [AQM.seeds(name, quick) for name in grids] == [3, 0, 0, 0, 2]


def test_discipline_can_be_limited_to_backbone():
    grids = AQM.studies(chosen(ruled_ports="backbone", flows="10+10"), Options())
    codel = grids["10+10, backbone only"].branches[2 * len(DELAYS)]
    ruled = {link["name"] for link in codel.resolved["links"] if "discipline" in link["forward"]}
    assert ruled == {f"{item}-{two}" for item, two in pairwise(["L0", "L1", "L2", "L3"])} | {
        f"{item}-{two}" for item, two in pairwise(["L4", "L5", "L6", "L7"])
    } | {"L1-L5", "L6-L2"}
    with pytest.raises(InputError, match="expected all, backbone"):
        chosen(ruled_ports="none")


def test_rows_of_hand_made_runs():
    done = {"10+10": study(section5_run, DELAYS), "100+100": study(section5_run, DELAYS)}
    evaluation = AQM.evaluate(chosen(ruled_ports="all", failure_s="5"), {**done, MESH: study(mesh_run, MESH_DELAYS)})
    rows = {row.name: row.measured for row in evaluation.rows}
    assert len(rows) == len(evaluation.rows)
    assert not evaluation.claims

    def of(world, queue, metric, delay=None):
        where = f"world={world} queue={queue}" + ("" if delay is None else f" delta_ms={delay}")
        return rows[f"{where} {metric}"]

    world = "section 5, 10+10"
    assert of(world, "codel", "goodput_pct") == pytest.approx(160)
    assert of(world, "codel", "goodput_pct", 0) == pytest.approx(80)
    assert of(world, "pie", "minus_drop_tail_points", 50) == pytest.approx(40)
    assert of(world, "pie", "cost_pct", 50) == pytest.approx(25)
    assert of(world, "pie", "cost_minus_drop_tail_points", 50) == pytest.approx(-25)
    assert of(world, "pie", "rel_goodput_pct", 250) == 0
    assert of(world, "pie", "cost_minus_dropping_points", 250) == pytest.approx(25)
    assert of(world, "codel, ecn", "queue_before_ms") == pytest.approx(10)
    assert of(world, "codel, ecn", "queue_after_ms", 250) == pytest.approx(10)
    assert of(world, "codel, ecn", "queue_after_ms", 0) == pytest.approx(10 * 25 / 30, abs=1e-4)
    assert of(world, "codel, ecn", "longest_ms", 0) == pytest.approx(20)
    assert of(world, "step, dctcp", "settle_s", 50) == 0

    assert of(MESH, "codel", "cost_pct", 50) == pytest.approx(10)
    assert of(MESH, "codel", "extra_mean_ms", 50) == pytest.approx(200)
    assert of(MESH, "codel", "completion_p95_ms", 50) == pytest.approx(1200)
    assert of(MESH, "fq-codel", "extra_p95_minus_dropping_ms", 50) == pytest.approx(100)
    assert of(MESH, "fq-codel", "extra_p95_minus_drop_tail_ms", 50) == pytest.approx(-100)
    assert of(MESH, "codel", "queue_before_ms") == pytest.approx(10)
    assert of(MESH, "codel", "queue_after_ms", 50) == pytest.approx(20)

    result = SimpleNamespace(exhibit=AQM.id, rows=evaluation.rows, series=[])
    assert len(figures(result)) == 2
