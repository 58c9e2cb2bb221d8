//! Packets that queues mark, and endpoints that react.

use std::collections::BTreeSet;

use optcp_runs::Series;
use optcp_tcp::Config;
use optcp_tcp::config::{Ecn, EctPackets, ReceiverEcn, RecoveryKind};

use super::{Evidence, Row};
use crate::check::{Failure, count, failure};

/// Number of ECN-capable packets with which QUIC tests a path.
const TESTED: usize = 10;

impl Evidence<'_> {
    /// Checks that only ECN-capable packets are marked, and that packets arriving with a mark have
    /// been marked.
    pub(super) fn marked(&self, seen: &mut BTreeSet<String>) -> Result<(), Failure> {
        let mut marked = BTreeSet::new();
        for row in &self.rows {
            let ce = row.marking.split(' ').next() == Some("ce");
            let packet = (row.flow, row.ack, row.seq);
            match row.event {
                "marked" if !ce => return failure("a mark that is none", format!("{row:?}")),
                "marked" => _ = marked.insert(packet),
                "sent" | "resent" if ce => {
                    return failure("a mark from the start", format!("{row:?}"));
                }
                _ if ce && !marked.contains(&packet) => {
                    return failure("a mark of nobody", format!("{row:?}"));
                }
                _ => {}
            }
        }
        if !marked.is_empty() {
            seen.insert("marks".to_owned());
        }
        let rows = self.rows.iter().filter(|row| row.event == "marked").count() as u64;
        let counted = self.run.counts.iter().any(|(name, _)| *name == "marked");
        if (rows > 0) != counted || (counted && count(self.run, "marked") != rows) {
            return failure("marks counted", format!("{rows} rows, {:?}", self.run.counts));
        }
        Ok(())
    }

    /// Checks which packets of QUIC are ECN-capable.
    pub(super) fn marked_quic(&self, seen: &mut BTreeSet<String>) -> Result<(), Failure> {
        for flow in 0..self.flows.len() {
            let uses_ecn =
                |config: &&Config| config.recovery == RecoveryKind::Quic && config.ecn != Ecn::Off;
            let Some(config) = self.config(flow).filter(uses_ecn) else { continue };
            let reports = config.receiver_ecn != ReceiverEcn::Off;
            let rows: Vec<&Row<'_>> = self.rows.iter().filter(|row| row.flow == flow).collect();
            let sent = |row: &&&Row<'_>| matches!(row.event, "sent" | "resent");
            // Numbers of packets in turn with and without a codepoint.
            let mut turns = vec![0];
            let is_silent = |row: &Row<'_>| {
                config.handshake && row.seq == 0 && config.ect_packets != EctPackets::All
            };
            let packets = rows.iter().filter(sent).filter(|row| !row.ack && !is_silent(row));
            for row in packets {
                if (row.marking == "ect0") == turns.len().is_multiple_of(2) {
                    turns.push(0);
                }
                *turns.last_mut().expect("it has one") += 1;
            }
            // The test, no codepoint until counts are valid, all packets, and no codepoint after a failure.
            let ends_early = turns.len() > 2 && turns[0] < TESTED;
            let trusts = !reports && (turns.len() > 2 || turns[0] > TESTED);
            if turns.len() > 4 || ends_early || trusts {
                return failure("codepoints of QUIC", format!("flow {flow}: {turns:?}"));
            }
            if rows.iter().any(|row| row.event == "arrived" && !row.ack && row.marking == "ce") {
                seen.insert("marks of QUIC".to_owned());
            }
        }
        Ok(())
    }

    pub(super) fn marks(&self, series: &Series) -> Result<(), Failure> {
        self.at_ports(series, "marked").map(|_| ())
    }
}
