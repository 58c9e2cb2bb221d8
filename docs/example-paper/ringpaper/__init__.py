"""An example paper: the cost of a slow protection switch on a ring."""

from pathlib import Path

from optcp.papers.kit import Exhibit, Findings, Found, Setup, judge, one_grid, over_axis, rows, runs_of
from optcp.plots.registry import curves

DELAYS = ("0 ms", "10 ms", "100 ms", "1 s")
GRID = one_grid(Path(__file__).with_name("ring.toml"), {"parameters.switch_delay": DELAYS})
SETUP = Setup("A. Student: My thesis", None, GRID, runs_of(40, 10))


def find(found: Found) -> Findings:
    """Return the gain in goodput in the two seconds after the failure against an immediate switch, and the losses."""
    goodput = found.only["goodput"].between("3 s", "5 s").total("group")
    gain = (100 * (goodput / goodput.at(switch_delay="0 ms") - 1)).named("gain", "%")
    lost = found.only["drops"].count(reason="link-down")
    claims = {
        "fast-is-free": [judge.equivalence_part("10 ms", gain.at(switch_delay="10 ms"), 2, "%")],
        "slow-costs": [
            judge.paired_part("1 s", gain.at(switch_delay="1 s"), gain.at(switch_delay="0 ms"), "below", "%")
        ],
        "loss-grows": judge.trend_parts("lost", DELAYS, [lost.at(switch_delay=one) for one in DELAYS], "up", "packets"),
    }
    labels = ("switch delay", "s", "gain in goodput", "%")
    return Findings(
        rows({"gain_pct": gain.mean(), "lost": lost.mean()}), claims, over_axis(gain.mean(), "switch_delay", labels)
    )


DELAY = Exhibit("ringpaper/delay", "What a slow switch costs on a ring", "chapter 1", SETUP, find, figures=curves)
EXHIBITS = (DELAY,)
