//! Which packets are lost.

use optcp_units::registry;

use crate::Packet;

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
