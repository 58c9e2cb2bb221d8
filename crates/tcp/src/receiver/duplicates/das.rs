//! Duplicate-ACK suppression.
//!
//! # Models
//! A segment beyond a hole whose time to live is greater than that of the last segment in order has
//! come a shorter way: it is taken to have overtaken the others after a switch back from a longer backup
//! path, and brings no duplicate ACK. With the same or a smaller time to live it brings one as usual.
//! # Source
//! Mao, Wen and Yeung, "Enhancing TCP performance in IP fast reroute", IEEE ICC 2012, section II. Its
//! pseudocode has two branches too few: what becomes of a duplicate ACK when the time to live is equal
//! and nothing has been suppressed, and when it is smaller. Both are read as its text asks: "the rest of
//! TCP remains unchanged". Its flag `DUP_ACK_SUPPRESS` is left out: it changes no action.
//! # Parameters
//! None.
//! # Limits
//! The last segment in order decides for as long as the hole lasts. If the first segment on the shorter
//! path is lost, everything behind it is suppressed and the hole waits for the sender's timer (the
//! paper's Fig. 6(c) says otherwise). Tunnels that hide their hops, and backup paths of equally many
//! hops, are not seen. With SACK the ACKs of segments in order still report those that overtook them, so
//! that a sender retransmits all the same; the paper has senders without SACK.

use super::seen::Seen;

/// See the module's text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Das {
    /// The paper's `last_in_order_ttl`; none before the first segment.
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
