//! What is possible and hardly meant: each with a name, by which a file can silence it.

mod gives_up;

use std::collections::{BTreeMap, BTreeSet};

use optcp_tcp::config::{Ecn, ReceiverEcn};
use optcp_units::{Bytes, Duration, Rate, Time};

use crate::crossed::{Crossed, crossed};
use crate::plan::{
    Carries, DetectionPlan, DirectedLink, FailurePlan, FlowPlan, Plan, QueueLimit, Spread,
};
use crate::protected::Protected;
use crate::tree::{Node, Origin, Step, place};
use optcp_units::nearest::list;

optcp_units::registry! {
    /// What a warning is about.
    pub enum WarningKind ("warnings") {
        "long-delay" => LongDelay: "a link longer than the way to a geostationary satellite and back: more than 300 ms", "OpTCP";
        "slow-rate" => SlowRate: "a link slower than 64 kb/s", "OpTCP";
        "late-switch" => LateSwitch: "routers or a protection that act more than 10 s after a failure", "OpTCP";
        "shallow-queue" => ShallowQueue: "a queue below a tenth of what N flows need at a link, the bandwidth-delay product over the root of N", "Appenzeller et al., SIGCOMM 2004";
        "deep-queue" => DeepQueue: "a queue that takes more than 5 s to empty", "OpTCP";
        "high-loss" => HighLoss: "a random loss of one packet in ten or more", "OpTCP";
        "idle-failure" => IdleFailure: "a failure that no traffic crosses", "OpTCP";
        "idle-in-sweep" => IdleInSweep: "values of `every` that no traffic crosses: they are left out of the sweep", "OpTCP";
        "not-covered" => NotCovered: "a failure on the path of flows that are protected, but not against it", "OpTCP";
        "cut-for-good" => CutForGood: "flows without a backup whose path fails and is not repaired", "OpTCP";
        "gives-up" => GivesUp: "outages after which Linux would have closed connections that go on here: more than 924.6 s", "RFC 9293 section 3.8.3; Linux";
        "shared-risk" => SharedRisk: "a backup that fails together with what it is for", "RFC 4202 section 2.3";
        "equal-starts" => EqualStarts: "flows that start at one instant on equal round trips without jitter: phase effects decide who loses", "Floyd and Jacobson 1992";
        "short-run" => ShortRun: "a run shorter than 20 round trips", "OpTCP";
        "warm-up" => WarmUp: "a measurement that begins before all flows have started", "OpTCP";
        "ecn-mismatch" => EcnMismatch: "ends that want different things of marks", "RFC 9768 table 2";
        "rates-not-read" => RatesNotRead: "links whose rate a topology's file has: `rate` is that of all", "OpTCP";
        "topology-file" => TopologyFile: "links or names of nodes that a topology's file has in another way", "OpTCP";
        "few-seeds" => FewSeeds: "fewer seeds than a significant difference needs", "OpTCP";
        "identical-runs" => IdenticalRuns: "seeds that all gave the same run, because nothing in the scenario is random", "OpTCP";
        "unfinished" => Unfinished: "flows that had not ended with the run, so that their completion times have a lower bound only", "Kaplan and Meier 1958";
    }
}

/// Something that is possible and hardly meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// What it is about.
    pub kind: WarningKind,
    /// What is found.
    pub message: String,
    /// Where: `ring.toml:12`, or the override.
    pub place: String,
}

/// Where texts come from, to say where something stands.
pub(crate) struct Places<'p> {
    pub file_name: &'p str,
    pub text: &'p str,
    pub overrides: &'p [(String, String)],
}

impl Places<'_> {
    pub(crate) fn of(&self, origin: Origin) -> String {
        match origin {
            Origin::File { start, .. } => {
                let line = 1 + self.text[..start.min(self.text.len())].matches('\n').count();
                format!("{}:{line}", self.file_name)
            }
            Origin::Override(index) => {
                let set = self.overrides.get(index);
                set.map_or(String::new(), |(key, value)| format!("--set {key}={value}"))
            }
        }
    }
}

/// The longest that a link is taken to be meant: the way of light to a geostationary satellite and back takes 240 ms.
const LONGEST_LINK: Duration = Duration::from_ms(300);
const LATEST_SWITCH: Duration = Duration::from_ms(10_000);
const LONGEST_QUEUE: Duration = Duration::from_ms(5_000);
const SLOWEST_BPS: u64 = 64_000;
const HIGHEST_LOSS: f64 = 0.1;
const ROUND_TRIPS: u64 = 20;
/// No more names than these in a message.
const SHOWN: usize = 5;

/// What is hardly meant in a plan.
pub(crate) fn warnings(plan: &Plan, tree: &Node, places: &Places<'_>) -> Vec<Warning> {
    let mut finder = Finder { plan, tree, places, crossed: crossed(plan, None), found: Vec::new() };
    finder.topology();
    finder.links();
    finder.queues();
    finder.losses();
    finder.failures();
    finder.connections();
    finder.switches();
    finder.backups();
    finder.flows();
    finder.ends();
    finder.measured();
    finder.found
}

struct Finder<'f> {
    plan: &'f Plan,
    tree: &'f Node,
    places: &'f Places<'f>,
    crossed: Crossed,
    found: Vec<Warning>,
}

impl Finder<'_> {
    fn warn(&mut self, kind: WarningKind, path: &[Step<'_>], message: String) {
        let place = self.places.of(self.tree.deepest(path).origin);
        // One mistake, one warning: many links are of one line.
        if !self.found.iter().any(|one| one.kind == kind && one.place == place) {
            self.found.push(Warning { kind, message, place });
        }
    }

    /// The place of a key of the entry that a link is of.
    fn link_place(&self, link: usize, key: &'static str) -> Vec<Step<'static>> {
        match self.plan.links[link].entry {
            Some(entry) => place!["links", entry, key].to_vec(),
            None => place!["topology", key].to_vec(),
        }
    }

    fn topology(&mut self) {
        let plan = self.plan;
        let own = plan.links.iter().find(|link| link.entry.is_none() && link.over.is_empty());
        if let (false, Some(link)) = (plan.rates_not_read.is_empty(), own) {
            let names: Vec<&str> = plan.rates_not_read.iter().map(String::as_str).collect();
            let message = format!(
                "the file's links have {}, which is not read: each has the rate {}",
                some(&names),
                link.directions[0].rate
            );
            self.warn(WarningKind::RatesNotRead, place!["topology", "rate"], message);
        }
        if !plan.topology_notes.is_empty() {
            let message = plan.topology_notes.join("; ");
            self.warn(WarningKind::TopologyFile, place!["topology", "file"], message);
        }
    }

    fn links(&mut self) {
        let plan = self.plan;
        for (index, link) in plan
            .links
            .iter()
            .enumerate()
            .filter(|(_, link)| link.over.is_empty() && link.voq.is_none())
        {
            for port in &link.directions {
                let delay = port.delay.long();
                if delay > LONGEST_LINK {
                    let message = format!(
                        "`{}` takes {delay}: light goes around the earth in 200 ms",
                        link.name
                    );
                    self.warn(WarningKind::LongDelay, &self.link_place(index, "delay"), message);
                }
                if port.rate.bps() < SLOWEST_BPS {
                    let message = format!("`{}` has {}", link.name, port.rate);
                    self.warn(WarningKind::SlowRate, &self.link_place(index, "rate"), message);
                }
            }
        }
    }

    /// Queues against what flows need that pass them.
    fn queues(&mut self) {
        let plan = self.plan;
        // By port: how many TCP flows there are, the longest round trip, the largest packet.
        let mut ports: BTreeMap<DirectedLink, (u64, Duration, u64)> = BTreeMap::new();
        for flow in plan.flows.iter().filter(|flow| !matches!(flow.carries, Carries::Datagrams(_)))
        {
            let Some(tcp) = flow.tcp else { continue };
            let packet = plan.tcp[tcp].1.mss.count() + plan.tcp[tcp].1.header.count();
            let rtt = round_trip(plan, flow);
            for &hop in &flow.hops {
                let of = ports.entry(hop).or_default();
                *of = (of.0 + 1, of.1.max(rtt), of.2.max(packet));
            }
        }
        // The queue that counts is that of the link where a flow has its least rate.
        let mut narrowest: BTreeSet<DirectedLink> = BTreeSet::new();
        for flow in &plan.flows {
            let rate = |hop: &&DirectedLink| plan.links[hop.0].directions[hop.1].rate.bps();
            narrowest.extend(flow.hops.iter().min_by_key(rate));
        }
        for (hop, (flows, rtt, packet)) in
            ports.into_iter().filter(|(hop, _)| narrowest.contains(hop))
        {
            let (link, port) = (&plan.links[hop.0], &plan.links[hop.0].directions[hop.1]);
            let bytes = match port.queue {
                QueueLimit::Packets(packets) => packets.saturating_mul(packet),
                QueueLimit::Bytes(bytes) => bytes.count(),
                QueueLimit::Unlimited => continue,
            };
            let bdp = port.rate.bps() as f64 / 8.0 * rtt.as_secs_f64();
            let needed = bdp / (flows as f64).sqrt();
            if (bytes as f64) < needed / 10.0 {
                let message = format!(
                    "the queue of `{}` holds {bytes} B; {flows} flows with a round trip of {rtt} need about {needed:.0} B",
                    link.name
                );
                self.warn(WarningKind::ShallowQueue, &self.link_place(hop.0, "queue"), message);
            }
            let empties = bytes as f64 * 8.0 / port.rate.bps() as f64;
            if empties > LONGEST_QUEUE.as_secs_f64() {
                let message = format!("the queue of `{}` takes {empties:.1} s to empty", link.name);
                self.warn(WarningKind::DeepQueue, &self.link_place(hop.0, "queue"), message);
            }
        }
    }

    fn losses(&mut self) {
        for (index, loss) in self.plan.losses.iter().enumerate() {
            if let Some(share) = loss.loses.random_share().filter(|&share| share >= HIGHEST_LOSS) {
                let message = format!("{} % of the packets are lost", share * 100.0);
                self.warn(WarningKind::HighLoss, place!["losses", index, "probability"], message);
            }
        }
    }

    fn failures(&mut self) {
        let plan = self.plan;
        let entries: BTreeSet<usize> = plan.failures.iter().map(|failure| failure.entry).collect();
        for entry in entries {
            let of_entry = || plan.failures.iter().filter(move |failure| failure.entry == entry);
            let names: Vec<&str> =
                of_entry().map(|one| plan.links[one.link].name.as_str()).collect();
            let names = some(&names);
            let path = match self.tree.get("failures").map_or(0, Node::items) {
                count if entry < count => place!["failures", entry],
                count => place!["schedules", entry - count],
            };
            let on_backup = |link: usize| {
                plan.protections.iter().any(|one| one.hops.iter().any(|hop| hop.0 == link))
            };
            if of_entry().all(|one| !self.crossed.links.contains(&one.link) && !on_backup(one.link))
            {
                self.warn(WarningKind::IdleFailure, path, format!("nothing crosses {names}"));
                continue;
            }
            for failure in of_entry() {
                self.failure(failure, path);
            }
        }
    }

    /// What a failure does to flows with a path of their own.
    fn failure(&mut self, failure: &FailurePlan, path: &[Step<'_>]) {
        let plan = self.plan;
        let (mut bare, mut open) = (BTreeSet::new(), BTreeSet::new());
        let guarded: BTreeSet<usize> =
            plan.protections.iter().filter_map(|one| one.group).collect();
        for (index, flow) in plan.flows.iter().enumerate().filter(|(_, flow)| !flow.routed) {
            let in_bundle = plan.bundles.iter().any(|bundle| bundle.has(failure.link));
            if in_bundle || !flow.hops.iter().any(|hop| hop.0 == failure.link) {
                continue;
            }
            let covers =
                plan.protections.iter().filter(|one| one.flows.contains(&index)).any(|one| {
                    let ways = (&one.backup[..], &one.hops[..]);
                    let protected = Protected::new(&plan.bundles, flow, 0, ways, &one.links);
                    protected.is_some_and(|protected| {
                        let links =
                            || protected.covered.iter().map(|&place| &protected.working()[place]);
                        links().any(|link| link.ports.iter().any(|port| port.0 == failure.link))
                    })
                });
            if covers {
                continue;
            }
            let group = plan.groups[flow.group].as_str();
            if guarded.contains(&flow.group) {
                open.insert(group);
            }
            if failure.repair.is_none() && failure.process.is_none() {
                bare.insert(group);
            }
        }
        let link = &plan.links[failure.link].name;
        if !open.is_empty() {
            let groups = some(&open.into_iter().collect::<Vec<_>>());
            let message = format!("no backup of {groups} goes around `{link}`");
            self.warn(WarningKind::NotCovered, path, message);
        }
        if !bare.is_empty() {
            let groups = some(&bare.into_iter().collect::<Vec<_>>());
            let message = format!("flows of {groups} end at `{link}`, which is not repaired");
            self.warn(WarningKind::CutForGood, path, message);
        }
    }

    fn switches(&mut self) {
        if self.plan.failures.is_empty() {
            return;
        }
        if let Some(routing) = &self.plan.routing
            && routing.detection > LATEST_SWITCH
        {
            let message = format!("routers know of a failure after {}", routing.detection);
            self.warn(WarningKind::LateSwitch, place!["routing", "detection"], message);
        }
        for protection in &self.plan.protections {
            let after = match protection.detection {
                DetectionPlan::After(delays) => delays[0].max(delays[1]),
                DetectionPlan::Hello { interval, multiplier } => interval * u64::from(multiplier),
            };
            if after + protection.hold_off > LATEST_SWITCH {
                let message =
                    format!("packets are switched {} after a failure", after + protection.hold_off);
                let entry = protection.entry;
                self.warn(
                    WarningKind::LateSwitch,
                    place!["protection", entry, "switch_delay"],
                    message,
                );
            }
        }
    }

    fn backups(&mut self) {
        let plan = self.plan;
        for protection in &plan.protections {
            let backup: BTreeSet<usize> = protection.hops.iter().map(|hop| hop.0).collect();
            for way in protection.ways(&plan.flows) {
                let ways = (&protection.backup[..], &protection.hops[..]);
                let protected = Protected::new(&plan.bundles, way, 0, ways, &protection.links);
                let Some(protected) = protected else { continue };
                let covered = protected.covered.iter().map(|&place| &protected.working()[place]);
                let covered: BTreeSet<usize> =
                    covered.flat_map(|link| link.ports.iter().map(|port| port.0)).collect();
                let shared = plan.risks.iter().find(|risk| {
                    let among = |links: &BTreeSet<usize>| {
                        risk.links.iter().any(|link| links.contains(link))
                    };
                    among(&covered) && among(&backup)
                });
                if let Some(risk) = shared {
                    let what = match (protection.group, covered.first()) {
                        (Some(group), _) => &plan.groups[group],
                        (None, Some(&link)) => &plan.links[link].name,
                        (None, None) => break,
                    };
                    let message = format!(
                        "a backup of `{what}` shares the risk `{}` with its path",
                        risk.name
                    );
                    let place = place!["protection", protection.entry];
                    self.warn(WarningKind::SharedRisk, place, message);
                    break;
                }
            }
        }
    }

    /// Receivers that agree to something else than their senders ask for.
    fn ends(&mut self) {
        let plan = self.plan;
        let used: BTreeSet<usize> = plan.flows.iter().filter_map(|flow| flow.tcp).collect();
        for (name, config) in used.into_iter().map(|tcp| &plan.tcp[tcp]) {
            let (asked, own) = (config.ecn, config.receiver_ecn);
            if asked != Ecn::Off && own != ReceiverEcn::AsAsked && own.name() != asked.name() {
                let message = format!(
                    "senders of `{name}` ask for `ecn = \"{}\"`, and receivers agree to `\"{}\"`",
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

    fn flows(&mut self) {
        let plan = self.plan;
        let mut longest = Duration::ZERO;
        // By the port that they share with the least rate: start and round trip of each flow.
        let mut alike: BTreeMap<(DirectedLink, Duration, Duration), Vec<&FlowPlan>> =
            BTreeMap::new();
        for flow in plan.flows.iter().filter(|flow| flow.tcp.is_some()) {
            let rtt = round_trip(plan, flow);
            longest = longest.max(rtt);
            let drawn = |hop: &&DirectedLink| {
                let port = &plan.links[hop.0].directions[hop.1];
                port.jitter != Spread::ZERO || !matches!(port.delay, Spread::Fixed(_))
            };
            let (Carries::Flow, Spread::Fixed(start)) = (flow.carries, &flow.start) else {
                continue;
            };
            let rate = |hop: &&DirectedLink| plan.links[hop.0].directions[hop.1].rate.bps();
            if let (None, Some(&port)) =
                (flow.hops.iter().find(drawn), flow.hops.iter().min_by_key(rate))
            {
                alike.entry((port, *start, rtt)).or_default().push(flow);
            }
        }
        for ((port, start, rtt), flows) in alike {
            if flows.len() > 2 {
                let message = format!(
                    "{} flows start at {start} with a round trip of {rtt} each and share `{}`",
                    flows.len(),
                    plan.port_name(port)
                );
                self.warn(
                    WarningKind::EqualStarts,
                    place!["flows", flows[0].entry, "start"],
                    message,
                );
            }
        }
        let stop = plan.stop.saturating_since(Time::ZERO);
        if longest > Duration::ZERO && stop < longest * ROUND_TRIPS {
            let message =
                format!("the run has {stop}, a round trip takes {longest} without queues");
            self.warn(WarningKind::ShortRun, place!["stop"], message);
        }
    }

    fn measured(&mut self) {
        let plan = self.plan;
        let lasting =
            plan.flows.iter().filter(|flow| flow.carries == Carries::Flow && flow.size.is_none());
        let Some(last) = lasting.filter_map(|flow| flow.start.latest()).max() else { return };
        for (index, observed) in plan.observe.iter().enumerate() {
            let begins = Time::ZERO + observed.after;
            if observed.kind.tallies() && begins < last {
                let message = format!(
                    "`{}` is measured from {begins} on, the last flow starts at {last}",
                    observed.name
                );
                self.warn(WarningKind::WarmUp, place!["observe", index, "after"], message);
            }
        }
    }
}

/// The longest time that a full segment and its ACK take without queues.
fn round_trip(plan: &Plan, flow: &FlowPlan) -> Duration {
    let config = flow.tcp.map(|tcp| &plan.tcp[tcp].1);
    let (data, ack) = config.map_or((0, 0), |config| {
        (config.mss.count() + config.header.count(), config.ack_size.count())
    });
    let takes = |bytes: u64, rate: Rate| rate.transmission_time(Bytes::new(bytes));
    flow.hops.iter().fold(Duration::ZERO, |sum, &(link, way)| {
        let [there, back] = [way, 1 - way].map(|way| &plan.links[link].directions[way]);
        sum + there.delay.long()
            + back.delay.long()
            + takes(data, there.rate)
            + takes(ack, back.rate)
    })
}

/// The first of some names, and how many more there are.
fn some(names: &[&str]) -> String {
    match names.len().checked_sub(SHOWN) {
        None | Some(0) => list(names),
        Some(more) => format!("{} and {more} more", list(&names[..SHOWN])),
    }
}
