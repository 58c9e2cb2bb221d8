//! Burst assembly at the edge of a network that switches bursts, and the path on which they are lost.
//!
//! # Models
//! An edge node gathers packets to one destination; how long is the [`Assembly`]. A control packet goes
//! ahead; after the offset time the burst follows on a wavelength, and its packets arrive together, in their
//! order, at the edge node where it is taken apart. In between it may be lost with everything in it.
//! # Source
//! Ó. González de Dios, I. de Miguel, V. López, "Performance evaluation of TCP over OBS considering
//! background traffic", sections I and IV.A; Qiao and Yoo's just-enough-time signalling for the offset.
//! # Parameters
//! The assembly; the offset time; the wavelength's rate and the path's propagation delay; the probability
//! that a burst is lost.
//! # Limits
//! Losses are independent of each other and of a burst's length: contention inside the network is not
//! modelled. A burst that finds the wavelength busy waits, as long as it takes. Bursts have no header and no
//! guard time. The control packet takes no capacity. The path does not fail.

mod hybrid;
mod size;
mod timer;

use optcp_net::{IndependentLoss, Packet, PortId};
use optcp_units::{Bytes, Duration, Rate, Time};

pub use hybrid::Hybrid;
pub use size::Size;
pub use timer::Timer;

/// Declares the ways to assemble bursts: one line each.
macro_rules! assemblies {
    ($($(#[$doc:meta])* $Kind:ident = $text:literal,)+) => {
        /// When a burst leaves.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Assembly {
            $($(#[$doc])* $Kind($Kind),)+
        }

        impl Assembly {
            /// Its name in files.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Assembly::$Kind(_) => $text),+ }
            }

            /// When a burst that is opened now leaves at the latest.
            fn deadline(self, opened: Time) -> Option<Time> {
                match self { $(Assembly::$Kind(assembly) => assembly.deadline(opened)),+ }
            }

            /// Whether a burst of so many bytes leaves at once.
            fn is_full(self, bytes: u64) -> bool {
                match self { $(Assembly::$Kind(assembly) => assembly.is_full(bytes)),+ }
            }
        }
    };
}

assemblies! {
    /// A time after the packet that opened it.
    Timer = "timer",
    /// With the packet that fills it.
    Size = "size",
    /// Whichever comes first.
    Hybrid = "hybrid",
}

/// The path of bursts from one edge node to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BurstPath {
    /// The port in whose place it stands.
    pub port: PortId,
    /// The rate of the wavelength.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// How long the control packet goes ahead of its burst.
    pub offset: Duration,
    /// Loses each burst with the same probability; one draw a burst.
    pub loss: IndependentLoss,
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

/// A burst that leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Burst {
    /// What it carries, in the order in which it came.
    pub packets: Vec<Packet>,
    /// The sum of the packets' sizes.
    pub bytes: u64,
    /// When its packets arrive; `None` if it is lost.
    pub arrival: Option<Time>,
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
}

impl Assembler {
    /// An empty one.
    #[must_use]
    pub fn new(path: BurstPath, assembly: Assembly) -> Self {
        Assembler { path, assembly, held: Vec::new(), bytes: 0, due: None, free_at: Time::ZERO }
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

    /// When the burst that is being gathered leaves at the latest, if anything sets an end.
    #[must_use]
    pub fn due(&self) -> Option<Time> {
        self.due
    }

    /// A packet comes.
    pub fn gather(&mut self, now: Time, packet: Packet) -> Gathered {
        let opens = self.held.is_empty();
        self.held.push(packet);
        self.bytes += u64::from(packet.size);
        if self.assembly.is_full(self.bytes) {
            return Gathered::Full;
        }
        if opens {
            self.due = self.assembly.deadline(now);
        }
        self.due.filter(|_| opens).map_or(Gathered::Waits, Gathered::Until)
    }

    /// What has been gathered leaves now.
    pub fn send(&mut self, now: Time) -> Burst {
        let packets = std::mem::take(&mut self.held);
        let bytes = std::mem::take(&mut self.bytes);
        self.due = None;
        let sent = self.free_at.max(now + self.path.offset)
            + self.path.rate.transmission_time(Bytes::new(bytes));
        self.free_at = sent;
        let lost = packets.first().is_some_and(|&first| self.path.loss.drops(first));
        Burst { packets, bytes, arrival: (!lost).then_some(sent + self.path.delay) }
    }
}

#[cfg(test)]
mod tests;
