//! Protected segments: the part of a path, in one direction, that a backup bypasses.

use std::collections::{BTreeMap, BTreeSet};

use optcp_optical::protection::{
    ProtectedSegment, Route, Scheme, SetUp, SwitchAction, SwitchPoint,
};
use optcp_units::{Duration, Rate};

use crate::plan::{BundlePlan, CapacityKind, DirectedLink, LinkPlan, Plan, ProtectionPlan, Way};

/// TE link (RFC 4201): a link or a bundle that routing treats as one link. A bundle fails when all its links
/// have failed.
pub struct TeLink {
    /// Ports that a packet may take.
    pub ports: Vec<DirectedLink>,
    /// Bundle index; `None` for a single link.
    pub bundle: Option<usize>,
}

impl TeLink {
    /// Returns the TE links of a path.
    pub fn passed<'p>(bundles: &[BundlePlan], way: impl Into<Way<'p>>) -> Vec<TeLink> {
        let way = way.into();
        let link = |(place, &hop): (usize, &DirectedLink)| match way.bundles.get(&place) {
            None => TeLink { ports: vec![hop], bundle: None },
            Some(&number) => {
                let bundle = &bundles[number];
                let back = usize::from(bundle.ends[0] != way.path[place]);
                TeLink { ports: bundle.ports(back).collect(), bundle: Some(number) }
            }
        };
        way.hops.iter().enumerate().map(link).collect()
    }

    /// Returns whether a protection of `links` includes this TE link. An empty list means every link.
    pub fn is_among(&self, links: &[usize]) -> bool {
        links.is_empty() || self.ports.iter().map(|port| &port.0).eq(links)
    }

    /// Returns the maximum propagation delay of its links, which packets, light and messages need at most.
    pub fn delay(&self, of: impl Fn(DirectedLink) -> Duration) -> Duration {
        self.ports.iter().map(|&port| of(port)).max().unwrap_or_default()
    }

    /// Returns the total rate of its links in this direction.
    fn rate(&self, plan: &Plan) -> Rate {
        let of =
            |&(link, direction): &DirectedLink| plan.links[link].directions[direction].rate.bps();
        let sum = self.ports.iter().map(of).fold(0, u64::saturating_add);
        Rate::from_bps(sum).expect("rates are above zero")
    }

    fn reversed(mut self) -> TeLink {
        self.ports.iter_mut().for_each(|port| *port = reverse(*port));
        self
    }
}

/// Direction of a path, with the backup of a part of it.
pub struct Protected {
    /// Links from source to destination.
    pub route: Vec<TeLink>,
    /// Position in the route of the node that switches packets to the backup.
    pub from: usize,
    /// Position in the route of the node where the backup joins again.
    pub to: usize,
    /// Ports of the backup.
    pub backup: Vec<DirectedLink>,
    /// Protected links between `from` and `to`, counted from `from`.
    pub covered: Vec<usize>,
}

/// Returns the port of the same link in the other direction.
pub fn reverse((link, direction): DirectedLink) -> DirectedLink {
    (link, 1 - direction)
}

/// Returns the ports in the other direction, in reverse order.
pub fn reversed(hops: &[DirectedLink]) -> Vec<DirectedLink> {
    hops.iter().rev().map(|&hop| reverse(hop)).collect()
}

impl Protected {
    /// Creates the segment for data (0) or ACKs (1) of a flow, or for one direction of a link. Returns `None`
    /// if the backup does not leave and rejoin the path. `links` are the protected link or all links of the
    /// protected bundle; an empty list means every link that the backup bypasses.
    pub fn new<'p>(
        bundles: &[BundlePlan],
        way: impl Into<Way<'p>>,
        direction: usize,
        backup: (&[usize], &[DirectedLink]),
        links: &[usize],
    ) -> Option<Self> {
        let (way, (nodes, hops)) = (way.into(), backup);
        let position = |node: Option<&usize>| way.path.iter().position(|n| Some(n) == node);
        let (first, last) = (position(nodes.first())?, position(nodes.last())?);
        if first >= last {
            return None;
        }
        let end = way.hops.len();
        let passed = TeLink::passed(bundles, way);
        let back = |links: Vec<TeLink>| links.into_iter().rev().map(TeLink::reversed).collect();
        let (route, from, to, backup) = match direction {
            0 => (passed, first, last, hops.to_vec()),
            _ => (back(passed), end - last, end - first, reversed(hops)),
        };
        let between = route[from..to].iter().enumerate();
        let covered =
            between.filter(|(_, link)| link.is_among(links)).map(|(index, _)| index).collect();
        Some(Protected { route, from, to, backup, covered })
    }

    /// Returns the links of the working path that the backup bypasses.
    pub fn working(&self) -> &[TeLink] {
        &self.route[self.from..self.to]
    }

    /// Returns the segment for protection schemes, with propagation delays.
    pub fn segment(
        &self,
        delay: impl Fn(DirectedLink) -> Duration,
        processing: Duration,
    ) -> ProtectedSegment {
        let (working, backup) = (self.working(), &self.backup);
        let upstream = |hop| delay(reverse(hop));
        ProtectedSegment {
            working: working.iter().map(|link| link.delay(&delay)).collect(),
            working_upstream: working.iter().map(|link| link.delay(upstream)).collect(),
            backup: backup.iter().map(|&hop| delay(hop)).collect(),
            backup_upstream: backup.iter().map(|&hop| upstream(hop)).collect(),
            covered: self.covered.clone(),
            processing,
        }
    }

    /// Returns the bundle through which a switching node loops packets back, if any. Such schemes are
    /// rejected.
    pub fn back_through(&self, point: &SwitchPoint) -> Option<usize> {
        let back = match point.turn {
            SwitchAction::Forward(Route::LoopBack) => &self.working()[..point.node],
            SwitchAction::Select | SwitchAction::Forward(Route::Backup) => &[],
        };
        back.iter().find_map(|link| link.bundle)
    }

    /// Returns the pieces of the detour from a switching node. Other packets may join between two pieces.
    pub fn pieces(&self, scheme: Scheme, point: &SwitchPoint) -> Vec<Vec<DirectedLink>> {
        let backup = self.backup.clone();
        match point.turn {
            SwitchAction::Select | SwitchAction::Forward(Route::Backup) => vec![backup],
            SwitchAction::Forward(Route::LoopBack) => {
                let passed = self.working()[..point.node].iter();
                let mut back = reversed(&passed.map(|link| link.ports[0]).collect::<Vec<_>>());
                if scheme.rejoins_at_head() {
                    return vec![back, backup];
                }
                back.extend(backup);
                vec![back]
            }
        }
    }
}

/// Capacity that the backups of an entry need for a group. Each direction of a link counts once, even if
/// several flows or failures need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spare {
    /// First protection of the entry and group, as an index of the plan.
    pub protection: usize,
    /// Group of flows; empty if links are protected for all routed traffic.
    pub flows: String,
    /// Name of the scheme in files.
    pub scheme: &'static str,
    /// Capacity of the backups.
    pub capacity: CapacityKind,
    /// Rate of the protected path: its slowest TE link, where a bundle counts with the total rate of its
    /// links.
    pub rate: Rate,
    /// Number of link directions that the backups bypass.
    pub working: usize,
    /// Number of link directions that the backups use.
    pub spare: usize,
    /// Sum of the rates of the bypassed directions, in b/s.
    pub working_bps: u64,
    /// Sum over the directions that backups use, in b/s: reserved rates for circuits, and the rate of the
    /// fastest protected path for shared backups.
    pub spare_bps: u64,
}

/// Returns the backup capacity per entry and group. A circuit used by several groups of an entry counts for
/// the first.
pub fn spare(plan: &Plan) -> Vec<Spare> {
    // Protections of one entry and group are adjacent in the list.
    let alike = |a: &ProtectionPlan, b: &ProtectionPlan| (a.entry, a.group) == (b.entry, b.group);
    let mut first = 0;
    let mut counted = BTreeSet::new();
    let of = |all: &[ProtectionPlan]| {
        let place = first;
        first += all.len();
        of_entry(plan, place, all, &mut counted)
    };
    plan.protections.chunk_by(alike).filter_map(of).collect()
}

fn of_entry(
    plan: &Plan,
    place: usize,
    all: &[ProtectionPlan],
    counted: &mut BTreeSet<usize>,
) -> Option<Spare> {
    let (mut working, mut rates) = (BTreeSet::new(), Vec::new());
    let mut spare: BTreeMap<DirectedLink, u64> = BTreeMap::new();
    for protection in all {
        for way in protection.ways(&plan.flows) {
            for direction in [0, 1] {
                let ways = (&protection.backup[..], &protection.hops[..]);
                let protected =
                    Protected::new(&plan.bundles, way, direction, ways, &protection.links);
                let Some(protected) = protected else { continue };
                working.extend(protected.working().iter().flat_map(|link| link.ports.clone()));
                let rate = protected.working().iter().map(|link| link.rate(plan)).min()?;
                rates.push(rate);
                let segment = protected.segment(|_| Duration::ZERO, Duration::ZERO);
                let set_up = SetUp { computation: Duration::ZERO };
                for point in protection.scheme.points(&segment, set_up) {
                    for port in protected.pieces(protection.scheme, &point).concat() {
                        let needed = spare.entry(port).or_default();
                        *needed = rate.bps().max(*needed);
                    }
                }
            }
        }
    }
    let first = all.first()?;
    let shared = first.capacity == CapacityKind::Shared;
    let spare_bps = match shared {
        true => spare.values().fold(0, |sum: u64, &bps| sum.saturating_add(bps)),
        false => {
            let circuits = all.iter().flat_map(|one| one.circuits.values().copied());
            let own: Vec<usize> = circuits.filter(|&circuit| counted.insert(circuit)).collect();
            let of = |link: &LinkPlan| link.directions[0].rate.bps() * link.over.len() as u64;
            own.into_iter().fold(0, |sum: u64, link| sum.saturating_add(of(&plan.links[link])))
        }
    };
    let rate_of = |&(link, way): &DirectedLink| plan.links[link].directions[way].rate.bps();
    Some(Spare {
        protection: place,
        flows: first.group.map_or(String::new(), |group| plan.groups[group].clone()),
        scheme: first.scheme.name(),
        capacity: first.capacity,
        rate: rates.into_iter().min()?,
        working: working.len(),
        spare: spare.len(),
        working_bps: working.iter().map(rate_of).fold(0, u64::saturating_add),
        spare_bps,
    })
}

/// Returns the rate that circuits reserve on each port, in b/s.
pub(crate) fn reserved_on(
    protections: &[ProtectionPlan],
    links: &[LinkPlan],
) -> BTreeMap<DirectedLink, u64> {
    let circuits: BTreeSet<usize> =
        protections.iter().flat_map(|one| one.circuits.values().copied()).collect();
    let mut reserved: BTreeMap<DirectedLink, u64> = BTreeMap::new();
    for circuit in circuits.into_iter().map(|circuit| &links[circuit]) {
        for &port in &circuit.over {
            let sum = reserved.entry(port).or_default();
            *sum = sum.saturating_add(circuit.directions[0].rate.bps());
        }
    }
    reserved
}
