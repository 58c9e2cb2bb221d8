//! Duplicate-ACK suppression (DAS).
//!
//! # Model
//! An out-of-order segment with a larger time to live than the last in-order segment has taken a shorter
//! path. It is assumed to have overtaken others after reversion from a longer backup path, and triggers no
//! duplicate ACK. With the same or a smaller time to live it does.
//!
//! # References
//! Mao, Wen and Yeung, "Enhancing TCP performance in IP fast reroute", IEEE ICC 2012, section II.
//! Its pseudocode lacks two branches: a duplicate ACK with a smaller time to live, or with an equal
//! one if nothing was suppressed. Both follow its text: "the rest of TCP remains unchanged". Its
//! flag `DUP_ACK_SUPPRESS` changes no action and is omitted.
//!
//! # Limitations
//! - The last in-order segment counts as long as the gap exists. If the first segment on the shorter path is
//!   lost, all later ACKs are suppressed until the sender's RTO (the paper's Fig. 6(c) shows otherwise).
//! - Tunnels that hide their hops, and backup paths with the same number of hops, are not detected.
//! - With SACK, ACKs of in-order segments still report segments that overtook them, so that a sender
//!   retransmits anyway. The paper's senders do not use SACK.

use super::seen::Seen;

/// State of duplicate-ACK suppression.
#[derive(Clone, Copy, Debug, Default)]
pub struct Das {
    /// The paper's `last_in_order_ttl`; `None` before the first segment.
    last_in_order_ttl: Option<u8>,
}

impl Das {
    pub(super) fn on_in_order(&mut self, segment: Seen) {
        self.last_in_order_ttl = Some(segment.ttl);
    }

    pub(super) fn answers(self, segment: Seen) -> bool {
        self.last_in_order_ttl.is_none_or(|last| segment.ttl <= last)
    }
}
