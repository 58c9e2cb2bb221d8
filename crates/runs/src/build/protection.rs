//! Protection in a run: the decisions of its schemes as control actions.

use optcp_des::Streams;
use optcp_engine::ResequencerSpec;
use optcp_net::{Action, Control, Hop, Label, Paths, PortConfig, PortId, SelectorId, Side};
use optcp_optical::protection::{
    Decision, Detection, Outage, Reversion, Revert, SetUp, Switch, SwitchAction, SwitchPoint,
    Timing, decisions,
};
use optcp_units::{Duration, Time};

use optcp_scenario::plan::{DetectionPlan, DirectedLink, Plan, ProtectionPlan, Way};
use optcp_scenario::protected::{Protected, TeLink};

use super::bundles::{Entrances, outages_of};
use super::places::{delay_of, outages, port_id};

/// Switchover or reversion in a run, for its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switched {
    /// Time.
    pub at: Time,
    /// Protection, as an index of the file.
    pub protection: usize,
    /// Switching node.
    pub node: String,
    /// `true`: ACKs are switched, otherwise data.
    pub acks: bool,
    /// `true`: switchover to the backup, otherwise reversion.
    pub to_backup: bool,
}

/// Node that puts the copies of packets in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Resequencing {
    /// Protection, as an index of the plan.
    pub(crate) protection: usize,
    /// Node.
    pub(crate) node: String,
    /// `true`: of ACKs, otherwise of data.
    pub(crate) acks: bool,
    /// Its place in the label table, and its wait.
    pub(crate) spec: ResequencerSpec,
}

/// Direction of a protection, with its decisions in a run.
pub(super) struct Segment<'p> {
    index: usize,
    protection: &'p ProtectionPlan,
    protected: Protected,
    acks: bool,
    points: Vec<SwitchPoint>,
    /// Ports of the detour from each switching node.
    ways: Vec<Vec<PortId>>,
    /// Outages of its links.
    working: Vec<Vec<Outage>>,
    decided: Vec<Decision>,
}

/// Entries of a segment in the label table, before any decision.
struct SegmentEntries {
    /// Entry at each node of the route, while packets take the working path.
    entries: Vec<Label>,
    selector: Option<SelectorId>,
    /// Label under which packets of the backup rejoin the path.
    onto: Label,
}

/// Returns the switchovers and reversions of all protected flows, as control actions and for the result.
pub(super) fn protect(
    plan: &Plan,
    ports: &[PortConfig],
    streams: Streams,
    paths: &mut Paths,
    entrances: &mut Entrances,
) -> (Vec<Control>, Vec<Switched>, Vec<Resequencing>) {
    // Install the entries of all segments before computing any switchover: a selector changes existing
    // entries.
    let mut laid: Vec<(Segment<'_>, SegmentEntries)> = Vec::new();
    for (index, protection) in plan.protections.iter().enumerate() {
        // Flows that merge before the switching node share one entry per direction.
        let mut switched: Vec<Label> = Vec::new();
        for &flow in &protection.flows {
            let flow = &plan.flows[flow];
            for direction in [0, 1] {
                let Some(protected) = around(plan, protection, flow.into(), direction) else {
                    continue;
                };
                let entries = entrances.along(plan, flow, direction, paths);
                let head = entries[protected.from];
                if switched.contains(&head) {
                    continue;
                }
                switched.push(head);
                let segment = Segment::new(plan, index, protected, direction, ports, streams);
                let entries = segment.lay(entries, paths);
                laid.push((segment, entries));
            }
        }
    }
    let mut controls = Vec::new();
    let mut switches = Vec::new();
    let mut resequencing = Vec::new();
    for (segment, entries) in &laid {
        let turns = segment.switch(entries, ports, paths, &mut controls);
        resequencing.extend(segment.resequencing(plan, entries, &turns, paths));
        switches.extend(segment.switches(plan));
    }
    (controls, switches, resequencing)
}

/// Returns both directions of the links that are protected for all routed traffic.
pub(super) fn of_links<'p>(
    plan: &'p Plan,
    ports: &[PortConfig],
    streams: Streams,
) -> Vec<Segment<'p>> {
    let links = plan.protections.iter().enumerate();
    let links = links.filter_map(|(index, protection)| Some((index, protection.link.as_ref()?)));
    let both = links.flat_map(|(index, link)| [(index, link, 0), (index, link, 1)]);
    both.filter_map(|(index, link, direction)| {
        let protected = around(plan, &plan.protections[index], link.into(), direction)?;
        Some(Segment::new(plan, index, protected, direction, ports, streams))
    })
    .collect()
}

/// Returns the part of a path, in a direction, that the backup of a protection bypasses.
fn around(
    plan: &Plan,
    protection: &ProtectionPlan,
    way: Way<'_>,
    direction: usize,
) -> Option<Protected> {
    let backup = (&protection.backup[..], &protection.hops[..]);
    Protected::new(&plan.bundles, way, direction, backup, &protection.links)
}

impl<'p> Segment<'p> {
    fn new(
        plan: &'p Plan,
        index: usize,
        protected: Protected,
        direction: usize,
        ports: &[PortConfig],
        streams: Streams,
    ) -> Self {
        let protection = &plan.protections[index];
        let segment = protected.segment(|hop| delay_of(ports, hop), protection.signal_processing);
        let set_up = SetUp { computation: protection.computation };
        let points = protection.scheme.points(&segment, set_up);
        let way_from = |point| -> Vec<PortId> {
            let pieces = protected.pieces(protection.scheme, point);
            pieces.iter().flat_map(|piece| way_over(protection, piece)).collect()
        };
        let ways = points.iter().map(way_from).collect();
        let of_link = |link: &TeLink| match link.bundle {
            Some(bundle) => outages_of(plan, &plan.bundles[bundle], &link.ports),
            None => outages(plan, link.ports[0]),
        };
        let working: Vec<Vec<Outage>> = protected.working().iter().map(of_link).collect();
        let backup: Vec<Vec<Outage>> =
            protected.backup.iter().map(|&hop| outages(plan, hop)).collect();
        let acks = direction == 1;
        let timing = timing(protection, index, acks, streams);
        let decided = match protection.resequencing {
            None => decisions(&points, timing, &protection.commands, &working, &backup),
            Some(_) => Vec::new(),
        };
        Segment { index, protection, protected, acks, points, ways, working, decided }
    }

    /// Returns the port of a separately protected link, or the first port of a bundle.
    pub(super) fn port(&self) -> DirectedLink {
        self.protected.working()[0].ports[0]
    }

    /// Returns the times at which routers consider a separately protected link down: while it fails and its
    /// backup is not used.
    pub(super) fn seen(&self) -> Vec<Outage> {
        let mut used: Vec<Outage> = Vec::new();
        let head = self.decided.iter().filter(|decision| decision.point == 0);
        for Decision { at, switch, .. } in head {
            match (switch, used.last_mut()) {
                (Switch::ToBackup, _) => used.push(Outage { failure: *at, repair: None }),
                (_, Some(last)) => last.repair = Some(*at),
                (_, None) => {}
            }
        }
        without(self.working[0].clone(), &used)
    }

    /// Creates the entries of one path.
    fn lay(&self, entries: Vec<Label>, paths: &mut Paths) -> SegmentEntries {
        let Segment { protection, protected, ways, .. } = self;
        let selects = protection.scheme.bridges() || protection.revert == Revert::Optical;
        let last = ways.last().and_then(|way| way.last()).copied();
        let (selector, onto) = match last.filter(|_| selects) {
            Some(last) => {
                let [before, onto] = [protected.to - 1, protected.to].map(|n| entries[n]);
                let (selector, onto) = paths.select(before, onto, last);
                (Some(selector), onto)
            }
            None => (None, entries[protected.to]),
        };
        SegmentEntries { entries, selector, onto }
    }

    /// Switches packets that arrive at a protected link under `entry` and continue under `onto`.
    pub(super) fn switch_link(
        &self,
        [entry, onto]: [Label; 2],
        ports: &[PortConfig],
        paths: &mut Paths,
        controls: &mut Vec<Control>,
    ) {
        let laid = self.lay(vec![entry, onto], paths);
        self.switch(&laid, ports, paths, controls);
    }

    fn switch(
        &self,
        laid: &SegmentEntries,
        ports: &[PortConfig],
        paths: &mut Paths,
        controls: &mut Vec<Control>,
    ) -> Vec<SwitchRewrites> {
        let points = self.points.iter().zip(&self.ways);
        let turns: Vec<SwitchRewrites> =
            points.map(|(point, way)| self.turning(laid, point, way, ports, paths)).collect();
        for (number, decision) in self.decided.iter().enumerate() {
            let to_backup = decision.switch == Switch::ToBackup;
            let later = &self.decided[number + 1..];
            let next = later.iter().find(|next| next.point == decision.point);
            let until = next.map_or(Time::MAX, |next| next.at);
            let turning = &turns[decision.point];
            controls.extend(turning.actions(decision.at, to_backup, laid.selector, until));
        }
        turns
    }

    /// Returns the node that puts the copies of packets in order, if there is one.
    fn resequencing(
        &self,
        plan: &Plan,
        laid: &SegmentEntries,
        turns: &[SwitchRewrites],
        paths: &mut Paths,
    ) -> Option<Resequencing> {
        let (wait, selector) = (self.protection.resequencing?, laid.selector?);
        let bridge = turns.iter().find_map(|turn| match turn {
            SwitchRewrites::Select { bridge } => Some(*bridge),
            SwitchRewrites::Forward { .. } => None,
        })?;
        paths.merge(selector);
        Some(Resequencing {
            protection: self.index,
            node: self.node(plan, self.points[0].node).to_owned(),
            acks: self.acks,
            spec: ResequencerSpec { bridge, selector, wait },
        })
    }

    /// Returns its decisions for the result.
    pub(super) fn switches(&self, plan: &Plan) -> impl Iterator<Item = Switched> {
        self.decided.iter().map(|decision| Switched {
            at: decision.at,
            protection: self.index,
            node: self.node(plan, self.points[decision.point].node).to_owned(),
            acks: self.acks,
            to_backup: decision.switch == Switch::ToBackup,
        })
    }

    /// Returns the name of a node of the segment, counted from the node that switches packets.
    fn node<'n>(&self, plan: &'n Plan, place: usize) -> &'n str {
        let working = self.protected.working();
        let (of, far) = if place < working.len() { (place, 0) } else { (working.len() - 1, 1) };
        let (link, direction) = working[of].ports[0];
        &plan.nodes[plan.links[link].ends[direction ^ far]]
    }

    /// Returns the changes when a node switches.
    fn turning(
        &self,
        laid: &SegmentEntries,
        point: &SwitchPoint,
        way: &[PortId],
        ports: &[PortConfig],
        paths: &mut Paths,
    ) -> SwitchRewrites {
        let Segment { protection, protected, .. } = self;
        let backup = paths.detour(way, laid.onto);
        let SwitchAction::Forward(_) = point.turn else {
            let head = laid.entries[protected.from];
            let working = paths.hop(head);
            return SwitchRewrites::Select { bridge: paths.bridge(head, [working, backup]) };
        };
        let label = laid.entries[protected.from + point.node];
        let working = paths.hop(label);
        // In the emulated variant, loop-back ends at the node adjacent to the failure; only a reversion of
        // its first node cuts the port.
        let emulated = protection.revert == Revert::OpticalEmulated
            && (!protection.scheme.rejoins_at_head() || point.node == 0);
        let rest = &protected.working()[point.node..];
        let signal = rest
            .iter()
            .fold(Duration::ZERO, |sum, link| sum + link.delay(|hop| delay_of(ports, hop)));
        let cut = way.last().filter(|_| emulated).map(|&port| (port, signal));
        SwitchRewrites::Forward { label, working, backup, cut }
    }
}

/// Returns the ports that the emulation of optical reversions cuts, with the time of each cut.
pub(super) fn emulated_cuts(switched: &[Control]) -> Vec<(PortId, Outage)> {
    let mut cuts: Vec<(PortId, Outage)> = Vec::new();
    let mut in_order: Vec<&Control> = switched.iter().collect();
    in_order.sort_by_key(|control| control.at);
    for &&Control { at, action } in &in_order {
        match action {
            Action::PortDown(port) => cuts.push((port, Outage { failure: at, repair: None })),
            Action::PortUp(up) => {
                let open =
                    cuts.iter_mut().filter(|(port, cut)| *port == up && cut.repair.is_none());
                open.for_each(|(_, cut)| cut.repair = Some(at));
            }
            _ => {}
        }
    }
    cuts
}

/// Returns failure detection and reversion times of one direction of a protection in a run.
fn timing(protection: &ProtectionPlan, index: usize, acks: bool, streams: Streams) -> Timing {
    let detection = match protection.detection {
        DetectionPlan::After(delay) => Detection::Fixed(delay[usize::from(acks)]),
        DetectionPlan::Hello { interval, multiplier } => {
            let way = if acks { "ack" } else { "data" };
            let name = format!("protection/{index}/hello/{way}");
            let phase = Duration::from_ps(streams.stream(&name).below(interval.as_ps()));
            Detection::Hello { interval, multiplier, phase }
        }
    };
    let reversion = match protection.revert {
        Revert::None => Reversion::Never,
        _ => Reversion::After(protection.wait_to_restore),
    };
    Timing { detection, hold_off: protection.hold_off, reversion }
}

/// Returns the outages without the times in `covered`; both are sorted by time.
fn without(outages: Vec<Outage>, covered: &[Outage]) -> Vec<Outage> {
    let ends = |outage: &Outage| outage.repair.unwrap_or(Time::MAX);
    let mut left = Vec::new();
    for outage in outages {
        let mut from = outage.failure;
        for cover in covered.iter().filter(|cover| ends(cover) > outage.failure) {
            if cover.failure >= ends(&outage) {
                break;
            }
            if cover.failure > from {
                left.push(Outage { failure: from, repair: Some(cover.failure) });
            }
            from = ends(cover);
        }
        if from < ends(&outage) {
            left.push(Outage { failure: from, repair: outage.repair });
        }
    }
    left
}

fn ids(hops: &[DirectedLink]) -> Vec<PortId> {
    hops.iter().map(|&hop| port_id(hop)).collect()
}

/// Returns the ports of a piece of a detour: the ports of its reserved circuit, or of the links.
fn way_over(protection: &ProtectionPlan, piece: &[DirectedLink]) -> Vec<PortId> {
    match protection.circuits.get(piece) {
        Some(&circuit) => vec![port_id((circuit, 0))],
        None => ids(piece),
    }
}

/// Changes when a node switches.
enum SwitchRewrites {
    /// The entry changes to another hop. The emulation also cuts a port, with this delay after reversion.
    Forward { label: Label, working: Hop, backup: Hop, cut: Option<(PortId, Duration)> },
    /// The selector behind this bridge changes its input.
    Select { bridge: u32 },
}

impl SwitchRewrites {
    /// Returns the changes of a switching action, which lasts until `until`.
    fn actions(
        &self,
        at: Time,
        to_backup: bool,
        selector: Option<SelectorId>,
        until: Time,
    ) -> Vec<Control> {
        let side = if to_backup { Side::Backup } else { Side::Working };
        let now = |action| Control { at, action };
        match *self {
            SwitchRewrites::Select { .. } => {
                selector.map(|id| now(Action::Select(id, side))).into_iter().collect()
            }
            SwitchRewrites::Forward { label, working, backup, cut } => {
                let hop = if to_backup { backup } else { working };
                let mut actions = vec![now(Action::SetHop(label, hop))];
                actions.extend(selector.map(|id| now(Action::Expect(id, side))));
                actions.extend(cut.and_then(|(port, signal)| match to_backup {
                    true => Some(now(Action::PortUp(port))),
                    // A backup that is in use again by then is not cut.
                    false if at + signal >= until => None,
                    false => Some(Control { at: at + signal, action: Action::PortDown(port) }),
                }));
                actions
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Start and end in seconds; 99 stands for never.
    fn spans(seconds: &[(u64, u64)]) -> Vec<Outage> {
        let at = |s: u64| Time::ZERO + Duration::from_ms(1000 * s);
        let end = |to: u64| (to < 99).then(|| at(to));
        seconds.iter().map(|&(from, to)| Outage { failure: at(from), repair: end(to) }).collect()
    }

    #[test]
    fn protected_periods_are_hidden_from_routing() {
        for (down, covered, seen) in [
            (&[(1, 5)][..], &[][..], &[(1, 5)][..]),
            (&[(1, 5)], &[(2, 99)], &[(1, 2)]),
            (&[(1, 5)], &[(2, 3)], &[(1, 2), (3, 5)]),
            (&[(1, 5), (7, 9)], &[(2, 8)], &[(1, 2), (8, 9)]),
            (&[(1, 99)], &[(2, 3), (4, 6)], &[(1, 2), (3, 4), (6, 99)]),
            (&[(3, 5)], &[(1, 99)], &[]),
        ] {
            assert_eq!(without(spans(down), &spans(covered)), spans(seen), "{down:?} {covered:?}");
        }
    }
}
