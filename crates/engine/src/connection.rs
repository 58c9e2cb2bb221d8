//! Connection over several subflows in a run.

use optcp_net::FlowId;
use optcp_tcp::Seq;
use optcp_tcp::multipath::Connection;
use optcp_units::Time;

use crate::flow::SendingEnd;
use crate::{Blueprint, ConnectionSpec};

/// Connection and its subflows, which are consecutive flows.
#[derive(Clone, Debug)]
pub(crate) struct Multipath {
    pub(crate) connection: Connection,
    /// Number of the connection in records.
    pub(crate) id: FlowId,
    /// First subflow.
    pub(crate) first: usize,
    /// Number of subflows.
    pub(crate) count: usize,
    /// `true`: the other subflows have joined the first.
    pub(crate) has_joined: bool,
    /// Subflows whose state has changed, for records and timers.
    pub(crate) touched: Vec<bool>,
    /// Time at which data became in order for the last time.
    pub(crate) last_progress: Time,
}

impl Multipath {
    pub(crate) fn new(blueprint: &Blueprint, (id, spec): (FlowId, &ConnectionSpec)) -> Self {
        let config = &blueprint.flows[spec.first.index()].config;
        let unwritten = spec.writes.iter().map(|(_, segments)| segments).sum();
        let first = Seq::new(u32::from(config.handshake));
        let window = config.window_segments();
        let connection =
            Connection::new(spec.config, window, spec.segments, unwritten, first, spec.subflows);
        Multipath {
            connection,
            id,
            first: spec.first.index(),
            count: spec.subflows,
            has_joined: false,
            touched: vec![false; spec.subflows],
            last_progress: Time::ZERO,
        }
    }

    /// Returns whether it has unlimited data.
    pub(crate) fn is_unlimited(&self) -> bool {
        self.connection.is_unlimited()
    }

    /// Returns the time at which the last of its subflows gave up, if all have. Subflows that have not joined yet never will.
    pub(crate) fn aborted(&self, senders: &[SendingEnd]) -> Option<Time> {
        let count = if self.has_joined { self.count } else { 1 };
        let started = &senders[self.first..self.first + count];
        let mut gave_up = started.iter().map(|end| end.sender.aborted());
        gave_up.try_fold(Time::ZERO, |last, at| Some(last.max(at?)))
    }

    /// Returns whether the data ACK covers everything.
    pub(crate) fn is_finished(&self) -> bool {
        self.connection.is_finished()
    }
}
