//! What a backup protects: the part of a way, in one direction, that the backup goes around.

use std::collections::{BTreeMap, BTreeSet};

use optcp_optical::protection::{
    ProtectedSegment, Route, Scheme, SetUp, SwitchAction, SwitchPoint,
};
use optcp_units::{Duration, Rate};

use crate::plan::{BundlePlan, CapacityKind, DirectedLink, LinkPlan, Plan, ProtectionPlan, Way};

/// What is one link to whoever routes (a TE link, RFC 4201): a link, or a bundle of them. It fails when all
/// of its links have failed.
pub struct TeLink {
    /// The ports, each of which a packet may take.
    pub ports: Vec<DirectedLink>,
    /// The bundle, as an index; `None` is a link alone.
    pub bundle: Option<usize>,
}

impl TeLink {
    /// The links of a way.
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

    /// Whether a protection of `links`, where none means every link, is one of this link.
    pub fn is_among(&self, links: &[usize]) -> bool {
        links.is_empty() || self.ports.iter().map(|port| &port.0).eq(links)
    }

    /// What packets, light and messages need to its end, at most: the propagation delay of its longest
    /// link.
    pub fn delay(&self, of: impl Fn(DirectedLink) -> Duration) -> Duration {
        self.ports.iter().map(|&port| of(port)).max().unwrap_or_default()
    }

    /// What all its links carry together in this direction.
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

/// One direction of a way, and the backup of a part of it.
pub struct Protected {
    /// The links that packets pass, from their source to their destination.
    pub route: Vec<TeLink>,
    /// The node of the route, by number, where packets can be switched.
    pub from: usize,
    /// The node of the route, by number, where the backup joins it again.
    pub to: usize,
    /// The ports of the backup.
    pub backup: Vec<DirectedLink>,
    /// Which of the links between `from` and `to` are protected, counted from `from`.
    pub covered: Vec<usize>,
}

/// The port in the other direction of the same link.
pub fn reverse((link, direction): DirectedLink) -> DirectedLink {
    (link, 1 - direction)
}

/// Ports in the other direction, last first.
pub fn reversed(hops: &[DirectedLink]) -> Vec<DirectedLink> {
    hops.iter().rev().map(|&hop| reverse(hop)).collect()
}

impl Protected {
    /// Data (0) or ACKs (1) of a flow, or one direction of a link; `None` if the backup does not leave its way and join it again.
    /// `links` are the protected link, or all of the protected bundle; none means every link that the backup
    /// goes around.
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

    /// The links of the working path that the backup goes around.
    pub fn working(&self) -> &[TeLink] {
        &self.route[self.from..self.to]
    }

    /// The same for the schemes, with what propagation takes.
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

    /// The bundle through which packets of a point go back, if they do; schemes with one are refused.
    pub fn back_through(&self, point: &SwitchPoint) -> Option<usize> {
        let back = match point.turn {
            SwitchAction::Forward(Route::LoopBack) => &self.working()[..point.node],
            SwitchAction::Select | SwitchAction::Forward(Route::Backup) => &[],
        };
        back.iter().find_map(|link| link.bundle)
    }

    /// The way around from a point, in pieces that other packets may join between.
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

/// What the backups of an entry need for a group: each direction of a link once, whichever of its flows and faults need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spare {
    /// The first of its protections, by its place in the plan.
    pub protection: usize,
    /// The group of flows; empty for links that are protected for all that routers send over them.
    pub flows: String,
    /// The scheme's name in files.
    pub scheme: &'static str,
    /// What the backups consist of.
    pub capacity: CapacityKind,
    /// Capacity of the protected path: that of its slowest link, where a bundle has that of all its links.
    pub rate: Rate,
    /// Directions of links that the backups go around.
    pub working: usize,
    /// Directions of links that backups need.
    pub spare: usize,
    /// Sum of the rates of those directions that the backups go around, in b/s.
    pub working_bps: u64,
    /// Sum over the directions that backups need, in b/s: of circuits what they reserve there, of shared backups the rate of
    /// the fastest protected path.
    pub spare_bps: u64,
}

/// What the backups of each entry and group need. A circuit that several groups of an entry use counts for the first.
pub fn spare(plan: &Plan) -> Vec<Spare> {
    // Those of an entry and a group stand together.
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

/// What circuits reserve on each port that they go over, in b/s.
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
