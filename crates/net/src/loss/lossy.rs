//! Selection of packets that a loss process affects.

use optcp_units::registry;

use crate::Packet;

registry! {
    /// Packets that a loss process affects.
    pub enum Lossy ("lossy-packets") {
        "data" => Data: "data segments", "OpTCP";
        "acks" => Acks: "ACKs", "OpTCP";
        "both" => Both: "data segments and ACKs alike", "OpTCP";
    }
}

impl Lossy {
    /// Returns whether the loss process affects this packet.
    #[must_use]
    pub const fn affects(self, packet: Packet) -> bool {
        match self {
            Lossy::Data => !packet.is_ack(),
            Lossy::Acks => packet.is_ack(),
            Lossy::Both => true,
        }
    }
}
