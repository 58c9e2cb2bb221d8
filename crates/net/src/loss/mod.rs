//! Losses that a scenario asks for, at the entry of a port, before its queue.

mod independent;
mod periodic;
mod scripted;

use optcp_units::registry;

use crate::{DropReason, Packet};

pub use independent::IndependentLoss;
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
}

impl Loss {
    /// A packet comes by: why it is lost, if it is.
    pub fn take(&mut self, packet: Packet) -> Option<DropReason> {
        let (lost, reason) = match self {
            Loss::Scripted(loss) => (loss.drops(packet), DropReason::Scripted),
            Loss::Independent(loss) => (loss.drops(packet), DropReason::RandomLoss),
            Loss::Periodic(loss) => (loss.drops(packet), DropReason::PeriodicLoss),
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
    }
}

registry! {
    /// Which packets a loss concerns.
    pub enum Lossy ("lossy-packets") {
        "data" => Data: "data segments", "OpTCP";
        "acks" => Acks: "ACKs", "OpTCP";
        "both" => Both: "data segments and ACKs alike", "OpTCP";
    }
}

impl Lossy {
    /// Whether the loss concerns this packet.
    #[must_use]
    pub const fn concerns(self, packet: Packet) -> bool {
        match self {
            Lossy::Data => !packet.is_ack(),
            Lossy::Acks => packet.is_ack(),
            Lossy::Both => true,
        }
    }
}
