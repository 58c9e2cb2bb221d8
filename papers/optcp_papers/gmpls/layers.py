"""Extension of the paper: recovery in the IP layer and in the optical layer, alone and in several orders."""

from optcp.papers.assume import Assumed, built_in, not_negative, overrides, positive_int
from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, Setup, rows
from optcp.papers.kit import Cells, Grid, Options, Part, Run, Settings, StudyResult, judge, runs_of
from optcp_papers.gmpls import section8
from optcp_papers.gmpls.paper import FAILURE_S, PAPER, PAPER_RUNS

QUICK_SEEDS = 4
WINDOW_S = (FAILURE_S, 11.0)
SCENARIO = section8.SCENARIO.with_name("gmpls-layers.toml")
PROFILES = ("ns2-2001", "linux-6")
DETECTION_MS = 10
"""Time of the optical layer's own detection."""
WITHOUT = "no failure"

ONE_FIBRE: Settings = {"failures.0.risk": "L1-L2"}
DUCT: Settings = {"failures.0.risk": "duct", "optical.fibres.0.duct": "duct", "optical.fibres.1.duct": "duct"}
FAST, SLOW, BLOCKED = "fast optical layer", "slow optical layer", "no optical route"
CASES: dict[str, tuple[Settings, Settings]] = {
    FAST: (ONE_FIBRE, {"optical.recovery": "protection", "optical.set_up": "50 ms"}),
    SLOW: (ONE_FIBRE, {"optical.recovery": "restoration", "optical.set_up": "2 s"}),
    BLOCKED: (DUCT, {"optical.recovery": "protection", "optical.set_up": "50 ms"}),
}
"""Failure, and recovery in the optical layer. In the last case both routes fail, since they share a duct."""

ASSUMED = (
    *(parameter for parameter in section8.ASSUMED if parameter.name not in ("profile", "backup", "switch_delay_ms")),
    Assumed("ip_ms", 50, positive_int, "parameters.switch_delay"),
    Assumed("hold_off_ms", 100, not_negative, ()),
    Assumed("wait_to_restore_ms", 500, not_negative, "parameters.wait_to_restore"),
    built_in("optical", "detection 10 ms, then protection in 50 ms or restoration in 2 s"),
    built_in("routes", "the backup L1-L4-L2 and the other fibre route are both 10 ms longer than L1-L2"),
)

NOTES = [
    "`lost_kb`: in-order bytes of all flows in (5 s, 11 s], compared with the same seed without a failure. "
    "`link_drops`: packets lost on the failed link. `switchovers`: switchovers and reversions of data in the IP layer.",
    "`ip`: the IP layer alone. `optical`: the optical layer alone. `both`: both at once, without coordination. "
    "`bottom-up`: the IP layer waits for `hold_off_ms` after its detection. `top-down`: the optical layer waits so.",
    "Without an optical route only the IP layer can recover: both fibre routes are in the duct that fails.",
]


def orders(hold_off_ms: float, optical: Settings) -> dict[str, Settings]:
    """Return the settings of each order of the two layers."""
    early, late = ({**optical, "optical.detection": f"{DETECTION_MS + wait:g} ms"} for wait in (0, hold_off_ms))
    return {
        "ip": {},
        "optical": {**early, "protection": []},
        "both": early,
        "bottom-up": {**early, "parameters.hold_off": f"{hold_off_ms:g} ms"},
        "top-down": late,
    }


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return one grid per profile and case, over the orders and the run without failure."""

    def grid(profile: str, case: str) -> Grid:
        settings = {**overrides(ASSUMED, chosen), "tcp.all.profile": profile}
        failure, optical = CASES[case]
        with_failure = orders(float(chosen["hold_off_ms"]), optical)
        made = {name: {**failure, **order} for name, order in with_failure.items()}
        axes = {"order": {WITHOUT: {"failures": [], "protection": []}, **made}}
        return options.grid(SCENARIO, settings, axes, f"gmpls layers, {profile}, {case}")

    return {name_of(profile, case): grid(profile, case) for profile in PROFILES for case in CASES}


def name_of(profile: str, case: str) -> str:
    """Return the name of a grid."""
    return f"{profile}, {case}"


class Costs:
    """Cost of a failure over ``order``.

    Attributes
    ----------
    lost_kb, link_drops, switchovers
        Metrics as defined in ``NOTES``.
    """

    def __init__(self, done: StudyResult) -> None:
        good = done["goodput"].between(*WINDOW_S).total("group")
        with_failure = tuple(str(value) for value in good.axis("order").values if value != WITHOUT)
        self.lost_kb: Cells = (1e-3 * (good.at(order=WITHOUT) - good)).part(order=with_failure)
        self.link_drops = done.each(drops).part(order=with_failure)
        self.switchovers = done.each(switchovers).part(order=with_failure)


def drops(run: Run) -> float:
    """Return the number of packets that were lost on the failed link."""
    return float(len(run["drops"]))


def switchovers(run: Run) -> float:
    """Return the number of switchovers and reversions of data."""
    return float(sum(one["packets"] == "data" for one in run.switches))


def find(found: Found) -> Findings:
    """Return the cost of each order, and judge which one costs TCP least."""
    costs = {name: done.once(Costs) for name, done in found.done.items()}
    shown = []
    for profile in PROFILES:
        for case in CASES:
            cost = costs[name_of(profile, case)]
            metrics = {name: getattr(cost, name).mean() for name in ("lost_kb", "link_drops", "switchovers")}
            shown += rows(metrics, key={"profile": profile, "case": case})
    return Findings(shown, judged(costs), [], NOTES)


def judged(costs: dict[str, Costs]) -> dict[str, list[Part]]:
    """Judge the claims for both profiles."""
    fast, price, slow = [], [], []
    for profile in PROFILES:
        lost = {case: costs[name_of(profile, case)].lost_kb for case in CASES}
        same = (lost[FAST].at(order="bottom-up").values == lost[FAST].at(order="optical").values).all()
        fast += [
            below(profile, lost[FAST], "bottom-up", "both"),
            judge.exact_part(f"{profile}, bottom-up equals optical", bool(same)),
        ]
        price += [below(profile, lost[BLOCKED], "ip", "bottom-up")]
        slow += [
            below(profile, lost[SLOW], "top-down", "bottom-up"),
            below(profile, lost[SLOW], "bottom-up", "optical"),
        ]
    return {"layers-fast-optical": fast, "layers-price": price, "layers-slow-optical": slow}


def below(profile: str, lost_kb: Cells, one: str, other: str) -> Part:
    """Judge that one order loses less than another."""
    label = f"{profile}, {one} minus {other}"
    return judge.paired_part(label, lost_kb.at(order=one).values, lost_kb.at(order=other).values, "below", "kB")


LAYERS = Exhibit(
    "gmpls/layers",
    "Recovery in the IP layer and the optical layer, in several orders",
    "beyond the paper, on section 8's topology",
    Setup(PAPER, None, grids, runs_of(PAPER_RUNS, QUICK_SEEDS), ASSUMED),
    find,
)
