//! Paths, arrival times and losses of packets, compared with the plan.

use std::collections::BTreeSet;

use optcp_net::Lossy;
use optcp_optical::lightpath::Recovery;
use optcp_optical::protection::{Command, Revert};
use optcp_scenario::plan::{
    Carries, ChangePlan, DetectionPlan, FailurePlan, FlowPlan, Loses, Spread,
};
use optcp_units::Duration;

use super::planned::{Changed, LogEntry};
use super::{Evidence, Row};
use crate::check::{Failure, count, failure};

/// A jitter that is never drawn as nothing three times.
const MUCH: u64 = 1_000_000;

fn concerns(lossy: Lossy, ack: bool) -> bool {
    match lossy {
        Lossy::Data => !ack,
        Lossy::Acks => ack,
        Lossy::Both => true,
    }
}

/// Returns minimum and maximum of a spread.
fn ends(spread: &Spread) -> [u64; 2] {
    let [low, high] = match spread {
        Spread::Fixed(value) => [*value; 2],
        Spread::Uniform { low, high } => [*low, *high],
        Spread::Choice(values) => {
            [values.iter().min(), values.iter().max()].map(|end| *end.expect("a value"))
        }
        Spread::Cut { most, .. } => [Duration::ZERO, most.unwrap_or(Duration::LONGEST)],
    };
    [low.as_ps(), high.as_ps()]
}

impl Evidence<'_> {
    pub(super) fn ways(&self) -> Result<(), Failure> {
        self.names_of_ports()?;
        self.senders_keep_their_times()?;
        self.links_lose_only_configured_losses()?;
        self.scheduled_losses_follow_the_schedule()?;
        self.links_fail_when_they_are_to_fail()?;
        self.no_node_switches_too_early()?;
        self.sent_packets_arrive_in_time()
    }

    /// Returns whether the optical layer may repair the link of a port, or change its delay. The tests of lightpaths
    /// check the times.
    fn recovers(&self, port: usize) -> bool {
        let optical = self.plan.optical.as_ref();
        let recovers = optical.filter(|one| one.layer.recovery != Recovery::None);
        recovers.is_some_and(|one| one.links.contains(&(port / 2)))
    }

    pub(super) fn node(&self, port: usize, far: bool) -> usize {
        self.plan.links[port / 2].ends[(port % 2) ^ usize::from(far)]
    }

    /// Returns the flows whose route is, or may be, the flow's.
    pub(super) fn routes(&self, flow: usize) -> impl Iterator<Item = &FlowPlan> {
        let pair = |name: &str| name.rsplit_once('/').map(|(pair, _)| pair.to_owned());
        self.plan.flows.iter().filter(move |route| match route.carries {
            Carries::Drawn(_) => pair(&route.name) == pair(&self.flows[flow]),
            Carries::Arrivals(_) => self.groups[flow].1 == Some(route.group),
            _ => route.name == self.flows[flow],
        })
    }

    fn names_of_ports(&self) -> Result<(), Failure> {
        for (port, name) in self.ports.iter().enumerate() {
            let link = &self.plan.links[port / 2];
            let [from, to] = [false, true].map(|far| &self.plan.nodes[self.node(port, far)]);
            let arrow = format!("{from}->{to}");
            let expected = if link.named { format!("{}:{arrow}", link.name) } else { arrow };
            if *name != expected {
                return failure("names of ports", format!("{name}, expected {expected}"));
            }
        }
        Ok(())
    }

    /// Nobody sends before the start, or begins after the end; and every ACK answers a segment.
    fn senders_keep_their_times(&self) -> Result<(), Failure> {
        let mut begun = BTreeSet::new();
        for row in self.rows.iter().filter(|row| row.event == "sent") {
            // The first subflow of a connection sends at its start, the others when they have something to send.
            let first = begun.insert(row.flow) && self.starter(row.flow) == row.flow;
            let in_time = |route: &FlowPlan| {
                let [from, latest] = ends(&route.start);
                from <= row.at
                    && match route.carries {
                        Carries::Flow | Carries::Drawn(_) => {
                            !first || route.application.is_some() || row.at <= latest
                        }
                        Carries::Arrivals(n) => {
                            !first || row.at < self.plan.arrivals[n].until.as_ps()
                        }
                        Carries::Datagrams(n) => row.at < self.plan.traffic[n].until.as_ps(),
                    }
            };
            if !self.routes(row.flow).any(in_time) {
                return failure("sent out of time", format!("{}: {row:?}", self.flows[row.flow]));
            }
        }
        let answered = |row: &Row<'_>| {
            matches!(row.event, "arrived" | "arrived-trimmed") && self.segments(row.flow).is_some()
        };
        let may = |row: &&Row<'_>| matches!(row.event, "sent" | "resent") || answered(row);
        let most = self.rows.iter().filter(may).count() as u64;
        match count(self.run, "sent") <= most {
            true => Ok(()),
            false => failure("more sent than can be", format!("{:?}, {most}", self.run.counts)),
        }
    }

    fn links_lose_only_configured_losses(&self) -> Result<(), Failure> {
        let at = |hop: (usize, usize)| Some(2 * hop.0 + hop.1);
        for row in self.rows.iter().filter(|row| row.event == "dropped") {
            let Some(reason @ ("scripted" | "random-loss" | "periodic-loss" | "corrupted")) =
                row.reason
            else {
                continue;
            };
            let planned = self.plan.losses.iter().filter(|loss| at(loss.hop) == row.port);
            let takes = |loses: &Loses| match (loses, reason) {
                (Loses::Scripted { flows, segments, .. }, "scripted") => {
                    let ours =
                        flows.iter().any(|&f| self.plan.flows[f].name == self.flows[row.flow]);
                    ours && !row.ack && segments.iter().any(|&seq| u64::from(seq) == row.seq)
                }
                (
                    Loses::Independent { lossy, .. } | Loses::GilbertElliott { lossy, .. },
                    "random-loss",
                )
                | (Loses::Periodic { lossy, .. }, "periodic-loss")
                | (Loses::Corruption { lossy, .. }, "corrupted") => concerns(*lossy, row.ack),
                _ => false,
            };
            let scheduled = |what: &ChangePlan| matches!(what, ChangePlan::Loss(_));
            let by_schedule = reason == "random-loss"
                && row.port.is_some_and(|port| self.changes_of(port, scheduled));
            if !by_schedule && !planned.map(|loss| &loss.loses).any(takes) {
                return failure("a loss that nobody asked for", format!("{row:?}"));
            }
        }
        for loss in &self.plan.losses {
            let alone = self.plan.losses.iter().filter(|other| other.hop == loss.hop).count() == 1;
            // Packets that a switch loses at its inputs do not reach the port.
            let alone = alone && !self.is_at_switch(2 * loss.hop.0 + loss.hop.1, false);
            let (Loses::Periodic { lossy, period }, true) = (&loss.loses, alone) else { continue };
            let comes = |row: &&Row<'_>| {
                let came = row.event == "queued"
                    || matches!(row.reason, Some("periodic-loss" | "queue-full" | "link-down"))
                    || self.turned_away(row);
                row.port == at(loss.hop) && came && concerns(*lossy, row.ack)
            };
            for (passed, row) in (1_u32..).zip(self.rows.iter().filter(comes)) {
                let lost = row.reason == Some("periodic-loss");
                if lost != passed.is_multiple_of(period.get()) {
                    return failure(
                        "losses at even distances",
                        format!("number {passed}: {row:?}"),
                    );
                }
            }
        }
        Ok(())
    }

    /// Checks that scheduled losses occur only while their probability is above zero, and that nothing passes while it is 1.
    fn scheduled_losses_follow_the_schedule(&self) -> Result<(), Failure> {
        for port in (0..self.ports.len()).filter(|&port| self.is_queue(port)) {
            // Copies of a link are not lost before its queue.
            let alone = !self.plan.losses.iter().any(|loss| 2 * loss.hop.0 + loss.hop.1 == port);
            let scheduled = |what: &ChangePlan| matches!(what, ChangePlan::Loss(_));
            if !alone || !self.changes_of(port, scheduled) {
                continue;
            }
            let mut loses = 0.0;
            for entry in self.story(port) {
                match entry {
                    LogEntry::Change(Changed { what: ChangePlan::Loss(chance), .. }) => {
                        loses = chance.probability();
                    }
                    LogEntry::Change(_) => {}
                    LogEntry::Row(row) => {
                        let lost = row.reason == Some("random-loss");
                        if (lost && loses <= 0.0) || (row.event == "queued" && loses >= 1.0) {
                            let detail = format!("{row:?}, at a probability of {loses}");
                            return failure("losses out of schedule", detail);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Checks that a link accepts nothing while it is down, and that packets find it down at no
    /// other times. Control actions precede other events at the same time.
    fn links_fail_when_they_are_to_fail(&self) -> Result<(), Failure> {
        let plan = self.plan;
        let at_random = |one: &FailurePlan| one.process.is_some() || one.later != Spread::ZERO;
        let drawn = plan.failures.iter().any(at_random);
        let cut = plan.protections.iter().any(|one| one.revert == Revert::OpticalEmulated);
        let at_queue = |row: &&Row<'_>| {
            row.port.is_some_and(|port| self.is_queue(port) && !self.recovers(port))
        };
        for row in self.rows.iter().filter(at_queue).filter(|_| !drawn) {
            let down = plan.failures.iter().any(|one| {
                let ours = row.port.is_some_and(|p| p / 2 == one.link && one.directions[p % 2]);
                let ended = one.repair.is_some_and(|repair| repair.as_ps() <= row.at);
                ours && one.at.as_ps() <= row.at && !ended
            });
            let wrong = match (row.event, row.reason) {
                ("queued", _) => down,
                (_, Some("link-down")) => !down && !cut,
                _ => false,
            };
            if wrong {
                return failure("a link up or down at the wrong time", format!("{row:?}"));
            }
        }
        Ok(())
    }

    /// Checks that no node switches earlier than a command, or than detection and hold-off allow.
    fn no_node_switches_too_early(&self) -> Result<(), Failure> {
        let first = self.plan.failures.iter().map(|failure| failure.at).min();
        for switch in self.run.switches.iter().filter(|switch| switch.to_backup) {
            let protection = &self.plan.protections[switch.protection];
            let DetectionPlan::After(delays) = protection.detection else { continue };
            let known = first.map(|at| at + delays[usize::from(switch.acks)]);
            let switching = [Command::ForcedSwitch, Command::ManualSwitch];
            let commands = protection.commands.iter();
            let commanded = commands.filter(|given| switching.contains(&given.command));
            let least = known.map(|known| known + protection.hold_off);
            let least = least.into_iter().chain(commanded.map(|given| given.at)).min();
            if least.is_none_or(|least| switch.at < least) {
                return failure("switched too early", format!("{switch:?}, at least {least:?}"));
            }
        }
        Ok(())
    }

    /// Checks that a packet sent by a port arrives at the next node after the link delay, extended
    /// by at most the maximum jitter.
    fn sent_packets_arrive_in_time(&self) -> Result<(), Failure> {
        let plan = self.plan;
        // Packets that enter a circuit are not listed.
        let hidden = |port: usize| !self.listed[port] && plan.links[port / 2].wavelengths.is_none();
        if (0..self.ports.len()).any(hidden) {
            return Ok(());
        }
        let mut seen: BTreeSet<(usize, bool, u64, usize, u64)> = BTreeSet::new();
        for row in &self.rows {
            let mut at = |node: usize| _ = seen.insert((row.flow, row.ack, row.seq, node, row.at));
            match (row.event, row.port, row.reason) {
                ("arrived" | "arrived-trimmed", ..) => self.routes(row.flow).for_each(|route| {
                    route.path.last().into_iter().for_each(|&node| at(node));
                }),
                ("acked", ..) => self.routes(row.flow).for_each(|route| at(route.path[0])),
                (_, Some(port), Some("not-selected" | "ttl-expired")) => at(self.node(port, true)),
                ("queued", Some(port), _)
                | (
                    _,
                    Some(port),
                    Some(
                        "queue-full" | "no-route" | "link-down" | "scripted" | "random-loss"
                        | "periodic-loss",
                    ),
                ) => at(self.node(port, false)),
                (_, Some(port), _) if self.turned_away(row) => at(self.node(port, false)),
                _ => {}
            }
        }
        // A packet taken out of a virtual output queue is still at the same node.
        // The inputs of a switch delay packets (`tests/switches.rs`).
        let lines = |&port: &usize| {
            self.is_queue(port)
                && !self.is_voq(port)
                && !self.recovers(port)
                && !self.is_at_switch(port, true)
        };
        for port in (0..self.ports.len()).filter(lines) {
            let line = &plan.links[port / 2].directions[port % 2];
            let of_port = || self.rows.iter().filter(|row| row.port == Some(port));
            if of_port().any(|row| row.reason == Some("lost-in-flight")) {
                continue;
            }
            let spread = ends(&line.delay);
            let [_, jitter] = ends(&line.jitter);
            let spoilt: BTreeSet<_> = of_port()
                .filter(|row| row.reason == Some("corrupted"))
                .map(|row| (row.flow, row.ack, row.seq, row.at))
                .collect();
            // Each packet with its earliest and latest arrival. Without overtaking, it arrives no
            // earlier than its predecessor.
            let mut sent = Vec::new();
            let mut before = 0;
            let rows = of_port().filter(|row| row.event == "transmitted");
            for (row, transmission) in rows.zip(self.transmissions(port)) {
                if spoilt.contains(&(row.flow, row.ack, row.seq, row.at)) {
                    continue;
                }
                let [low, high] = transmission.delay.map_or(spread, |delay| [delay; 2]);
                let latest = row.at.saturating_add(high).saturating_add(jitter);
                before = if line.overtaking { latest } else { latest.max(before) };
                sent.push((row, row.at.saturating_add(low), before));
            }
            let come = |row: &Row<'_>, from: u64, until: u64| {
                let place = |at| (row.flow, row.ack, row.seq, self.node(port, true), at);
                seen.range(place(from)..=place(until)).next().is_some()
            };
            sent.retain(|&(_, _, until)| until < self.stop);
            if let Some((row, from, until)) =
                sent.iter().find(|&&(row, from, until)| !come(row, from, until))
            {
                let detail = format!("{row:?} over {}, {from} to {until}", self.ports[port]);
                return failure("a packet that does not come in time", detail);
            }
            if matches!(line.jitter, Spread::Uniform { .. })
                && jitter > MUCH
                && spread[0] == spread[1]
                && sent.len() > 3
                && sent.iter().all(|&(row, from, _)| come(row, from, from))
            {
                return failure("no jitter", self.ports[port].clone());
            }
        }
        Ok(())
    }
}
