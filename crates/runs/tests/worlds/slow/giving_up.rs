//! Senders that gave up.

use std::collections::{BTreeMap, BTreeSet};

use super::{Evidence, called, whole};
use crate::check::{Failure, SENDERS, failure};

impl Evidence<'_> {
    /// Returns when senders gave up, and connections when all subflows that had sent a segment did, by flow.
    pub(super) fn aborted(&self) -> BTreeMap<usize, u64> {
        let mut aborted = self.aborted_senders();
        for flow in 0..self.flows.len() {
            let has_sent = |carrier: &usize| {
                self.rows.iter().any(|row| row.event == "sent" && row.flow == *carrier)
            };
            let started = self.carriers(flow).filter(has_sent);
            let ends: Option<Vec<u64>> =
                started.map(|carrier| aborted.get(&carrier).copied()).collect();
            if let Some(last) = ends.and_then(|ends| ends.into_iter().max()) {
                aborted.insert(flow, last);
            }
        }
        aborted
    }

    /// Returns when senders gave up, by flow, from the list of their variables.
    fn aborted_senders(&self) -> BTreeMap<usize, u64> {
        let senders = super::series(self.run, SENDERS);
        let (at, flow) = (whole(senders, "time_ps"), whole(senders, "flow"));
        let phase = called(senders, "phase", "phases");
        let mut aborted = BTreeMap::new();
        for i in (0..at.len()).filter(|&i| phase[i] == Some("aborted")) {
            aborted.entry(usize::try_from(flow[i]).expect("an index")).or_insert(at[i]);
        }
        aborted
    }

    /// Checks that a sender which gave up had sent the same data long enough in vain, and sends nothing more.
    pub(super) fn gave_up(&self, seen: &mut BTreeSet<String>) -> Result<(), Failure> {
        let (senders, all) = (self.aborted_senders(), self.aborted());
        if all.len() > senders.len() {
            seen.insert("gives up a connection".to_owned());
        }
        for (flow, end) in senders {
            let group = self.groups[flow].1.expect("a group of connections");
            let tcp = self.plan.flows.iter().find(|one| one.group == group).and_then(|one| one.tcp);
            let config = &self.plan.tcp[tcp.expect("a connection")].1;
            // The highest acknowledgement, and the first retransmission and the number of them since it rose.
            let (mut acked, mut first, mut resent) = (0, None, 0_u64);
            for row in self.rows.iter().filter(|row| row.flow == flow) {
                match row.event {
                    "acked" if row.seq > acked && row.at <= end => {
                        (acked, first, resent) = (row.seq, None, 0);
                    }
                    "resent" if !row.ack => {
                        first = first.or(Some(row.at));
                        resent += 1;
                    }
                    _ => {}
                }
                if !row.ack && matches!(row.event, "sent" | "resent") && row.at > end {
                    return failure("giving up", format!("{row:?} after the end at {end}"));
                }
            }
            let opens = config.handshake && acked == 0;
            let tries = |most: u8| u64::from(most) + u64::from(config.syn_linear_timeouts);
            let by_count = opens && config.syn_retries.is_some_and(|most| resent >= tries(most));
            // The sum of back-offs of 200 ms up to the maximum.
            let limit = match config.user_timeout.as_ps() {
                0 => config.retries.filter(|_| !opens).map(|retries| {
                    let most = config.max_rto.as_ps();
                    let backed_off = |n: u32| (200_000_000_000_u64 << n.min(20)).min(most);
                    let first = 200_000_000_000;
                    (1..=u32::from(retries))
                        .fold(first, |sum: u64, n| sum.saturating_add(backed_off(n)))
                }),
                timeout => Some(timeout),
            };
            let waited = first.map(|first| end - first);
            let in_time = waited.zip(limit).is_none_or(|(waited, limit)| waited < limit);
            if !by_count && in_time {
                let detail = format!("{} at {end}: {waited:?} of {limit:?}", self.flows[flow]);
                return failure("giving up", detail);
            }
            seen.insert(format!("gives up{}", if opens { " on a SYN" } else { "" }));
        }
        Ok(())
    }
}
