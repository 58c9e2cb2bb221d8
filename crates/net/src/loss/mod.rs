//! Loss processes of a port, most of them before its queue, and other impairments of the line.

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

pub use chance::Chance;
pub use corruption::{Corruption, Spoils};
pub use duplication::Duplication;
pub use gilbert_elliott::GilbertElliott;
pub use independent::IndependentLoss;
pub use lossy::Lossy;
pub use periodic::PeriodicLoss;
pub use scripted::ScriptedLoss;

/// Loss process of a port with its state. A port may have several; a packet lost by one is not offered to the next.
#[derive(Clone, Debug, PartialEq)]
pub enum Loss {
    /// Loss by [`ScriptedLoss`].
    Scripted(ScriptedLoss),
    /// Loss by [`IndependentLoss`].
    Independent(IndependentLoss),
    /// Loss by [`PeriodicLoss`].
    Periodic(PeriodicLoss),
    /// Loss by [`GilbertElliott`].
    GilbertElliott(GilbertElliott),
    /// Loss by [`Corruption`].
    Corruption(Corruption),
    /// Duplicates by [`Duplication`].
    Duplication(Duplication),
    /// Loss by [`IndependentLoss`] with a probability that schedules change.
    Scheduled(IndependentLoss),
}

impl Loss {
    /// Applies the process to an arriving packet. Returns the reason for a loss.
    pub fn take(&mut self, packet: Packet) -> Option<DropReason> {
        let (lost, reason) = match self {
            Loss::Scripted(loss) => (loss.drops(packet), DropReason::Scripted),
            Loss::Independent(loss) => (loss.drops(packet), DropReason::RandomLoss),
            Loss::Periodic(loss) => (loss.drops(packet), DropReason::PeriodicLoss),
            Loss::GilbertElliott(loss) => (loss.drops(packet), DropReason::RandomLoss),
            Loss::Scheduled(loss) => (loss.drops(packet), DropReason::RandomLoss),
            Loss::Corruption(_) | Loss::Duplication(_) => return None,
        };
        lost.then_some(reason)
    }

    /// Returns whether an accepted packet is duplicated.
    pub fn duplicates(&mut self, packet: Packet) -> bool {
        match self {
            Loss::Duplication(duplication) => duplication.duplicates(packet),
            _ => false,
        }
    }

    /// Returns whether the line corrupts a transmitted packet.
    pub fn corrupts(&mut self, packet: Packet) -> bool {
        match self {
            Loss::Corruption(corruption) => corruption.corrupts(packet),
            _ => false,
        }
    }

    /// Sets the probability if schedules change it.
    pub(crate) fn set_scheduled(&mut self, chance: Chance) {
        if let Loss::Scheduled(loss) = self {
            loss.set_chance(chance);
        }
    }

    /// Returns whether the process only drops packets before the queue.
    #[must_use]
    pub const fn is_before_queue(&self) -> bool {
        !matches!(self, Loss::Corruption(_) | Loss::Duplication(_))
    }
}

registry! {
    /// Method by which a link loses packets.
    pub enum LossKind ("losses") {
        "scripted" => Scripted: "chosen transmissions of chosen segments", "OpTCP";
        "independent" => Independent: "each packet with the same probability, independently of the others", "Bernoulli trials; ns-2, ErrorModel";
        "periodic" => Periodic: "every n-th packet", "Mathis et al. 1997";
        "gilbert-elliott" => GilbertElliott: "in bursts: one probability while the line is good, another while it is bad", "Gilbert 1960, Elliott 1963";
        "corruption" => Corruption: "bit errors on the line, after the queue", "binary symmetric channel";
        "duplication" => Duplication: "none: packets are duplicated", "RFC 5560; Linux netem, duplicate";
    }
}
