//! Burst assembly at the edge of a burst-switched network, and the path of the bursts.
//!
//! # Model
//! An edge node collects packets for one destination until its [`Assembly`] ends the burst. A control packet is sent
//! first; the burst follows on a wavelength after the offset time. Its packets arrive together and in order at the edge
//! node that disassembles it. In between, the whole burst may be lost: at random, or because a burst switch has no free
//! wavelength ([`crate::switching`]).
//!
//! # References
//! Ó. González de Dios, I. de Miguel, V. López, "Performance evaluation of TCP over OBS considering background
//! traffic", sections I and IV.A; Qiao and Yoo's just-enough-time signalling for the offset.
//!
//! # Limitations
//! - Random losses are independent of each other and of the burst length.
//! - A burst that finds the wavelength of a path without burst switches busy waits as long as necessary.
//! - Bursts have no header and no guard time. Control packets use no capacity. Paths do not fail.

mod hybrid;
mod size;
mod timer;

use std::collections::BTreeMap;

use optcp_net::{IndependentLoss, Packet, PortId};
use optcp_units::{Bytes, Duration, Rate, Time, registry, states};

use crate::switching::{BurstCore, Crossed, Crossing, FibreId};

pub use hybrid::Hybrid;
pub use size::Size;
pub use timer::Timer;

registry! {
    /// Event with which a burst leaves its assembler.
    pub enum AssemblyKind ("assembly") {
        "timer" => Timer: "a fixed time after its first packet", "obs paper, section I";
        "size" => Size: "with the packet that reaches a number of bytes", "obs paper, section I";
        "hybrid" => Hybrid: "by `timer` or by `size`, whichever comes first", "obs paper, section I";
    }
}

states! { $
    /// Assembly method with its parameters.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Assembly, each! {
        Timer: Timer,
        Size: Size,
        Hybrid: Hybrid,
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
        }
    }

    /// Returns the latest departure time of a burst whose first packet arrived at `opened`.
    fn deadline(self, opened: Time) -> Option<Time> {
        each!(self, assembly => assembly.deadline(opened))
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
        /// Rate.
        rate: Rate,
        /// Propagation delay.
        delay: Duration,
        /// Loss process with one draw per burst.
        loss: IndependentLoss,
    },
    /// Fibres of a burst-switched core, at least one; the first starts at this edge node.
    Fibres(Vec<FibreId>),
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

/// Burst that has left its assembler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Burst {
    /// Number of earlier bursts of the assembler, modulo 2^31.
    pub number: u32,
    /// Packets in order of arrival.
    pub packets: Vec<Packet>,
    /// Position in the core.
    pub crossing: Crossing,
}

/// Next event of a burst.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Passage {
    /// Its packets arrive at this time.
    Arrives(Time, Burst),
    /// The burst is lost.
    Lost(Burst),
    /// The burst with this number is in flight in the core. Its control packet reaches the next node at this time.
    ControlArrives(Time, u32),
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
    /// Time at which the wavelength will have sent all bursts.
    free_at: Time,
    /// Number of bursts that have left, modulo 2^31.
    departed: u32,
    /// Bursts in the core with a control packet in flight, by number.
    in_flight: BTreeMap<u32, Burst>,
}

impl Assembler {
    /// Creates an empty assembler.
    #[must_use]
    pub fn new(path: BurstPath, assembly: Assembly) -> Self {
        Assembler {
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

    /// Returns the bursts in the core with a control packet in flight.
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
            self.due = self.assembly.deadline(now);
        }
        self.due.filter(|_| opens).map_or(Gathered::Waits, Gathered::Until)
    }

    /// Ends assembly of the current burst and returns it for [`Assembler::advance`].
    pub fn send(&mut self, now: Time) -> Burst {
        self.due = None;
        let crossing = Crossing {
            reserved: 0,
            wavelength: None,
            control_arrival: now,
            start: now + self.path.offset,
            bytes: std::mem::take(&mut self.bytes),
        };
        let number = self.departed;
        self.departed = (self.departed + 1) % (1 << 31);
        Burst { number, packets: std::mem::take(&mut self.held), crossing }
    }

    /// Removes the burst whose control packet reaches a node now.
    ///
    /// # Panics
    /// Panics if no burst in flight has this number.
    pub fn take(&mut self, number: u32) -> Burst {
        self.in_flight.remove(&number).expect("each burst in flight has one control packet")
    }

    /// Advances a burst that leaves now, or whose control packet reaches a node now.
    pub fn advance(&mut self, burst: Burst, core: &mut BurstCore) -> Step {
        let crossing = burst.crossing;
        match &mut self.path.carrier {
            Carrier::Wavelength { rate, delay, loss } => {
                let transmission = rate.transmission_time(Bytes::new(crossing.bytes));
                self.free_at = self.free_at.max(crossing.start) + transmission;
                let passage = match burst.packets.first().is_some_and(|&first| loss.drops(first)) {
                    true => Passage::Lost(burst),
                    false => Passage::Arrives(self.free_at + *delay, burst),
                };
                Step { passage, request: None }
            }
            Carrier::Fibres(route) => {
                let (passage, wavelength) = match core.cross(route, crossing) {
                    Crossed::Blocked => (Passage::Lost(burst), None),
                    Crossed::Through(wavelength, at) => {
                        (Passage::Arrives(at, burst), Some(wavelength))
                    }
                    Crossed::Onward(crossing) => {
                        let number = burst.number;
                        self.in_flight.insert(number, Burst { crossing, ..burst });
                        (
                            Passage::ControlArrives(crossing.control_arrival, number),
                            crossing.wavelength,
                        )
                    }
                };
                Step { passage, request: Some((route[crossing.reserved], wavelength)) }
            }
        }
    }
}

#[cfg(test)]
mod tests;
