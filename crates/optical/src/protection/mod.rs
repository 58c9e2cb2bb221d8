//! Protection schemes as state machines, and the control actions they lead to.

mod switchover;

use optcp_units::Time;

pub use switchover::{Delays, Switch, Switchover};

/// A time during which a link is down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// When it fails.
    pub failure: Time,
    /// When it works again; `None` is not within the run.
    pub repair: Option<Time>,
}

/// What a machine decides over a history of outages, which are in order and do not overlap.
#[must_use]
pub fn timeline(delays: Delays, outages: &[Outage]) -> Vec<(Time, Switch)> {
    let mut machine = Switchover::new(delays);
    let mut switches = Vec::new();
    let mut run_until = |machine: &mut Switchover, end: Time| {
        while let Some(due) = machine.deadline()
            && due <= end
        {
            switches.extend(machine.handle_timer().map(|switch| (due, switch)));
        }
    };
    for outage in outages {
        run_until(&mut machine, outage.failure);
        machine.handle_failure(outage.failure);
        if let Some(repair) = outage.repair {
            run_until(&mut machine, repair);
            machine.handle_repair(repair);
        }
    }
    run_until(&mut machine, Time::MAX);
    switches
}
