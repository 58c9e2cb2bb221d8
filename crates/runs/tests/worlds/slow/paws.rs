//! Segments that a receiver may have discarded because of their timestamps (PAWS, RFC 7323 section 5.3).
//!
//! The list of packets has no timestamps, but times of transmission. A segment may be discarded if it may have been sent
//! more than a tick before a segment that has arrived in order.

use std::collections::BTreeMap;

use super::Evidence;

/// Transmissions of one segment.
#[derive(Default)]
struct Transmissions {
    first: u64,
    last: u64,
    number: u64,
    /// Arrivals and drops.
    ended: u64,
    /// Arrivals and drops before the last transmission.
    ended_before_last: u64,
    arrived: bool,
}

/// Data of one flow.
#[derive(Default)]
struct Receiver {
    of: BTreeMap<u64, Transmissions>,
    next: u64,
    /// Latest transmission that may have set TS.Recent.
    recent: u64,
}

impl Evidence<'_> {
    /// Returns whether a receiver may have discarded a segment.
    pub(super) fn may_discard_old_segments(&self) -> bool {
        let mut receivers: BTreeMap<usize, Receiver> = BTreeMap::new();
        self.rows.iter().filter(|row| !row.ack).any(|row| {
            let Some((tick, wraps)) = self.timestamps(row.flow) else { return false };
            let Receiver { of, next, recent } = receivers.entry(row.flow).or_default();
            let segment = of.entry(row.seq).or_default();
            match row.event {
                "sent" | "resent" => {
                    if segment.number == 0 {
                        segment.first = row.at;
                    }
                    segment.last = row.at;
                    segment.number += 1;
                    segment.ended_before_last = segment.ended;
                }
                "dropped" | "arrived-trimmed" => segment.ended += 1,
                "arrived" => {
                    let all_others_had_ended = segment.ended_before_last + 1 == segment.number;
                    let sent = if all_others_had_ended { segment.last } else { segment.first };
                    let newest = segment.last;
                    segment.ended += 1;
                    segment.arrived = true;
                    if sent + 2 * tick <= *recent || newest.abs_diff(*recent) >= wraps {
                        return true;
                    }
                    if row.seq <= *next {
                        *recent = newest.max(*recent);
                    }
                    while of.get(next).is_some_and(|segment| segment.arrived) {
                        *next += 1;
                    }
                }
                _ => {}
            }
            false
        })
    }

    /// Returns the tick of a flow's timestamps, and the time after which they may seem older.
    fn timestamps(&self, flow: usize) -> Option<(u64, u64)> {
        let group = self.groups[flow].1?;
        let route = self.plan.flows.iter().find(|flow| flow.group == group)?;
        let config = &self.plan.tcp[route.tcp?].1;
        let tick = config.timestamp_tick.as_ps();
        config.timestamps.then_some((tick, (tick << 31) - 2 * tick))
    }
}
