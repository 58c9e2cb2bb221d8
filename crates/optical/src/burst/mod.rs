//! Burst assembly at the edge of a network that switches bursts, and the path on which they are lost.
//!
//! # Models
//! An edge node gathers packets to one destination; how long is the [`Assembly`]. A control packet goes
//! ahead; after the offset time the burst follows on a wavelength, and its packets arrive together, in their
//! order, at the edge node where it is taken apart. In between it may be lost with everything in it: with a
//! probability, or because a burst switch has no wavelength for it ([`crate::switching`]).
//! # Source
//! Ó. González de Dios, I. de Miguel, V. López, "Performance evaluation of TCP over OBS considering
//! background traffic", sections I and IV.A; Qiao and Yoo's just-enough-time signalling for the offset.
//! # Parameters
//! The assembly; the offset time; the fibres of the route, or the wavelength's rate, the path's propagation
//! delay, and the probability that a burst is lost.
//! # Limits
//! Losses by probability are independent of each other and of a burst's length; a burst that finds the
//! wavelength of such a path busy waits, as long as it takes. Bursts have no header and no guard time. The
//! control packet takes no capacity. The path does not fail.

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
    /// When a burst leaves its assembler.
    pub enum AssemblyKind ("assembly") {
        "timer" => Timer: "a time after the packet that opened it came", "obs paper, section I";
        "size" => Size: "with the packet that brings it to a number of bytes", "obs paper, section I";
        "hybrid" => Hybrid: "by `timer` or by `size`, whichever comes first", "obs paper, section I";
    }
}

states! { $
    /// When a burst leaves.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Assembly, each! {
        Timer: Timer,
        Size: Size,
        Hybrid: Hybrid,
    }
}

impl Assembly {
    /// Which it is.
    #[must_use]
    pub const fn kind(self) -> AssemblyKind {
        match self {
            Assembly::Timer(_) => AssemblyKind::Timer,
            Assembly::Size(_) => AssemblyKind::Size,
            Assembly::Hybrid(_) => AssemblyKind::Hybrid,
        }
    }

    /// When a burst that is opened now leaves at the latest.
    fn deadline(self, opened: Time) -> Option<Time> {
        each!(self, assembly => assembly.deadline(opened))
    }

    /// Whether a burst of so many bytes leaves at once.
    fn is_full(self, bytes: u64) -> bool {
        each!(self, assembly => assembly.is_full(bytes))
    }
}

/// The path of bursts from one edge node to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BurstPath {
    /// The port in whose place it stands.
    pub port: PortId,
    /// How long the control packet goes ahead of its burst.
    pub offset: Duration,
    /// What the path is made of.
    pub carrier: Carrier,
}

/// What a path of bursts is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// One wavelength from end to end, and losses as they are given.
    Wavelength {
        /// Its rate.
        rate: Rate,
        /// Propagation delay.
        delay: Duration,
        /// Loses each burst with the same probability; one draw a burst.
        loss: IndependentLoss,
    },
    /// Fibres of a core of burst switches, one at least, the first one at this edge node.
    Fibres(Vec<FibreId>),
}

/// What an assembler does with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gathered {
    /// It waits with others, or until others come.
    Waits,
    /// It opens a burst that leaves at this instant at the latest.
    Until(Time),
    /// It makes the burst leave at once.
    Full,
}

/// A burst that has left its assembler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Burst {
    /// How many have left the assembler before it, modulo 2^31.
    pub number: u32,
    /// What it carries, in the order in which it came.
    pub packets: Vec<Packet>,
    /// Where it is.
    pub crossing: Crossing,
}

/// What becomes of a burst next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Passage {
    /// Its packets arrive at this instant.
    Arrives(Time, Burst),
    /// It is lost.
    Lost(Burst),
    /// The burst of this number is under way in the core; its control packet comes to the next node at this
    /// instant.
    Asks(Time, u32),
}

/// A step of a burst: what becomes of it, and the fibre that it asked for, with the wavelength that it got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What becomes of it.
    pub passage: Passage,
    /// In a core of burst switches.
    pub asked: Option<(FibreId, Option<u32>)>,
}

/// The edge node's buffer for one destination, in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembler {
    path: BurstPath,
    assembly: Assembly,
    held: Vec<Packet>,
    bytes: u64,
    /// When the burst that is being gathered leaves at the latest.
    due: Option<Time>,
    /// When the wavelength will have sent every burst that has left.
    free_at: Time,
    /// How many bursts have left, modulo 2^31.
    left: u32,
    /// Bursts in a core whose control packets are under way, by number.
    under_way: BTreeMap<u32, Burst>,
}

impl Assembler {
    /// An empty one.
    #[must_use]
    pub fn new(path: BurstPath, assembly: Assembly) -> Self {
        Assembler {
            path,
            assembly,
            held: Vec::new(),
            bytes: 0,
            due: None,
            free_at: Time::ZERO,
            left: 0,
            under_way: BTreeMap::new(),
        }
    }

    /// The port in whose place it stands.
    #[must_use]
    pub fn port(&self) -> PortId {
        self.path.port
    }

    /// The packets that wait in it.
    #[must_use]
    pub fn held(&self) -> &[Packet] {
        &self.held
    }

    /// Bursts whose control packets are under way in a core.
    pub fn under_way(&self) -> impl Iterator<Item = &Burst> {
        self.under_way.values()
    }

    /// Whether a burst may arrive before one that left earlier: a short one on another wavelength.
    #[must_use]
    pub fn may_overtake(&self) -> bool {
        matches!(self.path.carrier, Carrier::Fibres(_))
    }

    /// When the burst that is being gathered leaves at the latest, if anything sets an end.
    #[must_use]
    pub fn due(&self) -> Option<Time> {
        self.due
    }

    /// A packet comes.
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

    /// What has been gathered leaves now; [`Assembler::advance`] takes it on.
    pub fn send(&mut self, now: Time) -> Burst {
        self.due = None;
        let crossing = Crossing {
            reserved: 0,
            wavelength: None,
            asks_at: now,
            start: now + self.path.offset,
            bytes: std::mem::take(&mut self.bytes),
        };
        let number = self.left;
        self.left = (self.left + 1) % (1 << 31);
        Burst { number, packets: std::mem::take(&mut self.held), crossing }
    }

    /// The burst whose control packet comes to a node now.
    ///
    /// # Panics
    /// If there is none with this number.
    pub fn take(&mut self, number: u32) -> Burst {
        self.under_way.remove(&number).expect("a burst under way has one control packet")
    }

    /// What becomes of a burst that leaves now, or whose control packet comes to a node now.
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
                Step { passage, asked: None }
            }
            Carrier::Fibres(route) => {
                let (passage, wavelength) = match core.cross(route, crossing) {
                    Crossed::Blocked => (Passage::Lost(burst), None),
                    Crossed::Through(wavelength, at) => {
                        (Passage::Arrives(at, burst), Some(wavelength))
                    }
                    Crossed::Onward(crossing) => {
                        let number = burst.number;
                        self.under_way.insert(number, Burst { crossing, ..burst });
                        (Passage::Asks(crossing.asks_at, number), crossing.wavelength)
                    }
                };
                Step { passage, asked: Some((route[crossing.reserved], wavelength)) }
            }
        }
    }
}

#[cfg(test)]
mod tests;
