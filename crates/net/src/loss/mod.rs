//! Losses that a scenario asks for, at the entry of a port, before its queue.

mod independent;
mod periodic;
mod scripted;

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

/// Which packets a loss concerns; the others come by unseen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lossy {
    /// Data segments.
    Data,
    /// ACKs.
    Acks,
    /// Both alike.
    Both,
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
