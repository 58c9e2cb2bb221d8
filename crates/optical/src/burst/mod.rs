//! Burst assembly at the edge of a burst-switched network, and the path of the bursts.
//!
//! # Model
//! An edge node collects packets for one destination until its [`Assembly`] ends the burst. A control packet is sent
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
mod hybrid;
mod protection;
mod size;
mod timer;

use std::collections::BTreeMap;

use optcp_net::{DropReason, IndependentLoss, Packet, PortId};
use optcp_units::{Bytes, Duration, Rate, Time, registry, states};

use adaptive::History;

use crate::switching::{BurstCore, Crossed, Crossing, FibreId};

pub use adaptive::Adaptive;
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
    /// The packet completes the burst, which leaves immediately.
    Full,
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
}

/// Buffer of an edge node for one destination in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembler {
    path: BurstPath,
    assembly: Assembly,
    held: Vec<Packet>,
    bytes: u64,
    /// Latest departure time of the burst being assembled.
    due: Option<Time>,
    /// Bursts that have left.
    history: History,
    /// Time at which the wavelength will have sent all bursts.
    free_at: Time,
    /// Number of bursts that have left, modulo 2^30.
    departed: u32,
    /// Bursts in the core with a control packet in flight, or with an uncertain fate, by number.
    in_flight: BTreeMap<u32, Burst>,
}

impl Assembler {
    /// Creates an empty assembler.
    #[must_use]
    pub fn new(path: BurstPath, assembly: Assembly) -> Self {
        Assembler {
            history: History::new(path.rate),
            path,
            assembly,
            held: Vec::new(),
            bytes: 0,
            due: None,
            free_at: Time::ZERO,
            departed: 0,
            in_flight: BTreeMap::new(),
        }
    }

    /// Returns the port that the assembler replaces.
    #[must_use]
    pub fn port(&self) -> PortId {
        self.path.port
    }

    /// Returns the packets of the burst being assembled.
    #[must_use]
    pub fn held(&self) -> &[Packet] {
        &self.held
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

    /// Returns the latest departure time of the burst being assembled, if there is one.
    #[must_use]
    pub fn due(&self) -> Option<Time> {
        self.due
    }

    /// Adds a packet.
    pub fn gather(&mut self, now: Time, packet: Packet) -> Gathered {
        let opens = self.held.is_empty();
        self.held.push(packet);
        self.bytes += u64::from(packet.size());
        if self.assembly.is_full(self.bytes) {
            return Gathered::Full;
        }
        if opens {
            self.due = self.assembly.deadline(now, self.history);
        }
        self.due.filter(|_| opens).map_or(Gathered::Waits, Gathered::Until)
    }

    /// Ends assembly of the current burst and returns it for [`Assembler::advance`], with the second copy if there is one.
    pub fn send(&mut self, now: Time, core: &BurstCore) -> (Burst, Option<Burst>) {
        self.due = None;
        let bytes = std::mem::take(&mut self.bytes);
        self.history.add(bytes);
        let number = self.departed;
        self.departed = (self.departed + 1) % COPY;
        let packets = std::mem::take(&mut self.held);
        let offset = self.path.offset;
        let burst = |number, packets, route: usize, offset| {
            let crossing = Crossing { route, ..Crossing::new(now, now + offset, bytes) };
            Burst { number, packets, crossing, due: now }
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
                Step { passage, request: None }
            }
            Carrier::Fibres(routes) => {
                let (route, may_fail) = (&routes.all[crossing.route], core.may_fail());
                if may_fail && let Some(harm) = core.harm_to_control(route, &crossing) {
                    return self.lost(burst, harm);
                }
                if crossing.reserved == route.len() {
                    return match core.harm_to_burst(route, &crossing) {
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
                // Without failures and copies, a burst with all reservations arrives.
                let is_certain = !may_fail && routes.protection != BurstProtection::OnePlusOne;
                let fibre = route[crossing.reserved];
                let (next, due) = match core.cross(route, crossing) {
                    Crossed::Blocked => {
                        let step = self.lost(burst, DropReason::Contention);
                        return Step { request: Some((fibre, None)), ..step };
                    }
                    Crossed::Through(next, at) => (next, at),
                    Crossed::Onward(next) => (next, next.control_arrival),
                };
                let request = Some((fibre, next.wavelength));
                if is_certain && next.reserved == route.len() {
                    return Step { passage: Passage::Arrives(due, burst), request };
                }
                let number = burst.number;
                self.in_flight.insert(number, Burst { crossing: next, due, ..burst });
                Step { passage: Passage::Continues(due, number), request }
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
        Step { passage, request: None }
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
        Step { passage, request: None }
    }
}

#[cfg(test)]
mod failure_tests;
#[cfg(test)]
mod tests;
