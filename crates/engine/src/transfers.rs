//! Flows of finite size, and operations of applications, until now. They need no observation.

use optcp_net::FlowId;
use optcp_units::Time;

use crate::Blueprint;
use crate::model::Model;

/// Flow of finite size that has started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Flow, or connection over several flows.
    pub flow: FlowId,
    /// Start time.
    pub start: Time,
    /// Time at which the receiver had all data in order. For an incomplete flow, the time at which the sender gave up,
    /// or now.
    pub end: Time,
    /// Flow size in bytes of full segments.
    pub bytes: u64,
    /// Whether the receiver has all data.
    pub is_finished: bool,
    /// Whether the sender gave up before.
    pub is_aborted: bool,
    /// Retransmissions, summed over the subflows of a connection.
    pub retransmissions: u64,
    /// RTOs with outstanding data, summed likewise.
    pub timeouts: u64,
}

/// Operation of an application that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationTimes {
    /// Session.
    pub session: u32,
    /// Start time.
    pub start: Time,
    /// End time; now if it has not ended.
    pub end: Time,
    /// Whether it has ended.
    pub is_finished: bool,
}

impl<O> Model<O> {
    /// Returns the flows of finite size that have started until `now`, by number.
    pub(crate) fn transfers(
        &self,
        blueprint: &Blueprint,
        now: Time,
    ) -> impl Iterator<Item = Transfer> {
        let first_connection = self.senders.len() + self.datagrams.len();
        let started = blueprint.transfers().filter(move |(_, start, ..)| *start <= now);
        started.filter_map(move |(flow, start, mss, segments)| {
            let segments = segments?;
            let (delivered, last, subflows, aborted) = match self.receivers.get(flow.index()) {
                Some(end) => {
                    let subflows = flow.index()..flow.index() + 1;
                    let aborted = self.senders[flow.index()].sender.aborted();
                    (end.delivered_segments(), end.last_progress, subflows, aborted)
                }
                None => {
                    let one = &self.connections[flow.index() - first_connection];
                    let subflows = one.first..one.first + one.count;
                    let aborted = one.aborted(&self.senders);
                    (one.connection.data_ack(), one.last_progress, subflows, aborted)
                }
            };
            let is_finished = delivered >= segments;
            let counts = self.senders[subflows].iter().map(|end| end.sender.counts());
            let (retransmissions, timeouts) = counts.fold((0, 0), |(again, timeouts), counts| {
                (again + counts.retransmissions, timeouts + counts.timeouts)
            });
            Some(Transfer {
                flow,
                start,
                end: if is_finished { last } else { aborted.unwrap_or(now) },
                bytes: u64::from(segments) * mss.count(),
                is_finished,
                is_aborted: !is_finished && aborted.is_some(),
                retransmissions,
                timeouts,
            })
        })
    }

    /// Returns the operations that have begun, by number.
    pub(crate) fn operations(&self, now: Time) -> impl Iterator<Item = OperationTimes> {
        let applications = self.applications.iter().map(|all| &**all);
        applications.flat_map(move |all| {
            let times = all.begun.iter().zip(&all.ended);
            let operations = all.fixed.script.operations.iter().zip(times);
            operations.filter_map(move |(operation, (begun, ended))| {
                Some(OperationTimes {
                    session: operation.session,
                    start: (*begun)?,
                    end: ended.unwrap_or(now),
                    is_finished: ended.is_some(),
                })
            })
        })
    }
}
