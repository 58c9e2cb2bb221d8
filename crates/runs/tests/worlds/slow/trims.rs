//! Segments that queues cut to their headers.

use std::collections::BTreeSet;

use optcp_net::{QueueKind, QueueLimit, Setting};

use super::planned::holds;
use super::{Evidence, Row};
use crate::check::{Failure, failure};

/// Bytes of a header.
const HEADER: u64 = 64;

impl Evidence<'_> {
    /// Checks that queues trim the segments for which they have no room, and no others, and that a header arrives only
    /// after a cut.
    pub(super) fn trimmed(&self, seen: &mut BTreeSet<String>) -> Result<(), Failure> {
        for port in (0..self.ports.len()).filter(|&port| self.is_queue(port) && !self.is_voq(port))
        {
            let line = &self.plan.links[port / 2].directions[port % 2];
            let Some(Setting::Length(threshold)) = line.discipline.get("threshold") else {
                continue;
            };
            if line.discipline.kind() == QueueKind::Trim {
                self.trimmed_at(port, threshold)?;
            }
        }
        let mut cut = BTreeSet::new();
        for row in &self.rows {
            match row.event {
                "trimmed" => _ = cut.insert((row.flow, row.seq)),
                "arrived-trimmed" if !cut.contains(&(row.flow, row.seq)) => {
                    return failure("a header of an uncut segment", format!("{row:?}"));
                }
                _ => {}
            }
        }
        if !cut.is_empty() {
            seen.insert("trims".to_owned());
        }
        Ok(())
    }

    fn trims(&self, flow: usize) -> bool {
        self.config(flow).is_some_and(optcp_tcp::Config::trims)
    }

    fn trimmed_at(&self, port: usize, threshold: QueueLimit) -> Result<(), Failure> {
        let line = &self.plan.links[port / 2].directions[port % 2];
        let rows: Vec<&Row<'_>> = self.rows.iter().filter(|row| row.port == Some(port)).collect();
        let first = |row: &Row<'_>| row.ack || (self.trims(row.flow) && row.bytes <= HEADER);
        let mut inside: Vec<Row<'_>> = Vec::new();
        for (place, row) in rows.iter().enumerate() {
            let same = |one: &Row<'_>| {
                (one.flow, one.ack, one.seq, one.bytes) == (row.flow, row.ack, row.seq, row.bytes)
            };
            let wrong =
                |why| failure(why, format!("at {}: {row:?}; in it {inside:?}", self.ports[port]));
            let held: u64 = inside.iter().map(|one| one.bytes).sum();
            let fits = |bytes| holds(line.queue, inside.len() + 1, held + bytes);
            let data = || inside.iter().filter(|one| !first(one));
            let has_room = |bytes| match threshold {
                QueueLimit::Unlimited => true,
                QueueLimit::Packets(most) => data().count() < most as usize,
                QueueLimit::Bytes(most) => data().map(|one| one.bytes).sum::<u64>() + bytes <= most,
            };
            let fates = rows[place + 1..].iter();
            let mut fates = fates.take_while(|next| matches!(next.event, "marked" | "trimmed"));
            let cut = fates.any(|next| next.event == "trimmed" && same(next));
            if row.event == "queued" && cut {
                let config = self.config(row.flow).filter(|config| config.trims());
                let Some(config) = config else { return wrong("a segment trimmed without leave") };
                let full = config.segment_wire_size().count();
                if has_room(full) && fits(full) {
                    return wrong("a segment trimmed that has room");
                }
            }
            if row.event == "queued" && !first(row) && !has_room(row.bytes) {
                return wrong("more data in a queue than its threshold");
            }
            let refused = row.reason == Some("queue-full") && !self.is_at_switch(port, false);
            let kept = match (first(row), self.trims(row.flow)) {
                (true, _) => fits(row.bytes),
                (false, true) => fits(HEADER),
                (false, false) => fits(row.bytes) && has_room(row.bytes),
            };
            if refused && kept {
                return wrong("a packet refused that could be kept");
            }
            if row.event == "queued" {
                inside.push(**row);
            } else if self.leaves(row) {
                let place = inside.iter().position(same);
                inside.remove(place.expect("a packet that leaves was queued"));
            }
        }
        Ok(())
    }
}
