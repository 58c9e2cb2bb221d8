//! What a backup protects: the part of a flow's way, in one direction, that the backup goes around.

use std::collections::BTreeSet;

use optcp_optical::protection::{Point, Route, Scheme, Segment, SetUp, Turn};
use optcp_units::{Duration, Rate};

use crate::plan::{FlowPlan, Hop, Plan, ProtectionPlan};
use crate::schema::scheme_name;

/// One direction of a flow, and the backup of a part of it.
pub(crate) struct Protected {
    /// The ports that packets pass, from their source to their destination.
    pub(crate) route: Vec<Hop>,
    /// The node of the route, by number, where packets can be switched.
    pub(crate) from: usize,
    /// The node of the route, by number, where the backup joins it again.
    pub(crate) to: usize,
    /// The ports of the backup.
    pub(crate) backup: Vec<Hop>,
    /// Which of the links between `from` and `to` are protected, counted from `from`.
    pub(crate) covered: Vec<usize>,
}

/// The port in the other direction of the same link.
pub(crate) fn reverse((link, direction): Hop) -> Hop {
    (link, 1 - direction)
}

/// Ports in the other direction, last first.
pub(crate) fn reversed(hops: &[Hop]) -> Vec<Hop> {
    hops.iter().rev().map(|&hop| reverse(hop)).collect()
}

impl Protected {
    /// Data (0) or ACKs (1) of a flow; `None` if the backup does not leave its way and join it again.
    /// `links` are the protected ones; none means every link that the backup goes around.
    pub(crate) fn new(
        flow: &FlowPlan,
        direction: usize,
        backup: (&[usize], &[Hop]),
        links: &[usize],
    ) -> Option<Self> {
        let (nodes, hops) = backup;
        let position = |node: Option<&usize>| flow.path.iter().position(|n| Some(n) == node);
        let (first, last) = (position(nodes.first())?, position(nodes.last())?);
        if first >= last {
            return None;
        }
        let end = flow.hops.len();
        let (route, from, to, backup) = match direction {
            0 => (flow.hops.clone(), first, last, hops.to_vec()),
            _ => (reversed(&flow.hops), end - last, end - first, reversed(hops)),
        };
        let is_covered = |&(link, _): &Hop| links.is_empty() || links.contains(&link);
        let between = route[from..to].iter().enumerate();
        let covered = between.filter(|(_, hop)| is_covered(hop)).map(|(index, _)| index).collect();
        Some(Protected { route, from, to, backup, covered })
    }

    /// The ports of the working path that the backup goes around.
    pub(crate) fn working(&self) -> &[Hop] {
        &self.route[self.from..self.to]
    }

    /// The same for the schemes, with what propagation takes.
    pub(crate) fn segment(&self, delay: impl Fn(Hop) -> Duration, processing: Duration) -> Segment {
        let both = |hops: &[Hop]| -> [Vec<Duration>; 2] {
            let upstream = hops.iter().map(|&hop| delay(reverse(hop)));
            [hops.iter().map(|&hop| delay(hop)).collect(), upstream.collect()]
        };
        let [working, working_upstream] = both(self.working());
        let [backup, backup_upstream] = both(&self.backup);
        Segment {
            working,
            working_upstream,
            backup,
            backup_upstream,
            covered: self.covered.clone(),
            processing,
        }
    }

    /// The way around from a point, in pieces that other packets may join between.
    pub(crate) fn pieces(&self, scheme: Scheme, point: &Point) -> Vec<Vec<Hop>> {
        let backup = self.backup.clone();
        match point.turn {
            Turn::Select | Turn::Forward(Route::Backup) => vec![backup],
            Turn::Forward(Route::LoopBack) => {
                let mut back = reversed(&self.working()[..point.node]);
                if scheme == Scheme::LoopBackVariant {
                    return vec![back, backup];
                }
                back.extend(backup);
                vec![back]
            }
        }
    }
}

/// What a protection needs: each direction of a link once, whichever of its flows and faults need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spare {
    /// The protection, by its place in the file.
    pub protection: usize,
    /// The group of flows.
    pub flows: String,
    /// The scheme's name in files.
    pub scheme: &'static str,
    /// Capacity of the protected path: that of its slowest link.
    pub rate: Rate,
    /// Directions of links that the backup goes around.
    pub working: usize,
    /// Directions of links that backups need, with as much capacity on each.
    pub spare: usize,
}

/// What each protection of a plan needs.
pub(crate) fn spare(plan: &Plan) -> Vec<Spare> {
    let of = |(index, protection): (usize, &ProtectionPlan)| {
        let (mut working, mut spare) = (BTreeSet::new(), BTreeSet::new());
        for &flow in &protection.flows {
            for direction in [0, 1] {
                let ways = (&protection.backup[..], &protection.hops[..]);
                let flow = &plan.flows[flow];
                let protected = Protected::new(flow, direction, ways, &protection.links);
                let Some(protected) = protected else { continue };
                working.extend(protected.working().iter().copied());
                let segment = protected.segment(|_| Duration::ZERO, Duration::ZERO);
                let set_up = SetUp { computation: Duration::ZERO };
                for point in protection.scheme.points(&segment, set_up) {
                    spare.extend(protected.pieces(protection.scheme, &point).concat());
                }
            }
        }
        let rate = |&(link, direction): &Hop| plan.links[link].directions[direction].rate;
        Some(Spare {
            protection: index,
            flows: plan.groups[protection.group].clone(),
            scheme: scheme_name(protection.scheme),
            rate: working.iter().map(rate).min_by_key(|rate| rate.bps())?,
            working: working.len(),
            spare: spare.len(),
        })
    };
    plan.protections.iter().enumerate().filter_map(of).collect()
}
