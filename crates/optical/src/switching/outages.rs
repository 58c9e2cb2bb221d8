//! Outages of one direction of a fibre, and the bursts that they harm.

use optcp_net::DropReason;
use optcp_units::{Duration, Time};

/// Outage of a fibre.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Outage {
    since: Time,
    /// Repair; `None` until then.
    until: Option<Time>,
    /// `true`: taken out of service. Reserved bursts still pass.
    kept: bool,
}

impl Outage {
    fn lasts_at(&self, at: Time) -> bool {
        self.since <= at && self.until.is_none_or(|until| at < until)
    }
}

/// Outages of a fibre until now, in order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outages(Vec<Outage>);

impl Outages {
    pub(super) fn begin(&mut self, now: Time, kept: bool) {
        self.0.push(Outage { since: now, until: None, kept });
    }

    pub(super) fn end(&mut self, now: Time) {
        if let Some(last) = self.0.last_mut() {
            last.until = Some(now);
        }
    }

    /// Returns whether the nodes at the ends of the fibre consider it failed at `at`, not later than now.
    ///
    /// They detect a failure after `detection`, and a repair immediately. Work on the fibre is announced.
    pub(super) fn are_known(&self, at: Time, detection: Duration) -> bool {
        self.0.iter().rev().any(|outage| {
            let detection = if outage.kept { Duration::ZERO } else { detection };
            outage.lasts_at(at) && outage.since + detection <= at
        })
    }

    /// Returns why something is lost that is on the fibre from `start` until before `end`, not later than now.
    pub(super) fn harm(&self, start: Time, end: Time) -> Option<DropReason> {
        let mut failures = self.0.iter().filter(|outage| !outage.kept);
        failures.find_map(|outage| match outage.lasts_at(start) {
            true => Some(DropReason::LinkDown),
            false => {
                (start < outage.since && outage.since < end).then_some(DropReason::LostInFlight)
            }
        })
    }
}
