//! Losses that a scenario asks for, at the entry of a port, before its queue.

mod chance;
mod gilbert_elliott;
mod independent;
mod lossy;
mod periodic;
mod scripted;

use optcp_units::registry;

use crate::{DropReason, Packet};

pub use gilbert_elliott::GilbertElliott;
pub use independent::IndependentLoss;
pub use lossy::Lossy;
pub use periodic::PeriodicLoss;
pub use scripted::ScriptedLoss;

/// One way in which a port loses packets, with its state. A port may have several: a packet that
/// one of them loses does not come by the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loss {
    /// See [`ScriptedLoss`].
    Scripted(ScriptedLoss),
    /// See [`IndependentLoss`].
    Independent(IndependentLoss),
    /// See [`PeriodicLoss`].
    Periodic(PeriodicLoss),
    /// See [`GilbertElliott`].
    GilbertElliott(GilbertElliott),
}

impl Loss {
    /// A packet comes by: why it is lost, if it is.
    pub fn take(&mut self, packet: Packet) -> Option<DropReason> {
        let (lost, reason) = match self {
            Loss::Scripted(loss) => (loss.drops(packet), DropReason::Scripted),
            Loss::Independent(loss) => (loss.drops(packet), DropReason::RandomLoss),
            Loss::Periodic(loss) => (loss.drops(packet), DropReason::PeriodicLoss),
            Loss::GilbertElliott(loss) => (loss.drops(packet), DropReason::RandomLoss),
        };
        lost.then_some(reason)
    }
}

registry! {
    /// How a link loses packets.
    pub enum LossKind ("losses") {
        "scripted" => Scripted: "chosen transmissions of chosen segments", "OpTCP";
        "independent" => Independent: "each packet with the same probability, whatever happened to the others", "Bernoulli trials; ns-2, ErrorModel";
        "periodic" => Periodic: "every n-th packet", "Mathis et al. 1997";
        "gilbert-elliott" => GilbertElliott: "in bursts: with one probability while the line is good, with another while it is bad", "Gilbert 1960, Elliott 1963";
    }
}
