//! Failure detection and flooding: which router is notified of a failed link, and when.
//!
//! # Model
//! The routers at the ends of a link detect a failure after one delay, and a repair after another. The
//! hold-down timer starts at detection. Each router that detected the failure floods a report if the failure
//! outlasts this timer; otherwise neither failure nor repair is reported. The repair of a reported failure is
//! reported when detected. A report travels over working links. It takes the link's delay and a processing
//! time at each router. A router that receives it computes new routes and then updates its FIB. Routers that
//! were disconnected receive missed reports when a repair reconnects them.
//!
//! # References
//! RFC 5714 for fast reroute before convergence; hold-down after Mao, Wen and Yeung (ICC 2012), section I and
//! Fig. 1; the separation of flooding, computation and update as in RFC 5714 section 4.
//!
//! # Parameters
//! `detection`, `detection_up`, `hold_down`, `flooding`, `computation`, `update` per router, and `hold`: see
//! [`crate::hold`].
//!
//! # Limitations
//! Reports use no capacity and are not lost. They use the links that work when they are sent. A FIB is
//! updated at once, not entry by entry. There is no backoff between computations.

use std::collections::{BTreeMap, BTreeSet};

use optcp_units::{Duration, Time};
use petgraph::algo::dijkstra;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::unionfind::UnionFind;

use crate::{DirectedLink, Link, Topology};

/// Outage of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Link.
    pub link: usize,
    /// Failing directions.
    pub directions: [bool; 2],
    /// Time of the failure.
    pub at: Time,
    /// Time of the repair; `None` for never.
    pub repair: Option<Time>,
}

/// Delays of detection, flooding and convergence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Time from a failure until the adjacent routers detect it.
    pub detection: Duration,
    /// Time from a repair until the adjacent routers detect it.
    pub detection_up: Duration,
    /// Time for which a detected failure is held back.
    pub hold_down: Duration,
    /// Processing time of a report in each router, before it acts and floods the report.
    pub flooding: Duration,
    /// Duration of the route computation.
    pub computation: Duration,
    /// Duration of the FIB update, by router.
    pub update: Vec<Duration>,
    /// Additional time after a failure for which routers keep their FIB.
    pub hold: Duration,
    /// Propagation delay of each link, per direction.
    pub delay: Vec<[Duration; 2]>,
}

/// Detection of a failure and repair by the router at the near end of a link direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkDetection {
    /// Direction that leads away from the router.
    pub hop: DirectedLink,
    /// Detection time of the failure.
    pub down: Time,
    /// Detection time of the repair; `None` for never.
    pub up: Option<Time>,
}

/// Flooded report that a link has failed or works again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// Link.
    pub link: usize,
    /// `true`: the link works.
    pub up: bool,
    /// Time at which it is sent.
    pub at: Time,
    /// Number of routers that originate it.
    pub senders: usize,
    /// For a failed link: the routers that detected the failure themselves.
    pub detecting_routers: Vec<usize>,
    /// Time at which each router receives it; `None` for never.
    pub received_at: Vec<Option<Time>>,
    /// Time at which each router has its new FIB ready. The router installs it then, unless it holds the old
    /// one.
    pub installed: Vec<Option<Time>>,
}

impl Timing {
    /// Returns the time at which a router that receives a report at this time has its FIB ready.
    fn ready(&self, router: usize, received_at: Time) -> Time {
        received_at + self.computation + self.update[router]
    }
}

/// Returns the detections of each link direction, in order of time. A failure repaired by its detection time
/// is ignored. A failure before the router has detected the previous repair of this direction continues the
/// previous one. It ends with the later repair.
#[must_use]
pub fn link_detections(failures: &[Failure], timing: &Timing) -> Vec<LinkDetection> {
    let mut failures = failures.to_vec();
    failures.sort_by_key(|failure| failure.at);
    let mut detections: Vec<LinkDetection> = Vec::new();
    for failure in failures {
        for direction in [0, 1].into_iter().filter(|&way| failure.directions[way]) {
            let hop = (failure.link, direction);
            let up = failure.repair.map(|repair| repair + timing.detection_up);
            let last = detections.iter_mut().rfind(|detection| detection.hop == hop);
            if let Some(last) = last.filter(|last| last.up.is_none_or(|up| failure.at < up)) {
                last.up = last.up.zip(up).map(|(before, up)| before.max(up));
                continue;
            }
            let down = failure.at + timing.detection;
            if failure.repair.is_none_or(|repair| down < repair) {
                detections.push(LinkDetection { hop, down, up });
            }
        }
    }
    detections.sort_by_key(|detection| (detection.down, detection.hop));
    detections
}

/// Returns the flooded reports in order of time, with the times at which each router acts. Calls `go_on` for
/// each; `None` if cancelled.
#[must_use]
pub fn announcements(
    topology: &Topology,
    failures: &[Failure],
    timing: &Timing,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<Vec<Announcement>> {
    let detections = link_detections(failures, timing);
    let mut found: Vec<(Time, usize, bool, Vec<usize>)> = Vec::new();
    for &LinkDetection { hop: (link, direction), down, up } in &detections {
        let Some(ends) = topology.links()[link].map(|link| link.ends) else { continue };
        let at = down + timing.hold_down;
        if up.is_some_and(|up| up <= at) {
            continue;
        }
        for (at, is_up) in [(Some(at), false), (up, true)] {
            let Some(at) = at else { continue };
            // A link works again once both ends report it.
            if is_up && other_end_holds_down(&detections, timing.hold_down, (link, direction), at) {
                continue;
            }
            let same = found.iter_mut().find(|one| (one.0, one.1, one.2) == (at, link, is_up));
            match same {
                Some((.., senders)) => senders.push(ends[direction]),
                None => found.push((at, link, is_up, vec![ends[direction]])),
            }
        }
    }
    found.sort_by_key(|&(at, link, up, _)| (at, link, up));
    let mut announcement = |(at, link, up, senders): (Time, usize, bool, Vec<usize>)| {
        let received_at =
            go_on().then(|| reception_times(topology, failures, timing, at, &senders))?;
        let ends = topology.links()[link].map_or([0; 2], |link| link.ends);
        let is_down = |detection: &&LinkDetection| {
            detection.hop.0 == link && detection.down <= at && detection.up.is_none_or(|up| at < up)
        };
        let down = detections.iter().filter(is_down).map(|detection| ends[detection.hop.1]);
        let detecting_routers = if up { Vec::new() } else { down.collect() };
        let (senders, installed) = (senders.len(), Vec::new());
        Some(Announcement { link, up, at, senders, detecting_routers, received_at, installed })
    };
    let mut all: Vec<Announcement> =
        found.into_iter().map(&mut announcement).collect::<Option<_>>()?;
    if all.iter().any(|one| one.received_at.contains(&None)) {
        let repairs = detections.iter().filter_map(|detection| detection.up).collect();
        let partitions = Partitions::new(topology, failures, repairs, go_on)?;
        for one in &mut all {
            catch_up(one, topology, failures, timing, &partitions, go_on)?;
        }
    }
    for one in &mut all {
        let ready =
            |(node, received): (usize, &Option<Time>)| Some(timing.ready(node, (*received)?));
        one.installed = one.received_at.iter().enumerate().map(ready).collect();
    }
    Some(all)
}

/// Returns whether the router at the other end of a link holds it down at this time, and will report its
/// repair.
fn other_end_holds_down(
    detections: &[LinkDetection],
    hold_down: Duration,
    (link, direction): DirectedLink,
    at: Time,
) -> bool {
    let other = (link, 1 - direction);
    detections
        .iter()
        .filter(|one| one.hop == other && one.down <= at)
        .any(|one| one.up.is_none_or(|up| up > at && up > one.down + hold_down))
}

/// Groups of routers that can reach each other, at each detection of a repair.
struct Partitions {
    /// Detection times of repairs, in order, each with the number of the partition at that time.
    detected_repairs: Vec<(Time, usize)>,
    /// Group of each router, by partition. A group bears the number of its first router.
    groups: Vec<Vec<usize>>,
}

impl Partitions {
    /// Returns the partition at each detection of a repair. A link with a failed direction separates its
    /// ends. Calls `go_on` for each; `None` if cancelled.
    fn new(
        topology: &Topology,
        failures: &[Failure],
        detected_repairs: BTreeSet<Time>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Option<Self> {
        let mut partition_numbers: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
        let mut number_at = |at: Time| {
            let broken = broken(failures, at);
            let mut groups = UnionFind::new(topology.nodes());
            for (link_index, link) in topology.links().iter().enumerate() {
                if let Some(Link { ends: [one, other], .. }) = *link
                    && !broken.contains(&link_index)
                {
                    groups.union(one, other);
                }
            }
            let labels = groups.into_labeling();
            let mut first: BTreeMap<usize, usize> = BTreeMap::new();
            let first_router = |(router, &label)| *first.entry(label).or_insert(router);
            let groups = labels.iter().enumerate().map(first_router).collect();
            let next = partition_numbers.len();
            go_on().then(|| (at, *partition_numbers.entry(groups).or_insert(next)))
        };
        let detected_repairs =
            detected_repairs.into_iter().map(&mut number_at).collect::<Option<_>>()?;
        let mut groups = vec![Vec::new(); partition_numbers.len()];
        for (partition, number) in partition_numbers {
            groups[number] = partition;
        }
        Some(Partitions { detected_repairs, groups })
    }
}

/// Completes the times of routers that missed a report: when a repair reconnects them, neighbours exchange
/// what they have missed.
fn catch_up(
    report: &mut Announcement,
    topology: &Topology,
    failures: &[Failure],
    timing: &Timing,
    partitions: &Partitions,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<()> {
    // Partitions in which no router is added, now that all that have the announcement are ready.
    let mut settled = BTreeSet::new();
    let first = partitions.detected_repairs.partition_point(|&(at, _)| at <= report.at);
    for &(at, number) in &partitions.detected_repairs[first..] {
        if report.received_at.iter().all(Option::is_some)
            || settled.len() == partitions.groups.len()
        {
            break;
        }
        if settled.contains(&number) {
            continue;
        }
        if !go_on() {
            return None;
        }
        let is_ready = |router: usize, received: Time| timing.ready(router, received) <= at;
        let senders: Vec<usize> = (0..report.received_at.len())
            .filter(|&router| {
                report.received_at[router].is_some_and(|received| is_ready(router, received))
            })
            .collect();
        let groups = &partitions.groups[number];
        let sending: BTreeSet<usize> = senders.iter().map(|&router| groups[router]).collect();
        let reaches = |(router, received): (usize, &Option<Time>)| {
            received.is_none() && sending.contains(&groups[router])
        };
        if report.received_at.iter().enumerate().any(reaches) {
            let later = reception_times(topology, failures, timing, at, &senders);
            for (known, later) in report.received_at.iter_mut().zip(later) {
                *known = known.or(later);
            }
            settled.clear();
        } else if senders.len() == report.received_at.iter().flatten().count() {
            settled.insert(number);
        }
    }
    Some(())
}

/// Returns the links that are out of service at a time.
fn broken(failures: &[Failure], at: Time) -> BTreeSet<usize> {
    let broken =
        |failure: &&Failure| failure.at <= at && failure.repair.is_none_or(|repair| at < repair);
    failures.iter().filter(broken).map(|failure| failure.link).collect()
}

/// Returns the time at which each router receives a report that `senders` originate at this time.
fn reception_times(
    topology: &Topology,
    failures: &[Failure],
    timing: &Timing,
    at: Time,
    senders: &[usize],
) -> Vec<Option<Time>> {
    let working = topology.without(broken(failures, at));
    let mut graph = DiGraph::<(), Duration>::new();
    let nodes: Vec<NodeIndex> = (0..working.nodes()).map(|_| graph.add_node(())).collect();
    for node in 0..working.nodes() {
        for adjacency in working.adjacencies(node) {
            let delay = timing.delay[adjacency.hop.0][adjacency.hop.1] + timing.flooding;
            graph.add_edge(nodes[node], nodes[adjacency.to], delay);
        }
    }
    // One search from all senders, however many originate the report.
    let source = graph.add_node(());
    for &sender in senders {
        graph.add_edge(source, nodes[sender], Duration::ZERO);
    }
    let found = dijkstra(&graph, source, None, |edge| *edge.weight());
    nodes.iter().map(|node| found.get(node).map(|&way| at + way)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A ring of four routers, and a fifth router behind one link.
    fn topology() -> Topology {
        let ends = [[0, 1], [1, 2], [2, 3], [3, 0], [3, 4]];
        Topology::new(5, ends.map(|ends| Some(Link { ends, costs: [1, 1] })).to_vec())
    }

    /// Times in ms; delays and updates differ by link and router.
    fn timing() -> Timing {
        let ms = Duration::from_ms;
        Timing {
            detection: ms(1),
            detection_up: ms(2),
            hold_down: ms(3),
            flooding: ms(1),
            computation: ms(2),
            update: (0..5).map(|router| ms(router * 4)).collect(),
            hold: ms(0),
            delay: (1..6).map(|link| [ms(link), ms(link)]).collect(),
        }
    }

    fn failures() -> impl Strategy<Value = Vec<Failure>> {
        let one = (0usize..5, 0u64..400, 1u64..60).prop_map(|(link, at, lasts)| Failure {
            link,
            directions: [true, true],
            at: Time::ZERO + Duration::from_ms(at),
            repair: (lasts < 58).then(|| Time::ZERO + Duration::from_ms(at + lasts)),
        });
        proptest::collection::vec(one, 1..40)
    }

    proptest! {
        #[test]
        fn announcement_reaches_routers_as_if_every_repair_was_examined(failures in failures()) {
            let (topology, timing) = (topology(), timing());
            let detections = link_detections(&failures, &timing);
            let mut repairs: Vec<Time> =
                detections.iter().filter_map(|detection| detection.up).collect();
            repairs.sort_unstable();
            for one in announcements(&topology, &failures, &timing, &mut || true).unwrap() {
                let ends = topology.links()[one.link].unwrap().ends;
                let senders: Vec<usize> =
                    ends.into_iter().filter(|&end| one.received_at[end] == Some(one.at)).collect();
                let mut expected = reception_times(&topology, &failures, &timing, one.at, &senders);
                for &at in repairs.iter().filter(|&&at| at > one.at) {
                    let ready = |&router: &usize| {
                        expected[router].is_some_and(|received| timing.ready(router, received) <= at)
                    };
                    let senders: Vec<usize> = (0..5).filter(ready).collect();
                    let later = reception_times(&topology, &failures, &timing, at, &senders);
                    expected = expected.iter().zip(later).map(|(one, later)| one.or(later)).collect();
                }
                prop_assert_eq!(one.received_at, expected);
            }
        }
    }
}
