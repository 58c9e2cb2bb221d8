//! What protection does in a run: the decisions of its schemes as control actions.

use optcp_des::Streams;
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

/// A switch of a run, for its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switched {
    /// When.
    pub at: Time,
    /// The protection, by its place in the file.
    pub protection: usize,
    /// The node that switches.
    pub node: String,
    /// Whether it switches ACKs; data otherwise.
    pub acks: bool,
    /// Whether it switches to the backup; to the working path otherwise.
    pub to_backup: bool,
}

/// One direction of a protection, and what is decided about it in a run.
pub(super) struct Segment<'p> {
    index: usize,
    protection: &'p ProtectionPlan,
    protected: Protected,
    acks: bool,
    points: Vec<SwitchPoint>,
    /// The ports of the way around, from each of them.
    ways: Vec<Vec<PortId>>,
    /// When its links are down.
    working: Vec<Vec<Outage>>,
    decided: Vec<Decision>,
}

/// The entries of a segment on the label table, before any of its decisions.
struct SegmentEntries {
    /// At each node of the route, as they are while packets take the working path.
    entries: Vec<Label>,
    selector: Option<SelectorId>,
    /// Where packets of the backup come back to the path.
    onto: Label,
}

/// The switches of all protections of flows, as control actions and for the result.
pub(super) fn protect(
    plan: &Plan,
    ports: &[PortConfig],
    streams: Streams,
    paths: &mut Paths,
    entrances: &mut Entrances,
) -> (Vec<Control>, Vec<Switched>) {
    // Everything is laid before anything is switched: a gate changes what an entry does.
    let mut laid: Vec<(Segment<'_>, SegmentEntries)> = Vec::new();
    for (index, protection) in plan.protections.iter().enumerate() {
        // Each direction once for flows that have merged before they can be switched.
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
    for (segment, entries) in &laid {
        segment.switch(entries, ports, paths, &mut controls);
        switches.extend(segment.switches(plan));
    }
    (controls, switches)
}

/// Both directions of the links that are protected for all that routers send over them.
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

/// The part of a way, in a direction, that the backup of a protection goes around.
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
        let decided = decisions(&points, timing, &working, &backup);
        Segment { index, protection, protected, acks, points, ways, working, decided }
    }

    /// The port of a link, or the first one of a bundle, that is protected by itself.
    pub(super) fn port(&self) -> DirectedLink {
        self.protected.working()[0].ports[0]
    }

    /// When routers find the link down that is protected by itself: while it does not work and its backup is not used.
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

    /// Lays the entries of one path.
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

    /// Switches packets that come to a protected link under `entry`, and are under `onto` behind it.
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
    ) {
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
    }

    /// Its decisions for the result.
    pub(super) fn switches(&self, plan: &Plan) -> impl Iterator<Item = Switched> {
        self.decided.iter().map(|decision| Switched {
            at: decision.at,
            protection: self.index,
            node: self.node(plan, self.points[decision.point].node).to_owned(),
            acks: self.acks,
            to_backup: decision.switch == Switch::ToBackup,
        })
    }

    /// A node of it, counted from where packets can be switched.
    fn node<'n>(&self, plan: &'n Plan, place: usize) -> &'n str {
        let working = self.protected.working();
        let (of, far) = if place < working.len() { (place, 0) } else { (working.len() - 1, 1) };
        let (link, direction) = working[of].ports[0];
        &plan.nodes[plan.links[link].ends[direction ^ far]]
    }

    /// What a point changes when it turns.
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
            paths.bridge(head, [working, backup]);
            return SwitchRewrites::Select;
        };
        let label = laid.entries[protected.from + point.node];
        let working = paths.hop(label);
        // The variant's loop ends beside the fault; only where its first node reverts is there a cut.
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

/// How one direction of a protection knows of failures in a run, and when it goes back.
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

/// Outages without the times that others cover, both in order of time.
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

/// The ports of a piece of a way: its own circuit, or those of the links.
fn way_over(protection: &ProtectionPlan, piece: &[DirectedLink]) -> Vec<PortId> {
    match protection.circuits.get(piece) {
        Some(&circuit) => vec![port_id((circuit, 0))],
        None => ids(piece),
    }
}

/// What a point changes when it turns.
enum SwitchRewrites {
    /// An entry leads another way; the emulation also cuts a port, so long after the way back.
    Forward { label: Label, working: Hop, backup: Hop, cut: Option<(PortId, Duration)> },
    /// The selector takes the other side.
    Select,
}

impl SwitchRewrites {
    /// What changes at an instant, when the point turns; `until` it turns again.
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
            SwitchRewrites::Select => {
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

    /// Seconds from and to, 99 for never.
    fn spans(seconds: &[(u64, u64)]) -> Vec<Outage> {
        let at = |s: u64| Time::ZERO + Duration::from_ms(1000 * s);
        let end = |to: u64| (to < 99).then(|| at(to));
        seconds.iter().map(|&(from, to)| Outage { failure: at(from), repair: end(to) }).collect()
    }

    #[test]
    fn what_a_backup_covers_is_not_seen() {
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
