//! Selection by a hash of the flow: what routers and switches do today.
//!
//! # Models
//! Equal-cost multipath and link aggregation: all packets of a flow in one direction take one lightpath,
//! flows are spread as the hash does it.
//! # Source
//! RFC 2991 (modulo-N hash); IEEE 802.1AX-2020 (frames of a conversation keep to one link). The hash is
//! the finalizer of SplitMix64 over flow and direction.
//! # Parameters
//! None.
//! # Limits
//! When a lightpath fails nearly all flows change theirs. The hash is the same in every run, and so is how evenly
//! it spreads the flows of one scenario.

use optcp_net::multipath::mix;

use super::{Candidates, Lightpaths, modulo};

#[inline]
pub(super) fn place(candidates: &Candidates<'_>, _: &mut impl Lightpaths) -> usize {
    let packet = candidates.packet;
    modulo(
        candidates.ports,
        mix(u64::from(packet.flow().number()) << 1 | u64::from(packet.is_ack())),
    )
}
