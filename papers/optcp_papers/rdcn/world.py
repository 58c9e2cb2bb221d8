"""Scenario of the paper: times, schedule, and unstated parameters.

All times of the paper are multiplied by :data:`DILATION`, and rates divided by it, as in the emulator. The kernel's
timers are not scaled, in the emulator and here.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from optcp.papers.assume import Assumed, Value, built_in, not_negative, overrides, positive, positive_int
from optcp.papers.kit import Choices, Chosen, Grid, Options, Plausible, Settings, Span, runs_of
from optcp.study.grid import Values

PAPER = (
    "M. K. Mukerjee, C. Canel, W. Wang, D. Kim, S. Seshan, A. C. Snoeren: Adapting TCP for Reconfigurable Datacenter "
    "Networks, NSDI 2020"
)
DILATION = 20
NIGHT_US, DAY_US, DAYS = 20, 180, 24
SMALL, BIG = 16, 50
"""Packets of a virtual output queue in its small and large state."""
MARK_ENDS = ("recomputed", "exact")
"""Events until which ACKs notify senders of the circuit."""
RUNS, QUICK_RUNS = 10, 1
WEEKS, QUICK_WEEKS = 3000, 100
SCENARIO = Path(__file__).with_name("scenarios") / "rdcn.toml"

Change = tuple[float, Settings]
"""Time of a change in the paper's microseconds, and its settings."""


@dataclass(frozen=True)
class Week:
    """Schedule of one week, in the paper's microseconds.

    Attributes
    ----------
    night_us, day_us, days
        Durations of a night and of a day, and number of days; a night precedes each day.
    resize_us
        Lead with which a queue grows before its day; None for never.
    acks
        Circuit of the ACKs: on all days except the data's, as in the emulator ("reverse"), or on the data's day
        ("with-data").
    held
        Whether a queue is not served in the night before its circuit.
    closed
        Whether a packet may start at the very end of a day.
    mark_us
        Lead with which the flag ECE in ACKs notifies senders of the circuit; None for never.
    mark_end
        End of the notification: the next time at which the emulator updates its near circuits ("recomputed"), or the
        end of the day ("exact").
    """

    night_us: float = NIGHT_US
    day_us: float = DAY_US
    days: int = DAYS
    resize_us: float | None = None
    acks: str = "reverse"
    held: bool = True
    closed: bool = True
    mark_us: float | None = None
    mark_end: str = "recomputed"

    @property
    def length_us(self) -> float:
        """Duration of the week."""
        return self.days * (self.day_us + self.night_us)

    def days_of(self, direction: str) -> list[float]:
        """Return the start times of the days on which a queue has the circuit."""
        slot = self.day_us + self.night_us
        # In each slot the day comes first, as in the emulator's list.
        own = [(self.days - 1) * slot]
        if direction == "forward" or self.acks == "with-data":
            return own
        return [day * slot for day in range(self.days - 1)]

    @property
    def changes(self) -> list[Change]:
        """Times and settings of all changes, in the form of a scenario."""
        result: list[Change] = []
        for direction in ("forward", "backward"):
            begins = self.days_of(direction)
            for begin in begins:
                before, end = (begin - self.night_us) % self.length_us, begin + self.day_us
                # Without `closed`, the day is one picosecond shorter, so no packet starts at its end.
                end -= 0 if self.closed else 1e-6 / DILATION
                if self.held:
                    result.append((before, voq(direction, served="none")))
                result.append((begin, voq(direction, served="circuit")))
                # The night after a day may be the one before the next day.
                if not self.held or end % self.length_us not in [
                    (item - self.night_us) % self.length_us for item in begins
                ]:
                    result.append((end, voq(direction, served="packet")))
            if self.resize_us is not None:
                result += self._sizes(direction, begins)
        return sorted([*result, *self.marks], key=lambda item: item[0])

    @property
    def marks(self) -> list[Change]:
        """Times at which the ACKs of the data start and stop to carry the flag when they leave the switch."""
        if self.mark_us is None:
            return []
        acks = {"link": ["a", "tor2"], "direction": "backward"}
        lead, slot = self.mark_us, self.day_us + self.night_us
        # The emulator updates when the start of a day or of a night is exactly the lead away.
        late = min(-lead % slot, (self.night_us - lead) % slot) if self.mark_end == "recomputed" else 0.0
        result: list[Change] = []
        for begin in self.days_of("forward"):
            result.append(((begin - lead) % self.length_us, {**acks, "ece": "set"}))
            result.append(((begin + self.day_us + late) % self.length_us, {**acks, "ece": "kept"}))
        return result

    def _sizes(self, direction: str, begins: list[float]) -> list[Change]:
        """Return the times at which a queue grows and shrinks; it does not shrink shortly before its next day."""
        lead = float(self.resize_us or 0.0)
        result: list[Change] = []
        for number, begin in enumerate(begins):
            end = begin + self.day_us
            behind = begins[(number + 1) % len(begins)]
            until_next = (behind - end) % self.length_us
            if until_next > lead:
                result.append((end, voq(direction, queue=f"{SMALL} packets")))
                result.append(((behind - lead) % self.length_us, voq(direction, queue=f"{BIG} packets")))
        return result

    @property
    def settings(self) -> Settings:
        """Schedule of a scenario."""
        return {"schedules": schedule(self.changes, self.length_us)}


def schedule(changes: Iterable[Change], period_us: float | None = None) -> list[Settings]:
    """Return changes at times in the paper's microseconds in the form of a scenario: once, or in every period."""
    again = {} if period_us is None else {"period": _dilated(period_us)}
    return [{**again, "changes": [{"at": _dilated(at), **change} for at, change in changes]}]


def voq(direction: str, **change: str) -> Settings:
    """Return a change of the virtual output queue in a direction."""
    return {"link": "voq", "direction": direction, **change}


def _dilated(us: float) -> str:
    """Convert a time of the paper to the scenario's, in whole picoseconds."""
    return f"{round(us * DILATION * 1e6)} ps"


def _time(name: str) -> Callable[[Value], Settings]:
    return lambda value: {f"parameters.{name}": _dilated(float(value))}


def _switch(value: Value) -> Settings:
    forwarding = float(value)
    return {
        "parameters.circuit_delay": _dilated(30 + forwarding),
        "parameters.packet_delay": _dilated(5 + forwarding),
    }


def _one_of(*known: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in known:
            raise ValueError(f"expected {' or '.join(known)}")
        return text

    return read


TIMERS: dict[str, Settings] = {"kernel": {}, "scaled": {"tcp.sender.min_rto": "4 s", "tcp.sender.ack_delay": "800 ms"}}
"""Kernel timers: unchanged while the network is slower, or scaled with it."""


ASSUMED = (
    Assumed(
        "host_delay_us",
        0.6,
        positive,
        _time("host_delay"),
        Plausible(Span(0.2, 3, log=True), "of a host and its link, one way; unstated"),
    ),
    Assumed(
        "to_hosts_gbps",
        800.0,
        positive,
        lambda value: {"parameters.to_hosts": f"{float(value) / DILATION:g} Gbps"},
        Plausible(Choices((40.0, 800.0)), "only the hosts' output was shaped to 40 Gb/s; a rack has one port of 800"),
    ),
    Assumed("jitter_us", 0.5, not_negative, _time("jitter"), Plausible(Span(0.1, 5, log=True), "of hosts; unstated")),
    Assumed(
        "switch_us",
        0.5,
        not_negative,
        _switch,
        Plausible(Span(0, 1), "the emulator's forwarding; its medians are 1 us higher"),
    ),
    Assumed(
        "acks",
        "reverse",
        _one_of("reverse", "with-data"),
        plausible=Plausible(Choices(("reverse", "with-data")), "the emulator's schedule, or the expected one"),
    ),
    Assumed(
        "night",
        "held",
        _one_of("held", "packet"),
        plausible=Plausible(Choices(("held", "packet")), "the switch's code, or the paper's text"),
    ),
    Assumed(
        "timers",
        "kernel",
        _one_of(*TIMERS),
        lambda value: TIMERS[str(value)],
        Plausible(Choices(tuple(TIMERS)), "only the hosts' programs had their time dilated"),
    ),
    Assumed(
        "tail_loss_probe",
        "on",
        _one_of("on", "off"),
        lambda value: {"tcp.sender.tail_loss_probe": value == "on"},
        Plausible(Choices(("on", "off")), "on in the kernel by default"),
    ),
    Assumed(
        "acknowledge",
        "linux",
        _one_of("linux", "every"),
        lambda value: {"tcp.sender.ack": "linux" if value == "linux" else "every-packet"},
        Plausible(Choices(("linux", "every")), "the kernel's delayed ACKs; coalescing may leave none"),
    ),
    Assumed(
        "initial_window",
        10,
        positive_int,
        "tcp.sender.initial_window",
        Plausible(Choices((1, 10)), "the kernel's, or almost none"),
    ),
    Assumed(
        "start_spread_ms",
        1.0,
        positive,
        lambda value: {"parameters.start": f"uniform(0 s, {_dilated(1000 * float(value))})"},
        Plausible(Span(0.1, 100, log=True), "flows start together"),
    ),
    Assumed(
        "day_end",
        "closed",
        _one_of("closed", "open"),
        plausible=Plausible(
            Choices(("closed", "open")),
            "whether a packet starts at the very end of a day: published values saturate at 201",
        ),
    ),
    Assumed("weeks", WEEKS, positive_int),
    built_in("time_dilation", "20: the kernel's timers are as they are, and the network is slower"),
    built_in("segments", "one by one, without segmentation offload"),
)


def week(chosen: Chosen, **more: float | str | None) -> Week:
    """Return the week of the study for the chosen assumptions."""
    return Week(acks=str(chosen["acks"]), held=chosen["night"] == "held", closed=chosen["day_end"] == "closed", **more)  # type: ignore[arg-type]


def weeks(chosen: Chosen, options: Options) -> int:
    """Return the number of weeks per run; quick runs have fewer."""
    return min(int(chosen["weeks"]), QUICK_WEEKS) if options.size.is_quick else int(chosen["weeks"])


def length_us(chosen: Chosen, options: Options) -> float:
    """Return the length of a run: its weeks, and 0.1 s of host time."""
    return weeks(chosen, options) * Week().length_us + 100_000 / DILATION


def lasting(length_us: float) -> dict[str, str]:
    """Return the setting of a run length."""
    return {"parameters.length": _dilated(length_us)}


def sender(name: str) -> Settings:
    """Return the settings of a TCP variant of the kernel."""
    return {"tcp.sender.congestion": name, **MORE.get(name, {})}


MORE: dict[str, Settings] = {
    "bbr": {"tcp.sender.pacing": "rate"},
    "dctcp": {
        "tcp.sender.ecn": "dctcp",
        "voqs.0.queue": {"kind": "step", "limit": "$voq", "threshold": "9 packets"},
    },
}
"""Additional settings of a variant. DCTCP marks a packet that would be the eleventh in the queue."""


def grid(title: str, axes: Mapping[str, Values], chosen: Chosen, options: Options, of: Week | None = None) -> Grid:
    """Return a grid over axes with the study's run length. Without ``of`` the axes contain the schedule."""
    settings = {**overrides(ASSUMED, chosen), **(of.settings if of else {}), **lasting(length_us(chosen, options))}
    return options.grid(SCENARIO, settings, axes, f"rdcn {title}")


seeds = runs_of(RUNS, QUICK_RUNS)
"""Ten seeds, because with six, claims of several parts stay undecided under Holm's correction. The paper has one."""
