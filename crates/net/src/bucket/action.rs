//! Actions of meters.

use optcp_units::registry;

use super::Colour;
use crate::Packet;

registry! {
    /// Action for packets of one colour.
    pub enum Action ("bucket-actions") {
        "pass" => Pass: "the packet passes with its new colour", "RFC 2698 section 4";
        "mark" => Mark: "the packet gets an ECN mark; packets that are not ECN-capable are dropped", "RFC 3168 section 5";
        "drop" => Drop: "the packet is dropped", "RFC 2475 section 2.3.3";
    }
}

impl Action {
    /// Returns the packet with its new colour, if it changes; `None` if it is dropped.
    pub(super) fn apply(self, packet: Packet, colour: Option<Colour>) -> Option<Packet> {
        let packet = colour.map_or(packet, |colour| packet.coloured(colour));
        match self {
            Action::Pass => Some(packet),
            Action::Mark if packet.marking().takes_marks() => {
                Some(packet.saying(packet.marking().with_ce()))
            }
            Action::Mark | Action::Drop => None,
        }
    }
}
