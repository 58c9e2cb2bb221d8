//! Warnings of flows, their bottlenecks and their observations.

use std::collections::{BTreeMap, BTreeSet};

use optcp_tcp::config::{Ecn, ReceiverEcn};
use optcp_units::{Duration, Time};

use crate::plan::{Carries, DirectedLink, FlowPlan, Plan, QueueLimit, Spread};
use crate::tree::place;

use super::{Finder, WarningKind, text};

const LONGEST_QUEUE: Duration = Duration::from_ms(5_000);
const ROUND_TRIPS: u64 = 20;

/// Flows that cross a port.
#[derive(Default)]
struct Crossing<'p> {
    flows: Vec<&'p FlowPlan>,
    longest_rtt: Duration,
    largest_packet: u64,
}

impl Finder<'_> {
    /// Checks bottleneck queues against the needs of their flows.
    pub(super) fn queues(&mut self) {
        let plan = self.plan;
        let mut ports: BTreeMap<DirectedLink, Crossing<'_>> = BTreeMap::new();
        for flow in plan.flows.iter().filter(|flow| !matches!(flow.carries, Carries::Datagrams(_)))
        {
            let Some(tcp) = flow.tcp else { continue };
            let packet = plan.tcp[tcp].1.mss.count() + plan.tcp[tcp].1.header.count();
            let rtt = plan.round_trip(flow);
            for &hop in &flow.hops {
                let of = ports.entry(hop).or_default();
                of.flows.push(flow);
                of.longest_rtt = of.longest_rtt.max(rtt);
                of.largest_packet = of.largest_packet.max(packet);
            }
        }
        let bottlenecks = bottlenecks(plan, plan.flows.iter());
        ports.retain(|hop, _| bottlenecks.contains(hop));
        // Report one warning per line of the file, for the port with the most flows.
        let mut ports: Vec<_> = ports.into_iter().collect();
        ports.sort_by_key(|(_, crossing)| std::cmp::Reverse(crossing.flows.len()));
        for (hop, crossing) in ports {
            let port = &plan.links[hop.0].directions[hop.1];
            let name = &plan.links[hop.0].name;
            let bytes = match port.queue {
                QueueLimit::Packets(packets) => packets.saturating_mul(crossing.largest_packet),
                QueueLimit::Bytes(bytes) => bytes.count(),
                QueueLimit::Unlimited => continue,
            } as f64;
            let flows = crossing.flows.len() as u64;
            let bdp = port.rate.bps() as f64 / 8.0 * crossing.longest_rtt.as_secs_f64();
            let needed = bdp / (flows as f64).sqrt();
            if bytes < needed / 10.0 {
                let message = format!(
                    "the queue of `{name}` holds {}; {} with an RTT of {} need about {} to keep it busy: raise `queue`",
                    text::bytes(bytes),
                    text::count_noun(flows, "flow"),
                    text::time(crossing.longest_rtt),
                    text::bytes(needed)
                );
                self.warn(WarningKind::ShallowQueue, &self.link_place(hop.0, "queue"), message);
            }
            let empties = bytes * 8.0 / port.rate.bps() as f64;
            if empties > LONGEST_QUEUE.as_secs_f64() {
                let message = format!(
                    "the queue of `{name}` takes {} to empty, which adds up to this delay: lower `queue`",
                    text::seconds(empties)
                );
                self.warn(WarningKind::DeepQueue, &self.link_place(hop.0, "queue"), message);
            }
        }
    }

    /// Checks for flows that start together, and for runs that end before flows leave slow start.
    pub(super) fn flows(&mut self) {
        let plan = self.plan;
        let longest = plan.flows.iter().filter(|flow| flow.tcp.is_some());
        let longest = longest.map(|flow| plan.round_trip(flow)).max().unwrap_or_default();
        let drawn = |hop: &DirectedLink| {
            let port = &plan.links[hop.0].directions[hop.1];
            port.jitter != Spread::ZERO || !matches!(port.delay, Spread::Fixed(_))
        };
        // Grouped by start and RTT.
        let mut alike: BTreeMap<(Duration, Duration), Vec<&FlowPlan>> = BTreeMap::new();
        let apart = |flow: &&FlowPlan| flow.tcp.is_some() && flow.application.is_none();
        for flow in plan.flows.iter().filter(apart) {
            let (Carries::Flow, Spread::Fixed(start)) = (flow.carries, &flow.start) else {
                continue;
            };
            if !flow.hops.iter().any(drawn) {
                alike.entry((*start, plan.round_trip(flow))).or_default().push(flow);
            }
        }
        let mut shared = Vec::new();
        for ((start, rtt), flows) in alike {
            let bottlenecks = bottlenecks(plan, flows.iter().copied());
            let mut by_port: BTreeMap<DirectedLink, Vec<&FlowPlan>> = BTreeMap::new();
            for flow in flows {
                for &hop in flow.hops.iter().filter(|hop| bottlenecks.contains(hop)) {
                    by_port.entry(hop).or_default().push(flow);
                }
            }
            by_port.retain(|_, flows| flows.len() > 2);
            shared.extend(by_port.into_iter().map(|(port, flows)| (port, start, rtt, flows)));
        }
        shared.sort_by_key(|(.., flows)| std::cmp::Reverse(flows.len()));
        for (port, start, rtt, flows) in shared {
            let message = format!(
                "{} start at {} with an RTT of {} each and share `{}`: phase effects decide which of them lose packets; draw \
                 `start`, for example `uniform(0 s, 100 ms)`",
                text::count_noun(flows.len() as u64, "flow"),
                text::time(start),
                text::time(rtt),
                plan.links[port.0].name
            );
            self.warn(WarningKind::EqualStarts, place!["flows", flows[0].entry, "start"], message);
        }
        let stop = plan.stop.saturating_since(Time::ZERO);
        if longest > Duration::ZERO && stop < longest * ROUND_TRIPS {
            let message = format!(
                "the run lasts {}, less than {ROUND_TRIPS} RTTs ({} each): flows barely leave slow start; raise `stop`",
                text::time(stop),
                text::time(longest)
            );
            self.warn(WarningKind::ShortRun, place!["stop"], message);
        }
    }

    /// Checks for receivers whose ECN mode differs from the sender's.
    pub(super) fn ends(&mut self) {
        let plan = self.plan;
        let used: BTreeSet<usize> = plan.flows.iter().filter_map(|flow| flow.tcp).collect();
        for (name, config) in used.into_iter().map(|tcp| &plan.tcp[tcp]) {
            let (asked, own) = (config.ecn, config.receiver_ecn);
            if asked != Ecn::Off && own != ReceiverEcn::AsAsked && own.name() != asked.name() {
                let message = format!(
                    "senders of `{name}` request `ecn = \"{}\"`, but receivers accept `\"{}\"`: both ends use the weaker mode; \
                     omit `receiver_ecn`",
                    asked.name(),
                    own.name()
                );
                self.warn(
                    WarningKind::EcnMismatch,
                    place!["tcp", name.as_str(), "receiver_ecn"],
                    message,
                );
            }
        }
    }

    /// Checks for observations that start before all flows have started.
    pub(super) fn measured(&mut self) {
        let plan = self.plan;
        let lasting =
            plan.flows.iter().filter(|flow| flow.carries == Carries::Flow && flow.size.is_none());
        let Some(last) = lasting.filter_map(|flow| flow.start.latest()).max() else { return };
        for (index, observed) in plan.observe.iter().enumerate() {
            let begins = Time::ZERO + observed.after;
            if observed.kind.tallies() && begins < last {
                let last = text::time(last.saturating_since(Time::ZERO));
                let message = format!(
                    "`{}` counts from {} on, and the last flow starts at {last}: means include the ramp-up; set `after`",
                    observed.name,
                    text::time(observed.after),
                );
                self.warn(WarningKind::WarmUp, place!["observe", index, "after"], message);
            }
        }
    }
}

/// Returns ports whose queue flows can fill, each counted once. These are the slowest links of each
/// path, and links whose rate is below the total rate of the slowest links of their flows.
fn bottlenecks<'p>(
    plan: &Plan,
    flows: impl Iterator<Item = &'p FlowPlan> + Clone,
) -> BTreeSet<DirectedLink> {
    let rate = |&(link, way): &DirectedLink| plan.links[link].directions[way].rate.bps();
    let mut found = BTreeSet::new();
    let mut limits: BTreeMap<DirectedLink, BTreeSet<DirectedLink>> = BTreeMap::new();
    for flow in flows {
        // Of equally slow links, the first counts: it limits the arrival rate at the others.
        let Some(slowest) = flow.hops.iter().min_by_key(|hop| rate(hop)) else { continue };
        for &hop in &flow.hops {
            limits.entry(hop).or_default().insert(*slowest);
            if rate(&hop) == rate(slowest) {
                found.insert(hop);
            }
        }
    }
    for (port, limits) in limits {
        if limits.iter().map(rate).fold(0, u64::saturating_add) > rate(&port) {
            found.insert(port);
        }
    }
    found
}
