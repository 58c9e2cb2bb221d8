//! What protection does in a run: the decisions of its schemes as control actions.

use optcp_des::Streams;
use optcp_net::{Action, Control, Hop, Label, Paths, PortConfig, PortId, SelectorId, Side};
use optcp_optical::protection::{
    Detection, Outage, Point, Reversion, Revert, SetUp, Switch, Timing, Turn, decisions,
};
use optcp_units::{Duration, Time};

use optcp_scenario::plan::{DetectionPlan, DirectedLink, Plan, ProtectionPlan};
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

/// One direction of a protection on the label table, before any of its decisions.
struct Laid<'p> {
    index: usize,
    protection: &'p ProtectionPlan,
    protected: Protected,
    nodes: Vec<usize>,
    acks: bool,
    /// The entry at each node of the route, as it is while packets take the working path.
    entries: Vec<Label>,
    points: Vec<Point>,
    /// The ports of the way around, from each of them.
    ways: Vec<Vec<PortId>>,
    selector: Option<SelectorId>,
    /// Where packets of the backup come back to the path.
    onto: Label,
}

/// The switches of all protections, as control actions and for the result.
pub(super) fn protect(
    plan: &Plan,
    ports: &[PortConfig],
    streams: Streams,
    paths: &mut Paths,
    entrances: &mut Entrances,
) -> (Vec<Control>, Vec<Switched>) {
    // Everything is laid before anything is switched: a gate changes what an entry does.
    let laid: Vec<Laid<'_>> = plan
        .protections
        .iter()
        .enumerate()
        .flat_map(|(index, protection)| lay(plan, index, protection, ports, paths, entrances))
        .collect();
    let mut controls = Vec::new();
    let mut switches = Vec::new();
    for laid in &laid {
        laid.switch(plan, ports, streams, paths, &mut controls, &mut switches);
    }
    (controls, switches)
}

/// Both directions of a protection, each once for flows that have merged before they can be switched.
fn lay<'p>(
    plan: &'p Plan,
    index: usize,
    protection: &'p ProtectionPlan,
    ports: &[PortConfig],
    paths: &mut Paths,
    entrances: &mut Entrances,
) -> Vec<Laid<'p>> {
    let mut laid: Vec<Laid<'_>> = Vec::new();
    let mut switched: Vec<Label> = Vec::new();
    for &flow in &protection.flows {
        let flow = &plan.flows[flow];
        for direction in [0, 1] {
            let ways = (&protection.backup[..], &protection.hops[..]);
            let protected = Protected::new(&plan.bundles, flow, direction, ways, &protection.links);
            let Some(protected) = protected else { continue };
            let entries = entrances.along(plan, flow, direction, paths);
            let head = entries[protected.from];
            if switched.contains(&head) {
                continue;
            }
            switched.push(head);
            let segment =
                protected.segment(|hop| delay_of(ports, hop), protection.signal_processing);
            let set_up = SetUp { computation: protection.computation };
            let points = protection.scheme.points(&segment, set_up);
            let way = |point| -> Vec<PortId> {
                let pieces = protected.pieces(protection.scheme, point);
                pieces.iter().flat_map(|piece| way_over(protection, piece)).collect()
            };
            let ways: Vec<Vec<PortId>> = points.iter().map(way).collect();
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
            let mut nodes = flow.path.clone();
            if direction == 1 {
                nodes.reverse();
            }
            let acks = direction == 1;
            laid.push(Laid {
                index,
                protection,
                protected,
                nodes,
                acks,
                entries,
                points,
                ways,
                selector,
                onto,
            });
        }
    }
    laid
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

impl Laid<'_> {
    fn switch(
        &self,
        plan: &Plan,
        ports: &[PortConfig],
        streams: Streams,
        paths: &mut Paths,
        controls: &mut Vec<Control>,
        switches: &mut Vec<Switched>,
    ) {
        let of_link = |link: &TeLink| match link.bundle {
            Some(bundle) => outages_of(plan, &plan.bundles[bundle], &link.ports),
            None => outages(plan, link.ports[0]),
        };
        let working: Vec<Vec<Outage>> = self.protected.working().iter().map(of_link).collect();
        let backup: Vec<Vec<Outage>> =
            self.protected.backup.iter().map(|&hop| outages(plan, hop)).collect();
        let decided = decisions(&self.points, self.timing(streams), &working, &backup);
        let points = self.points.iter().zip(&self.ways);
        let turns: Vec<Turning> =
            points.map(|(point, way)| self.turning(point, way, ports, paths)).collect();
        for (number, decision) in decided.iter().enumerate() {
            let (point, turning) = (&self.points[decision.point], &turns[decision.point]);
            let to_backup = decision.switch == Switch::ToBackup;
            let next = decided[number + 1..].iter().find(|next| next.point == decision.point);
            let until = next.map_or(Time::MAX, |next| next.at);
            controls.extend(turning.actions(decision.at, to_backup, self.selector, until));
            switches.push(Switched {
                at: decision.at,
                protection: self.index,
                node: plan.nodes[self.nodes[self.protected.from + point.node]].clone(),
                acks: self.acks,
                to_backup,
            });
        }
    }

    fn timing(&self, streams: Streams) -> Timing {
        let protection = self.protection;
        let detection = match protection.detection {
            DetectionPlan::After(delay) => Detection::Fixed(delay[usize::from(self.acks)]),
            DetectionPlan::Hello { interval, multiplier } => {
                let way = if self.acks { "ack" } else { "data" };
                let name = format!("protection/{}/hello/{way}", self.index);
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

    /// What a point changes when it turns.
    fn turning(
        &self,
        point: &Point,
        way: &[PortId],
        ports: &[PortConfig],
        paths: &mut Paths,
    ) -> Turning {
        let Laid { protection, protected, .. } = self;
        let backup = paths.detour(way, self.onto);
        let Turn::Forward(_) = point.turn else {
            let head = self.entries[protected.from];
            let working = paths.hop(head);
            paths.bridge(head, [working, backup]);
            return Turning::Select;
        };
        let label = self.entries[protected.from + point.node];
        let working = paths.hop(label);
        // The variant's loop ends beside the fault; only where its first node reverts is there a cut.
        let emulated = protection.revert == Revert::OpticalEmulated
            && (!protection.scheme.rejoins_at_head() || point.node == 0);
        let rest = &protected.working()[point.node..];
        let signal = rest
            .iter()
            .fold(Duration::ZERO, |sum, link| sum + link.delay(|hop| delay_of(ports, hop)));
        let cut = way.last().filter(|_| emulated).map(|&port| (port, signal));
        Turning::Forward { label, working, backup, cut }
    }
}

/// What a point changes when it turns.
enum Turning {
    /// An entry leads another way; the emulation also cuts a port, so long after the way back.
    Forward { label: Label, working: Hop, backup: Hop, cut: Option<(PortId, Duration)> },
    /// The selector takes the other side.
    Select,
}

impl Turning {
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
            Turning::Select => {
                selector.map(|id| now(Action::Select(id, side))).into_iter().collect()
            }
            Turning::Forward { label, working, backup, cut } => {
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
