//! Construction of a run from plan and seed. All random set-up values are drawn here.

mod applications;
mod arrivals;
mod buckets;
mod bundles;
mod bursts;
mod drawn;
mod forwarding;
mod lightpaths;
mod places;
mod planned;
mod protection;
mod routing;
mod switches;
mod traffic;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::external::ExternalFlow;
use optcp_des::variates::exponential;
use optcp_des::{Stream, Streams};
use optcp_engine::observe::{Observations, Watched};
use optcp_engine::{ApplicationsSpec, Blueprint, ConnectionSpec, FlowSpec};
use optcp_net::{
    Action, Control, Corruption, Duplication, FlowId, GilbertElliott, IndependentLoss, Jitter,
    Loss, Lossy, Managed, Paths, PeriodicLoss, PortConfig, PortId, ScriptedLoss,
};
use optcp_optical::protection::Outage;
use optcp_tcp::Config;
use optcp_tcp::config::PathState;
use optcp_units::{Duration, Time};

use optcp_scenario::plan::{
    self, Carries, DirectedLink, FailurePlan, Loses, ObservePlan, Plan, PortPlan, Spread,
};

pub use arrivals::Arrived;
pub(crate) use protection::Resequencing;
pub use protection::Switched;
pub use routing::{Rerouted, RoutingRecord};

use bundles::Entrances;
use places::{delay_of, draw, fails, outages, port_id};
use routing::{Entries, Tables};

/// Port that failed in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Name.
    pub port: String,
    /// Time of the failure.
    pub at: Time,
    /// Time of the repair; `None` for never.
    pub repair: Option<Time>,
}

/// Simulated network of one run, with its observations.
pub(crate) struct World {
    pub(crate) blueprint: Blueprint,
    pub(crate) observations: Observations,
    pub(crate) switches: Vec<Switched>,
    pub(crate) resequencing: Vec<Resequencing>,
    pub(crate) failed: Vec<Failed>,
    /// Record of routing; `None` without routing.
    pub(crate) routing: Option<RoutingRecord>,
    /// Plan with the randomly arriving flows of this run; `None` without any.
    pub(crate) populated: Option<Plan>,
    /// Routes of these flows.
    pub(crate) arrived: Vec<Arrived>,
    /// Flows whose packets come from outside.
    pub(crate) external: Vec<ExternalFlow>,
}

/// Builds the run of `plan` for `seed`. Calls `go_on` regularly; `None` if cancelled.
pub(crate) fn world(
    plan: &Plan,
    seed: u64,
    digest: bool,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<World> {
    if !go_on() {
        return None;
    }
    let streams = Streams::new(seed);
    let (plan, delays) = lightpaths::recovered(drawn_failures(plan, streams));
    let plan = &*drawn::draw_flows(plan, streams);
    let mut paths = Paths::default();
    let tables = Tables::lay(plan, seed, &mut paths);
    let written = plan.forwarding.as_ref().map(|one| forwarding::lay(plan, one, &mut paths));
    let (written, rewritten) = written.unzip();
    let entries = written.or_else(|| Some(tables.as_ref()?.entries.clone()));
    let (populated, arrived) = arrivals::populated(plan, streams).unzip();
    let populated = populated.or_else(|| (!plan.drawn.is_empty()).then(|| plan.clone()));
    if !go_on() {
        return None;
    }
    let full = populated.as_ref().unwrap_or(plan);
    let mut entrances = Entrances::default();
    let (flows, applications) = flows(full, streams, &mut paths, &mut entrances, entries.as_ref());
    if !go_on() {
        return None;
    }
    let datagrams =
        traffic::datagrams(full, streams, &mut paths, &mut entrances, entries.as_ref(), go_on)?;
    let classes = classes(full);
    let ports = ports(plan, &classes, &trimmable(full), streams);
    let (mut controls, mut switches, failed, resequencing) =
        controls(plan, &ports, delays, streams, &mut paths, &mut entrances);
    controls.extend(rewritten.unwrap_or_default());
    let mut routing = None;
    if let Some((mut tables, plan_of)) = tables.zip(plan.routing.as_ref()) {
        let protected = protection::of_links(plan, &ports, streams);
        let of_links = (&ports[..], &protected[..]);
        let (rewritten, record) =
            tables.rewrite(plan, plan_of, of_links, (streams, go_on), &mut paths)?;
        controls.extend(rewritten);
        controls.retain(|control| control.at <= plan.stop);
        let of_links = protected.iter().flat_map(|segment| segment.switches(plan));
        switches.extend(of_links.filter(|switch| switch.at <= plan.stop));
        switches.sort_by_key(|switch| switch.at);
        paths.set_keys(tables.keys(full));
        routing = Some(record);
    }
    // The sort must be stable: failures and repairs precede the switchovers they cause at the same time.
    controls.sort_by_key(|control| control.at);
    let assemblers = bursts::assemblers(plan, &ports, &classes, streams);
    let core = bursts::core(plan, &ports);
    let blueprint = Blueprint {
        ports: ports.into_iter().zip(losses(plan, streams)).collect(),
        bundles: bundles::bundles(plan),
        assemblers,
        core,
        resequencers: resequencing.iter().map(|one| one.spec).collect(),
        crossbars: self::switches::crossbars(plan),
        labels: paths.into_labels(),
        queues: planned::queues(plan),
        schedules: planned::schedules(plan),
        connections: connections(plan, &flows),
        flows,
        applications,
        datagrams,
        externals: Vec::new(),
        tallied: tallied(plan),
        controls,
        stop: plan.stop,
    };
    let observations = observations(full, &blueprint, digest, &[]);
    Some(World {
        observations,
        blueprint,
        switches,
        resequencing,
        failed,
        routing,
        populated,
        arrived: arrived.unwrap_or_default(),
        external: Vec::new(),
    })
}

/// Returns the plan with the failure times of this run.
fn drawn_failures(plan: &Plan, streams: Streams) -> Cow<'_, Plan> {
    let of_fibres = plan.optical.iter().flat_map(|optical| &optical.failures);
    if !plan.failures.iter().chain(of_fibres).any(FailurePlan::is_drawn) {
        return Cow::Borrowed(plan);
    }
    let mut plan = plan.clone();
    let of_fibres = plan.optical.iter_mut().map(|optical| &mut optical.failures);
    for failures in of_fibres.chain([&mut plan.failures]) {
        *failures = drawn_times(failures, plan.stop, streams);
    }
    Cow::Owned(plan)
}

/// Returns failures at the times of a run.
fn drawn_times(failures: &[FailurePlan], stop: Time, streams: Streams) -> Vec<FailurePlan> {
    let drawn = failures.iter().flat_map(|failure| recurring(failure, stop, streams));
    let delayed = drawn.map(|failure| {
        let FailurePlan { ref later, entry, at, repair, .. } = failure;
        let later = match *later == Spread::ZERO {
            true => Duration::ZERO,
            false => draw(later, streams, || format!("failures/{entry}/later")),
        };
        FailurePlan { at: at + later, repair: repair.map(|repair| repair + later), ..failure }
    });
    delayed.collect()
}

/// Returns the failures of a random process in a run, in order; all links of an entry fail together.
fn recurring(failure: &FailurePlan, stop: Time, streams: Streams) -> Vec<FailurePlan> {
    let Some([works, fails]) = failure.process else { return vec![failure.clone()] };
    let mut stream = streams.stream(&format!("failures/{}/process", failure.entry));
    let mut draw = |mean: Duration| {
        let drawn = mean.as_ps() as f64 * exponential(&mut stream);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the cast saturates"
        )]
        Duration::from_ps((drawn as u64).max(1)).min(Duration::LONGEST)
    };
    let mut found = Vec::new();
    let mut now = Time::ZERO;
    loop {
        let at = now + draw(works);
        if at >= stop {
            return found;
        }
        now = at + draw(fails);
        let repair = Some(now).filter(|&repair| repair < stop);
        found.push(FailurePlan { at, repair, process: None, ..failure.clone() });
    }
}

/// Returns the traffic class of each flow and source, by number; empty if all have class 0.
fn classes(plan: &Plan) -> Arc<[u8]> {
    if plan.classes.iter().all(|&class| class == 0) {
        return Arc::default();
    }
    let of = |sources: bool| {
        let these = plan.flows.iter().filter(move |flow| match flow.carries {
            Carries::Flow => !sources,
            Carries::Datagrams(_) => sources,
            Carries::Arrivals(_) | Carries::Drawn(_) => false,
        });
        these.map(|flow| plan.classes[flow.group])
    };
    of(false).chain(of(true)).collect()
}

/// Returns whether the segments of each flow may be trimmed, by number; empty if none may.
fn trimmable(plan: &Plan) -> Arc<[bool]> {
    let flows = plan.flows.iter().filter(|flow| flow.carries == Carries::Flow);
    let trims = |flow: &plan::FlowPlan| flow.tcp.is_some_and(|tcp| plan.tcp[tcp].1.trims());
    let trimmable: Arc<[bool]> = flows.map(trims).collect();
    if trimmable.contains(&true) { trimmable } else { Arc::default() }
}

fn ports(
    plan: &Plan,
    classes: &Arc<[u8]>,
    trimmable: &Arc<[bool]>,
    streams: Streams,
) -> Vec<PortConfig> {
    let mut ports = Vec::with_capacity(2 * plan.links.len());
    let moved = planned::moved(plan);
    let recovers = lightpaths::moved(plan);
    for (number, link) in plan.links.iter().enumerate() {
        let own = draw(&link.directions[0].delay, streams, || format!("links/{}/delay", link.name));
        let over = link.over.iter().fold(own, |sum, &hop| sum + delay_of(&ports, hop));
        // A longer time than the maximum run length never arrives either way.
        let there = over.min(Duration::LONGEST);
        let back = if link.shared_delay {
            there
        } else {
            draw(&link.directions[1].delay, streams, || format!("links/{}/delay/back", link.name))
        };
        let ways = [(there, ""), (back, "/back")];
        for (direction, (port, (delay, way))) in link.directions.iter().zip(ways).enumerate() {
            // Jitter of zero keeps packets in order when a lightpath returns to a shorter path.
            let jitter = (port.jitter != Spread::ZERO || recovers.contains(&number)).then(|| {
                let name = format!("links/{}/jitter{way}", link.name);
                Jitter::new(port.jitter.clone(), port.overtaking, streams.stream(&name))
            });
            ports.push(PortConfig {
                rate: port.rate,
                delay,
                limit: port.queue.into(),
                jitter,
                managed: managed(port, (classes, trimmable), || {
                    streams.stream(&format!("links/{}/queue{way}", link.name))
                }),
                held: link.voq.is_some(),
                ordered: !port.overtaking && moved.contains(&(number, direction)),
                buckets: buckets::buckets(plan, (number, direction)),
            });
        }
    }
    ports
}

/// Returns the losses of each port: first scripted losses as one script, then the others in the order of the
/// file. Scheduled losses come last.
fn losses(plan: &Plan, streams: Streams) -> Vec<Vec<Loss>> {
    let mut scripts: Vec<BTreeSet<(FlowId, u32, u32)>> =
        vec![BTreeSet::new(); 2 * plan.links.len()];
    let mut others: Vec<Vec<Loss>> = vec![Vec::new(); 2 * plan.links.len()];
    for entry in &plan.losses {
        let port = port_id(entry.hop).index();
        let number = others[port].len();
        let stream =
            || streams.stream(&format!("ports/{}/losses/{number}", plan.port_name(entry.hop)));
        match entry.loses {
            Loses::Scripted { ref flows, ref segments, transmission } => {
                for flow in flows.iter().copied().map(FlowId::at) {
                    scripts[port].extend(segments.iter().map(|&seq| (flow, seq, transmission)));
                }
            }
            Loses::Independent { lossy, probability } => {
                let loss = IndependentLoss::new(lossy, probability, stream());
                others[port].push(Loss::Independent(loss));
            }
            Loses::GilbertElliott { lossy, turns, loses } => {
                let loss = GilbertElliott::new(lossy, turns, loses, stream());
                others[port].push(Loss::GilbertElliott(loss));
            }
            Loses::Corruption { lossy, spoils } => {
                let corruption = Corruption::new(lossy, spoils, stream());
                others[port].push(Loss::Corruption(corruption));
            }
            Loses::Duplication { lossy, probability } => {
                let duplication = Duplication::new(lossy, probability, stream());
                others[port].push(Loss::Duplication(duplication));
            }
            Loses::Periodic { lossy, period } => {
                others[port].push(Loss::Periodic(PeriodicLoss::new(lossy, period)));
            }
        }
    }
    for hop in planned::lossy(plan) {
        let stream = streams.stream(&format!("ports/{}/losses/scheduled", plan.port_name(hop)));
        let loss = IndependentLoss::new(Lossy::Both, 0.0, stream);
        others[port_id(hop).index()].push(Loss::Scheduled(loss));
    }
    let of_port = |(script, others): (BTreeSet<_>, Vec<Loss>)| {
        let script = (!script.is_empty()).then(|| ScriptedLoss::new(script, BTreeSet::new()));
        script.map(Loss::Scripted).into_iter().chain(others).collect()
    };
    scripts.into_iter().zip(others).map(of_port).collect()
}

/// Returns the discipline of a port, if it is not drop-tail.
fn managed(
    port: &PortPlan,
    (classes, trimmable): (&Arc<[u8]>, &Arc<[bool]>),
    stream: impl Fn() -> Stream,
) -> Option<Box<Managed>> {
    let managed = || Managed {
        discipline: port.discipline.clone(),
        stream: Some(stream()),
        classes: Arc::clone(classes),
        trimmable: Arc::clone(trimmable),
    };
    port.is_managed().then(|| Box::new(managed()))
}

fn flows(
    plan: &Plan,
    streams: Streams,
    paths: &mut Paths,
    entrances: &mut Entrances,
    tables: Option<&Entries>,
) -> (Vec<FlowSpec>, ApplicationsSpec) {
    let tcp_flows: Vec<&plan::FlowPlan> =
        plan.flows.iter().filter(|flow| flow.carries == Carries::Flow).collect();
    let applications = applications::applications(plan, &tcp_flows, streams);
    let configs: Vec<Arc<Config>> =
        plan.tcp.iter().map(|(_, config)| Arc::new(config.clone())).collect();
    let spec = |(number, flow): (usize, &&plan::FlowPlan)| {
        let config = Arc::clone(&configs[flow.tcp?]);
        let start = match flow.application {
            Some((index, _)) => applications.starts[index],
            None => draw(&flow.start, streams, || format!("flows/{}/start", flow.name)),
        };
        let size = match flow.application {
            Some(_) => Some(applications.segments.get(&number).copied().unwrap_or(0)),
            None => flow.size,
        };
        let clock = |name: &str, period: Duration| {
            let mut stream = streams.stream(&format!("flows/{}/{name}", flow.name));
            Duration::from_ps(stream.below(config.clock_period(period).as_ps()))
        };
        let [data, acks] = match tables.filter(|_| flow.routed) {
            Some(tables) => {
                let (from, to) = (flow.path[0], flow.path[flow.path.len() - 1]);
                [tables.at(from, to), tables.at(to, from)]
            }
            None => entrances.entries(plan, flow, paths),
        };
        let from = Time::ZERO + start;
        let writes =
            flow.writes.iter().map(|&(after, segments)| (from + after, segments)).collect();
        // Only senders with per-network state need notifications.
        let hears = config.path_state == PathState::PerNetwork;
        Some(FlowSpec {
            notified_by: planned::notified_by(plan, flow).filter(|_| hears),
            clock_phase: clock("clock", config.tick),
            ack_clock_phase: clock("ack-clock", config.ack_delay),
            config,
            segments: size,
            writes,
            start: from,
            data,
            acks,
        })
    };
    let mut flows: Vec<FlowSpec> = tcp_flows.iter().enumerate().filter_map(spec).collect();
    for connection in &plan.connections {
        let start = flows[connection.subflows.start].start;
        flows[connection.subflows.clone()].iter_mut().for_each(|flow| flow.start = start);
    }
    (flows, applications.spec)
}

/// Returns the connections over several flows.
fn connections(plan: &Plan, flows: &[FlowSpec]) -> Vec<ConnectionSpec> {
    let spec = |connection: &plan::ConnectionPlan| {
        let first = connection.subflows.start;
        let write = |&(after, segments): &(Duration, u32)| (flows[first].start + after, segments);
        ConnectionSpec {
            first: FlowId::at(first),
            subflows: connection.subflows.len(),
            config: connection.config,
            segments: connection.size,
            writes: connection.writes.iter().map(write).collect(),
        }
    };
    plan.connections.iter().map(spec).collect()
}

/// Returns failures, then switchovers, in order of time. Changes of `delays` come first.
fn controls(
    plan: &Plan,
    ports: &[PortConfig],
    delays: Vec<Control>,
    streams: Streams,
    paths: &mut Paths,
    entrances: &mut Entrances,
) -> (Vec<Control>, Vec<Switched>, Vec<Failed>, Vec<Resequencing>) {
    let (mut controls, mut failed) = (delays, Vec::new());
    let (mut switched, mut switches, resequencing) =
        protection::protect(plan, ports, streams, paths, entrances);
    let cuts = protection::emulated_cuts(&switched);
    let fibres = bursts::fibre_ids(plan);
    // A route of bursts does not fail by itself: its bursts are lost on fibres.
    let in_bursts = |(link, _): &DirectedLink| plan.bursts.iter().any(|one| one.link == *link);
    for hop in all_hops(plan).filter(|hop| !in_bursts(hop)) {
        let port = port_id(hop);
        let fibre = fibres.get(&hop).copied();
        let outages = outages(plan, hop);
        let failed_at = |at| outages.iter().any(|outage| outage.covers(at));
        // A port is up if it has neither failed nor been cut by the emulation of an optical reversion.
        switched.retain(|one| one.action != Action::PortUp(port) || !failed_at(one.at));
        let is_cut = |at| cuts.iter().any(|(cut, outage)| *cut == port && outage.covers(at));
        for &Outage { failure, repair } in &outages {
            let mut begins =
                plan.failures.iter().filter(|one| one.at == failure && fails(plan, one, hop));
            let down = match (begins.all(|one| one.kept), fibre) {
                (kept, Some(fibre)) => Action::FibreDown(fibre, kept),
                (true, None) => Action::PortClosed(port),
                (false, None) => Action::PortDown(port),
            };
            controls.push(Control { at: failure, action: down });
            let repaired = repair.filter(|&at| !is_cut(at));
            let up = fibre.map_or(Action::PortUp(port), Action::FibreUp);
            controls.extend(repaired.map(|at| Control { at, action: up }));
            if plan.links[hop.0].over.is_empty() && failure <= plan.stop {
                failed.push(Failed { port: plan.port_name(hop), at: failure, repair });
            }
        }
    }
    controls.extend(switched);
    controls.extend(bundles::controls(plan));
    controls.retain(|control| control.at <= plan.stop);
    switches.retain(|switch| switch.at <= plan.stop);
    // The sort must be stable: failures and repairs precede the switchovers they cause at the same time.
    controls.sort_by_key(|control| control.at);
    switches.sort_by_key(|switch| switch.at);
    failed.sort_by_key(|one| one.at);
    (controls, switches, failed, resequencing)
}

/// Creates the observations of a run, in the order of the plan.
pub(crate) fn observations(
    plan: &Plan,
    blueprint: &Blueprint,
    digest: bool,
    external: &[usize],
) -> Observations {
    let of_flows = plan.flows.iter().map(|flow| flow.group);
    let of_connections = plan.connections.iter().map(|connection| connection.group);
    let group_of: Vec<usize> = of_flows.chain(of_connections).collect();
    let ids = bursts::fibre_ids(plan);
    let mut observations = Observations::default();
    if digest {
        observations.add_digest(2 * plan.links.len(), group_of.len());
    }
    for observed in &plan.observe {
        let hops = observed_ports(plan, observed);
        let watched = Watched {
            blueprint,
            group_of: &group_of,
            external,
            groups: &observed.groups,
            ports: &hops.iter().map(|&hop| port_id(hop)).collect::<Vec<_>>(),
            fibres: &hops.iter().filter_map(|hop| ids.get(hop).copied()).collect::<Vec<_>>(),
            after: observed.after,
            until: observed.until,
            interval: observed.interval.unwrap_or(Duration::ZERO),
        };
        observations.add(observed.kind, &watched);
    }
    observations
}

/// Returns the ports that count transmissions, each once.
fn tallied(plan: &Plan) -> Vec<PortId> {
    let tallied = plan.observe.iter().filter(|observed| observed.kind.tallies());
    let ports = tallied.flat_map(|observed| observed_ports(plan, observed)).map(port_id);
    ports.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Returns the ports or fibres of an observation.
pub(crate) fn observed_ports(plan: &Plan, observed: &ObservePlan) -> Vec<DirectedLink> {
    observed.ports.clone().unwrap_or_else(|| all_hops(plan).collect())
}

/// Iterates over all ports in the order of their numbers.
pub(crate) fn all_hops(plan: &Plan) -> impl Iterator<Item = DirectedLink> {
    (0..plan.links.len()).flat_map(|link| [(link, 0), (link, 1)])
}
