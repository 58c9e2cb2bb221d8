//! Burst assembly at the edge of a burst-switched network, and the path of the bursts.
//!
//! # Model
//! An edge node collects packets for one destination, or for one destination and class ([`class`]), until the
//! [`Assembly`] ends the burst. A control packet is sent
//! first; the burst follows on a wavelength after the offset time. Its packets arrive together and in order at the edge
//! node that disassembles it. In between, the whole burst may be lost: at random, or because a burst switch has no free
//! wavelength or a fibre fails ([`crate::switching`]). [`BurstProtection`] determines what is done about failures.
//!
//! # References
//! Ó. González de Dios, I. de Miguel, V. López, "Performance evaluation of TCP over OBS considering background
//! traffic", sections I and IV.A; Qiao and Yoo's just-enough-time signalling for the offset.
//!
//! # Limitations
//! - Random losses are independent of each other and of the burst length.
//! - A burst that finds the wavelength of a path without burst switches busy waits as long as necessary.
//! - Bursts have no header and no guard time. Control packets use no capacity. Only fibres fail.

mod adaptive;
mod class;
mod hybrid;
mod protection;
mod size;
mod timer;

use std::collections::BTreeMap;

use optcp_net::{CLASSES, DropReason, IndependentLoss, Packet, PortId};
use optcp_units::{Bytes, Duration, Rate, Time, registry, states};

use adaptive::History;
use class::Assembling;

use crate::switching::{BurstCore, BurstId, Crossed, Crossing, FibreId};

pub use adaptive::Adaptive;
pub use class::{BurstClass, FlowClasses};
pub use hybrid::Hybrid;
pub use protection::{BurstProtection, BurstRoutes};
pub use size::Size;
pub use timer::Timer;

registry! {
    /// Event with which a burst leaves its assembler.
    pub enum AssemblyKind ("assembly") {
        "timer" => Timer: "a fixed time after its first packet", "obs paper, section I";
        "size" => Size: "with the packet that reaches a number of bytes", "obs paper, section I";
        "hybrid" => Hybrid: "by `timer` or by `size`, whichever comes first", "obs paper, section I";
        "adaptive" => Adaptive: "by a timer that follows the average burst size", "Cao, Li, Chen, Qiao 2002";
    }
}

states! { $
    /// Assembly method with its parameters.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Assembly, each! {
        Timer: Timer,
        Size: Size,
        Hybrid: Hybrid,
        Adaptive: Adaptive,
    }
}

impl Assembly {
    /// Returns the kind of the method.
    #[must_use]
    pub const fn kind(self) -> AssemblyKind {
        match self {
            Assembly::Timer(_) => AssemblyKind::Timer,
            Assembly::Size(_) => AssemblyKind::Size,
            Assembly::Hybrid(_) => AssemblyKind::Hybrid,
            Assembly::Adaptive(_) => AssemblyKind::Adaptive,
        }
    }

    /// Returns the latest departure time of a burst whose first packet arrived at `opened`.
    fn deadline(self, opened: Time, history: History) -> Option<Time> {
        each!(self, assembly => assembly.deadline(opened, history))
    }

    /// Returns whether a burst of `bytes` bytes leaves immediately.
    fn is_full(self, bytes: u64) -> bool {
        each!(self, assembly => assembly.is_full(bytes))
    }
}

/// Path of bursts from one edge node to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BurstPath {
    /// Port that the assembler replaces.
    pub port: PortId,
    /// Rate of bursts.
    pub rate: Rate,
    /// Time by which the control packet precedes its burst.
    pub offset: Duration,
    /// Transmission medium of the path.
    pub carrier: Carrier,
}

/// Transmission medium of a path of bursts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// One wavelength from end to end, with given losses.
    Wavelength {
        /// Propagation delay.
        delay: Duration,
        /// Loss process with one draw per burst.
        loss: IndependentLoss,
    },
    /// Fibres of a burst-switched core; the first of each route starts at this edge node.
    Fibres(BurstRoutes),
}

/// Result of adding a packet to an assembler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gathered {
    /// The packet waits for a deadline that already exists, or for other packets.
    Waits,
    /// The packet opens a burst with this latest departure time.
    Until(Time),
    /// The packet completes the burst of this class, which leaves immediately.
    Full(u8),
}

/// Bit of the second copy in the number of a burst.
const COPY: u32 = 1 << 30;

/// Burst that has left its assembler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Burst {
    /// Number of earlier bursts of the assembler, modulo 2^30; for the second copy of a burst plus 2^30.
    pub number: u32,
    /// Packets in order of arrival. Of two copies in flight, one has the packets, and the other none.
    pub packets: Vec<Packet>,
    /// Position in the core.
    pub crossing: Crossing,
    /// Time of the next event.
    pub due: Time,
    /// Whether a burst of a higher class has taken a wavelength from it.
    pub preempted: bool,
}

impl Burst {
    /// Returns the number that both copies of a burst share.
    #[must_use]
    pub fn number_of_both(&self) -> u32 {
        self.number & !COPY
    }
}

/// Next event of a burst.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Passage {
    /// Its packets arrive at this time.
    Arrives(Time, Burst),
    /// The burst is lost.
    Lost(Burst, DropReason),
    /// The burst with this number is in flight in the core. Its control packet reaches the next node, or the burst its
    /// egress edge node, at this time.
    Continues(Time, u32),
    /// This copy ends, and the other one has arrived or continues.
    Redundant,
}

/// Step of a burst: its next event, and the fibre that it requested with the reserved wavelength.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Next event.
    pub passage: Passage,
    /// Requested fibre and reserved wavelength, in a burst-switched core.
    pub request: Option<(FibreId, Option<u32>)>,
    /// Bursts from which the burst has taken this wavelength.
    pub preempted: Vec<BurstId>,
}

impl From<Passage> for Step {
    /// Returns a step without a request.
    fn from(passage: Passage) -> Self {
        Step { passage, request: None, preempted: Vec::new() }
    }
}

/// Buffers of an edge node for one destination in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembler {
    path: BurstPath,
    /// Bursts being assembled: one per class, or one for all packets.
    assembling: Vec<Assembling>,
    classes: FlowClasses,
    /// Time at which the wavelength will have sent all bursts.
    free_at: Time,
    /// Number of bursts that have left, modulo 2^30.
    departed: u32,
    /// Bursts in the core with a control packet in flight, or with an uncertain fate, by number.
    in_flight: BTreeMap<u32, Burst>,
}

impl Assembler {
    /// Creates an empty assembler with one burst for all packets.
    #[must_use]
    pub fn new(path: BurstPath, assembly: Assembly) -> Self {
        let class = BurstClass { assembly, extra_offset: Duration::ZERO };
        Assembler {
            assembling: vec![Assembling::new(class, path.rate)],
            classes: FlowClasses::default(),
            path,
            free_at: Time::ZERO,
            departed: 0,
            in_flight: BTreeMap::new(),
        }
    }

    /// Returns the assembler with one burst per class.
    #[must_use]
    pub fn with_classes(self, classes: &[BurstClass; CLASSES], of_flows: FlowClasses) -> Self {
        let rate = self.path.rate;
        let assembling = classes.iter().map(|&class| Assembling::new(class, rate)).collect();
        Assembler { assembling, classes: of_flows, ..self }
    }

    /// Adds the classes of more flows, unless all flows have class 0.
    pub fn add_classes(&mut self, more: &[u8]) {
        let known = &mut self.classes.0;
        if !known.is_empty() {
            *known = known.iter().chain(more).copied().collect();
        }
    }

    /// Returns the class of the burst that the packets of each flow join.
    #[must_use]
    pub fn classes(&self) -> &FlowClasses {
        &self.classes
    }

    /// Returns the port that the assembler replaces.
    #[must_use]
    pub fn port(&self) -> PortId {
        self.path.port
    }

    /// Returns the packets of the bursts being assembled, each burst with its latest departure time if there is one.
    pub fn held(&self) -> impl Iterator<Item = (Option<Time>, &[Packet])> {
        self.assembling.iter().map(|burst| (burst.due, &*burst.held))
    }

    /// Returns the bursts in the core with a control packet in flight, or with an uncertain fate.
    pub fn in_flight(&self) -> impl Iterator<Item = &Burst> {
        self.in_flight.values()
    }

    /// Returns whether a burst may overtake an earlier one, as a short one on another wavelength does.
    #[must_use]
    pub fn may_overtake(&self) -> bool {
        matches!(self.path.carrier, Carrier::Fibres(_))
    }

    /// Returns the highest class whose burst has `at` as its latest departure time.
    #[must_use]
    pub fn due_class(&self, at: Time) -> Option<u8> {
        let classes = (0..).zip(&self.assembling);
        classes.filter(|(_, burst)| burst.due == Some(at)).map(|(class, _)| class).last()
    }

    /// Adds a packet.
    pub fn gather(&mut self, now: Time, packet: Packet) -> Gathered {
        let class = self.classes.of(packet.flow());
        self.assembling[usize::from(class)].gather(now, packet, class)
    }

    /// Ends assembly of the current burst of a class and returns it for [`Assembler::advance`], with the second copy if
    /// there is one.
    pub fn send(&mut self, now: Time, class: u8, core: &BurstCore) -> (Burst, Option<Burst>) {
        let assembling = &mut self.assembling[usize::from(class)];
        let (packets, bytes) = assembling.end();
        let extra = assembling.class.extra_offset;
        let number = self.departed;
        self.departed = (self.departed + 1) % COPY;
        let BurstPath { port, offset, .. } = self.path;
        let burst = |number, packets, route: usize, offset| {
            let id = BurstId { port, number, class };
            let crossing =
                Crossing { route, ..Crossing::new(id, now, now + offset + extra, bytes) };
            Burst { number, packets, crossing, due: now, preempted: false }
        };
        let Carrier::Fibres(routes) = &self.path.carrier else {
            return (burst(number, packets, 0, offset), None);
        };
        let on_route = |number, packets, route: usize| {
            burst(number, packets, route, offset.max(core.offset_of(&routes.all[route])))
        };
        let copies = routes.protection == BurstProtection::OnePlusOne;
        let copy = copies.then(|| on_route(number | COPY, Vec::new(), 1));
        (on_route(number, packets, routes.chosen(core, now)), copy)
    }

    /// Adds a second copy to the bursts in flight until the first has made its first step.
    pub fn hold(&mut self, copy: Burst) {
        self.in_flight.insert(copy.number, copy);
    }

    /// A burst of a higher class takes a wavelength from a burst, which may have been lost before.
    pub fn preempt(&mut self, number: u32) {
        if let Some(burst) = self.in_flight.get_mut(&number) {
            burst.preempted = true;
        }
    }

    /// Removes the burst whose next event is now.
    ///
    /// # Panics
    /// Panics if no burst in flight has this number.
    pub fn take(&mut self, number: u32) -> Burst {
        self.in_flight.remove(&number).expect("each burst in flight has one next event")
    }

    /// Advances a burst that leaves now, or whose next event is now.
    pub fn advance(&mut self, burst: Burst, core: &mut BurstCore) -> Step {
        let crossing = burst.crossing;
        match &mut self.path.carrier {
            Carrier::Wavelength { delay, loss } => {
                let transmission = self.path.rate.transmission_time(Bytes::new(crossing.bytes));
                self.free_at = self.free_at.max(crossing.start) + transmission;
                let passage = match burst.packets.first().is_some_and(|&first| loss.drops(first)) {
                    true => Passage::Lost(burst, DropReason::BurstLost),
                    false => Passage::Arrives(self.free_at + *delay, burst),
                };
                passage.into()
            }
            Carrier::Fibres(routes) => {
                let (route, may_fail) = (&routes.all[crossing.route], core.may_fail());
                if may_fail && let Some(harm) = core.harm_to_control(route, &crossing) {
                    return self.lost(burst, harm);
                }
                if crossing.reserved == route.len() {
                    let preempted = burst.preempted.then_some(DropReason::Preempted);
                    return match core.harm_to_burst(route, &crossing).or(preempted) {
                        Some(harm) => self.lost(burst, harm),
                        None => self.arrived(burst),
                    };
                }
                let is_down = |fibre| core.is_known_down(fibre, crossing.control_arrival);
                let turned = match may_fail && is_down(route[crossing.reserved]) {
                    true => routes.around(core, crossing),
                    false => Some(crossing),
                };
                let Some(crossing) = turned else {
                    return self.lost(burst, DropReason::LinkDown);
                };
                let route = &routes.all[crossing.route];
                // Without failures, preemption and copies, a burst with all reservations arrives.
                let copies = routes.protection == BurstProtection::OnePlusOne;
                let is_certain = !may_fail && !core.preempts() && !copies;
                let fibre = route[crossing.reserved];
                let mut preempted = Vec::new();
                let (next, due) = match core.cross(route, crossing, &mut preempted) {
                    Crossed::Blocked => {
                        let step = self.lost(burst, DropReason::Contention);
                        return Step { request: Some((fibre, None)), ..step };
                    }
                    Crossed::Through(next, at) => (next, at),
                    Crossed::Onward(next) => (next, next.control_arrival),
                };
                let request = Some((fibre, next.wavelength));
                if is_certain && next.reserved == route.len() {
                    return Step { passage: Passage::Arrives(due, burst), request, preempted };
                }
                let number = burst.number;
                self.in_flight.insert(number, Burst { crossing: next, due, ..burst });
                Step { passage: Passage::Continues(due, number), request, preempted }
            }
        }
    }

    /// Ends a burst that has arrived at its egress edge node, unless its other copy has arrived before.
    fn arrived(&mut self, mut burst: Burst) -> Step {
        if burst.packets.is_empty()
            && let Some(other) = self.in_flight.get_mut(&(burst.number ^ COPY))
        {
            burst.packets = std::mem::take(&mut other.packets);
        }
        let passage = match burst.packets.is_empty() {
            true => Passage::Redundant,
            false => Passage::Arrives(burst.due, burst),
        };
        passage.into()
    }

    /// Ends a burst that is lost, unless its other copy has arrived or continues.
    fn lost(&mut self, mut burst: Burst, reason: DropReason) -> Step {
        if let Some(other) = self.in_flight.get_mut(&(burst.number ^ COPY)) {
            other.packets.append(&mut burst.packets);
        }
        let passage = match burst.packets.is_empty() {
            true => Passage::Redundant,
            false => Passage::Lost(burst, reason),
        };
        passage.into()
    }
}

#[cfg(test)]
mod failure_tests;
#[cfg(test)]
mod tests;
