//! States of BBR version 3, with their gains for bandwidth and BDP.

use optcp_units::Time;

use super::Gain;

/// See section 5.1.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Looks for the bandwidth by doubling its rate each RTT.
    Startup,
    /// Takes the queue of the former away; since which RTT.
    Drain { since: u64 },
    /// Goes round in its phases.
    ProbeBw(Phase),
    /// Probes for the minimum RTT. `until` is the end of the half-BDP flight, set once the flight
    /// is that small. `round`: an RTT has passed since then.
    ProbeRtt { until: Option<Time>, round: bool },
}

/// Section 5.3.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Gives the queue back.
    Down,
    /// Sends what is delivered.
    Cruise,
    /// Fills the pipe again for an RTT.
    Refill,
    /// Sends more than is delivered.
    Up,
}

impl State {
    pub(super) const UP: State = State::ProbeBw(Phase::Up);

    /// `IsProbingBW`.
    pub(super) fn probes_for_bandwidth(self) -> bool {
        matches!(self, State::Startup | State::ProbeBw(Phase::Refill | Phase::Up))
    }

    pub(super) fn is_probe_rtt(self) -> bool {
        matches!(self, State::ProbeRtt { .. })
    }

    /// The table of section 5.6.1.
    pub(super) fn pacing_gain(self) -> Gain {
        match self {
            State::Startup => Gain(277, 100),
            State::Drain { .. } => Gain(1, 2),
            State::ProbeBw(Phase::Down) => Gain(90, 100),
            State::ProbeBw(Phase::Cruise | Phase::Refill) | State::ProbeRtt { .. } => Gain::ONE,
            State::ProbeBw(Phase::Up) => Gain(5, 4),
        }
    }

    /// The same table.
    pub(super) fn window_gain(self) -> Gain {
        match self {
            State::Startup | State::Drain { .. } => Gain(2, 1),
            State::ProbeBw(Phase::Up) => Gain(9, 4),
            State::ProbeBw(_) => Gain(2, 1),
            State::ProbeRtt { .. } => Gain(1, 2),
        }
    }
}
