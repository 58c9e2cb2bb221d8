//! Losses that a scenario asks for: most at the entry of a port, before its queue; and what else a line does to packets.

mod chance;
mod corruption;
mod duplication;
mod gilbert_elliott;
mod independent;
mod lossy;
mod periodic;
mod scripted;

use optcp_units::registry;

use crate::{DropReason, Packet};

pub use corruption::{Corruption, Spoils};
pub use duplication::Duplication;
pub use gilbert_elliott::GilbertElliott;
pub use independent::IndependentLoss;
pub use lossy::Lossy;
pub use periodic::PeriodicLoss;
pub use scripted::ScriptedLoss;

/// One way in which a port loses packets, with its state. A port may have several: a packet that
/// one of them loses does not come by the next.
#[derive(Clone, Debug, PartialEq)]
pub enum Loss {
    /// See [`ScriptedLoss`].
    Scripted(ScriptedLoss),
    /// See [`IndependentLoss`].
    Independent(IndependentLoss),
    /// See [`PeriodicLoss`].
    Periodic(PeriodicLoss),
    /// See [`GilbertElliott`].
    GilbertElliott(GilbertElliott),
    /// See [`Corruption`].
    Corruption(Corruption),
    /// See [`Duplication`].
    Duplication(Duplication),
}

impl Loss {
    /// A packet comes by: why it is lost, if it is.
    pub fn take(&mut self, packet: Packet) -> Option<DropReason> {
        let (lost, reason) = match self {
            Loss::Scripted(loss) => (loss.drops(packet), DropReason::Scripted),
            Loss::Independent(loss) => (loss.drops(packet), DropReason::RandomLoss),
            Loss::Periodic(loss) => (loss.drops(packet), DropReason::PeriodicLoss),
            Loss::GilbertElliott(loss) => (loss.drops(packet), DropReason::RandomLoss),
            Loss::Corruption(_) | Loss::Duplication(_) => return None,
        };
        lost.then_some(reason)
    }

    /// A packet has found a place in the queue: whether a copy of it comes behind it.
    pub fn doubles(&mut self, packet: Packet) -> bool {
        match self {
            Loss::Duplication(duplication) => duplication.doubles(packet),
            _ => false,
        }
    }

    /// The last bit of a packet has been sent: whether the line has spoilt it.
    pub fn spoils(&mut self, packet: Packet) -> bool {
        match self {
            Loss::Corruption(corruption) => corruption.spoils(packet),
            _ => false,
        }
    }

    /// Whether all that it does is to lose packets before the queue.
    #[must_use]
    pub const fn is_before_queue(&self) -> bool {
        !matches!(self, Loss::Corruption(_) | Loss::Duplication(_))
    }
}

registry! {
    /// How a link loses packets.
    pub enum LossKind ("losses") {
        "scripted" => Scripted: "chosen transmissions of chosen segments", "OpTCP";
        "independent" => Independent: "each packet with the same probability, whatever happened to the others", "Bernoulli trials; ns-2, ErrorModel";
        "periodic" => Periodic: "every n-th packet", "Mathis et al. 1997";
        "gilbert-elliott" => GilbertElliott: "in bursts: with one probability while the line is good, with another while it is bad", "Gilbert 1960, Elliott 1963";
        "corruption" => Corruption: "spoilt on the line by bit errors, behind the queue", "binary symmetric channel";
        "duplication" => Duplication: "none: packets come twice", "RFC 5560; Linux netem, duplicate";
    }
}
