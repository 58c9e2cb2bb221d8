//! How long packets take through virtual output queues.

use std::collections::BTreeSet;

use optcp_runs::Series;
use optcp_scenario::plan::FlowPlan;

use super::{Evidence, Intervals, Row, equal, names, real, whole};
use crate::check::Failure;

/// A packet that was through: the queue, the first port of its way, when it was, and how long it had taken.
struct Through {
    queue: usize,
    first: usize,
    at: u64,
    took: u64,
}

/// A packet in a queue, or on a way behind it.
struct Known {
    who: (usize, bool, u64),
    queue: usize,
    since: u64,
    /// Whether a transmitter has taken it out of the queue.
    taken: bool,
    /// First port of its path, and the last port that accepted it.
    on: Option<(usize, usize)>,
}

/// The ports of a route, in the order in which data or ACKs come to them.
fn directed(route: &FlowPlan, acks: bool) -> Vec<usize> {
    let port = |&(link, direction): &(usize, usize)| 2 * link + (direction ^ usize::from(acks));
    let mut ports: Vec<usize> = route.hops.iter().map(port).collect();
    if acks {
        ports.reverse();
    }
    ports
}

impl Evidence<'_> {
    /// Returns the ports of each path after a port; none for a port that is no virtual output
    /// queue.
    fn behind(&self, port: usize) -> Vec<Vec<usize>> {
        let Some(voq) = &self.plan.links[port / 2].voq else { return Vec::new() };
        let ways = (0..voq.ways.len()).map(|way| voq.hops(way, port % 2));
        let ports = |hops: Vec<(usize, usize)>| {
            hops.into_iter().map(|(link, direction)| 2 * link + direction).collect()
        };
        ways.map(ports).collect()
    }

    /// Returns the possible next ports on the path of a packet; `None` is the end of its path.
    fn after(&self, one: &Known) -> Vec<Option<usize>> {
        let Some((first, last)) = one.on else { return Vec::new() };
        let ways = self.behind(one.queue).into_iter().filter(|ports| ports[0] == first);
        let next = |ports: Vec<usize>| {
            let place = ports.iter().position(|&port| port == last)?;
            Some(ports.get(place + 1).copied())
        };
        ways.filter_map(next).collect()
    }

    /// Returns the ports of a bundle in the direction in which a path passes one of its ports.
    fn ports_of_bundle(&self, bundle: usize, hop: usize) -> impl Iterator<Item = usize> {
        let bundle = &self.plan.bundles[bundle];
        let direction = bundle.way(&self.plan.links, (hop / 2, hop % 2));
        bundle.ports(direction).map(|(link, end)| 2 * link + end)
    }

    /// Returns the ports that may accept a packet at each hop of a route, with the ports behind queues.
    fn ports_by_hop(&self, route: &FlowPlan, acks: bool) -> Vec<Vec<usize>> {
        let hops = directed(route, acks);
        let last = hops.len().saturating_sub(1);
        let ports = |(place, &hop): (usize, &usize)| {
            let place = if acks { last - place } else { place };
            let mut ports: Vec<usize> = match route.bundles.get(&place) {
                Some(&bundle) => self.ports_of_bundle(bundle, hop).collect(),
                None => vec![hop],
            };
            ports.extend(self.behind(hop).into_iter().flatten());
            ports
        };
        hops.iter().enumerate().map(ports).collect()
    }

    /// Returns the routes by flow. Among several routes, it keeps those that fit the flow's packets.
    /// All ports that queued a packet are on the route, and after an arrival no hop is missing.
    fn taken_routes(&self) -> Vec<Vec<&FlowPlan>> {
        let mut queued = vec![BTreeSet::new(); self.flows.len()];
        let mut has_arrived = vec![[false; 2]; self.flows.len()];
        for row in &self.rows {
            match (row.event, row.port.filter(|&port| self.listed[port])) {
                ("queued", Some(port)) => _ = queued[row.flow].insert((row.ack, port)),
                ("arrived" | "arrived-trimmed" | "acked", _) => {
                    has_arrived[row.flow][usize::from(row.ack)] = true
                }
                _ => {}
            }
        }
        let is_taken = |flow: usize, route: &FlowPlan| {
            [false, true].into_iter().all(|acks| {
                let by_hop = self.ports_by_hop(route, acks);
                let has_queued = |port: &usize| queued[flow].contains(&(acks, *port));
                let is_missing = |ports: &Vec<usize>| {
                    ports.iter().all(|&port| self.listed[port]) && !ports.iter().any(has_queued)
                };
                let mut mine = queued[flow].iter().filter(|(ack, _)| *ack == acks);
                mine.all(|(_, port)| by_hop.iter().flatten().any(|other| other == port))
                    && !(has_arrived[flow][usize::from(acks)] && by_hop.iter().any(is_missing))
            })
        };
        let routes = |flow: usize| -> Vec<&FlowPlan> {
            let all: Vec<&FlowPlan> = self.routes(flow).collect();
            let taken = all.iter().copied().filter(|route| is_taken(flow, route));
            if all.len() > 1 { taken.collect() } else { all }
        };
        (0..self.flows.len()).map(routes).collect()
    }

    /// Whether the row may be of a packet that was at the last port of its way.
    fn is_at_end(&self, one: &Known, row: &Row<'_>, routes: &[&FlowPlan]) -> bool {
        self.after(one).contains(&None) && self.is_next(one.queue, row, routes)
    }

    /// Whether a packet whose row this is stands directly behind a queue on its path: the port behind it, or the endpoint.
    fn is_next(&self, queue: usize, row: &Row<'_>, routes: &[&FlowPlan]) -> bool {
        routes.iter().any(|route| {
            let hops = directed(route, row.ack);
            let mut bundles: Vec<Option<usize>> =
                (0..hops.len()).map(|place| route.bundles.get(&place).copied()).collect();
            if row.ack {
                bundles.reverse();
            }
            let Some(place) = hops.iter().position(|&hop| hop == queue) else { return false };
            match (hops.get(place + 1), row.port) {
                (None, None) => true,
                (Some(&hop), Some(port)) => match bundles[place + 1] {
                    // In the direction of the path: it may come through the bundle the other way, too.
                    Some(bundle) => self.ports_of_bundle(bundle, hop).any(|one| one == port),
                    None => hop == port,
                },
                _ => false,
            }
        })
    }

    /// Whether a packet of this row passes the port on its path before `queue`, and not only behind it.
    fn passes_before(&self, row: &Row<'_>, queue: usize, routes: &[&FlowPlan]) -> bool {
        routes.iter().any(|route| {
            let hops = directed(route, row.ack);
            let before = hops.iter().take_while(|&&hop| hop != queue);
            before.copied().any(|hop| Some(hop) == row.port)
        })
    }

    /// Packets that have passed the paths behind queues, in order; `None` if rows do not show which of two copies was lost.
    fn through(&self) -> Option<Vec<Through>> {
        let who = |row: &Row<'_>| (row.flow, row.ack, row.seq);
        // Packets, their queues and arrival times, whether they were taken out, and the first port
        // of their path.
        let mut known: Vec<Known> = Vec::new();
        let mut found = Vec::new();
        let routes = self.taken_routes();
        for row in &self.rows {
            let routes = &routes[row.flow];
            let mine = |one: &Known| one.who == who(row);
            let enters = |one: &Known| mine(one) && one.taken && one.on.is_none();
            let waits = |one: &Known| mine(one) && Some(one.queue) == row.port && !one.taken;
            let is_voq = row.port.is_some_and(|port| self.is_voq(port));
            match row.event {
                "transmitted" if is_voq => {
                    let taken = known.iter_mut().find(|one| waits(one));
                    taken.expect("it was there").taken = true;
                }
                "queued" | "arrived" | "arrived-trimmed" | "acked" => {
                    if let Some(one) = known.iter_mut().find(|one| enters(one)) {
                        one.on = row.port.map(|port| (port, port));
                        continue;
                    }
                    let goes_on = |one: &&mut Known| {
                        mine(one) && row.port.is_some() && self.after(one).contains(&row.port)
                    };
                    if let Some(one) = known.iter_mut().find(goes_on) {
                        one.on = one.on.zip(row.port).map(|((first, _), port)| (first, port));
                        continue;
                    }
                    let at_end = |one: &Known| mine(one) && self.is_at_end(one, row, routes);
                    if let Some(place) = known.iter().position(at_end) {
                        let Known { queue, since, on, .. } = known.remove(place);
                        let (first, _) = on.expect("it has taken a way");
                        found.push(Through { queue, first, at: row.at, took: row.at - since });
                    }
                    if let Some(queue) = row.port.filter(|_| is_voq) {
                        let (who, since) = (who(row), row.at);
                        known.push(Known { who, queue, since, taken: false, on: None });
                    }
                }
                "dropped" => {
                    let entered = self.leaves(row)
                        || matches!(
                            row.reason,
                            Some("lost-in-flight" | "corrupted" | "ttl-expired" | "not-selected")
                        );
                    let goes = |one: &Known| {
                        let inside = match entered {
                            true => one.on.is_some_and(|(_, last)| Some(last) == row.port),
                            false => row.port.is_some() && self.after(one).contains(&row.port),
                        };
                        let refused = !entered && self.is_at_end(one, row, routes);
                        mine(one) && (inside || refused)
                    };
                    let is_ambiguous = |one: &Known| {
                        mine(one)
                            && one.on.is_some_and(|(_, last)| Some(last) == row.port)
                            && self.passes_before(row, one.queue, routes)
                    };
                    if entered && known.iter().any(is_ambiguous) {
                        return None;
                    }
                    let gone = (known.iter().position(enters))
                        .or_else(|| known.iter().position(waits).filter(|_| entered))
                        .or_else(|| known.iter().position(goes));
                    if let Some(gone) = gone {
                        known.remove(gone);
                    }
                }
                _ => {}
            }
        }
        Some(found)
    }

    pub(super) fn transit(&self, series: &Series) -> Result<(), Failure> {
        let intervals = Intervals::of(series);
        let columns = ["packets", "p50_ps", "p95_ps", "p99_ps", "longest_ps"];
        let mut expected: [Vec<u64>; 5] = Default::default();
        let mut means = Vec::new();
        let Some(through) = self.through() else { return Ok(()) };
        for name in names(series, "ports") {
            let port = self.ports.iter().position(|port| port == name).expect("a port of the list");
            for index in 0..intervals.count {
                let of = through.iter().filter(|one| intervals.index(one.at) == index);
                let of = of.filter(|one| one.queue == port || one.first == port);
                let mut times: Vec<u64> = of.map(|one| one.took).collect();
                times.sort_unstable();
                // The least of which so many percent are no greater.
                let quantile = |percent: usize| {
                    let enough = |time: &&u64| {
                        let within = times.iter().filter(|other| other <= time).count();
                        within * 100 >= times.len() * percent
                    };
                    times.iter().find(enough).copied().unwrap_or(0)
                };
                let sum: u128 = times.iter().map(|&time| u128::from(time)).sum();
                means.push(if times.is_empty() { 0.0 } else { sum as f64 / times.len() as f64 });
                let values = [
                    times.len() as u64,
                    quantile(50),
                    quantile(95),
                    quantile(99),
                    times.last().copied().unwrap_or(0),
                ];
                expected.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
            }
        }
        for (name, expected) in columns.into_iter().zip(expected) {
            equal(series, name, &whole(series, name), &expected)?;
        }
        equal(series, "mean_ps", real(series, "mean_ps"), &means)
    }
}
