//! Selection by a hash of the flow, as in current routers and switches.
//!
//! # Model
//! Equal-cost multipath and link aggregation: all packets of a flow in one direction use one lightpath, which the hash
//! determines.
//!
//! # References
//! RFC 2991 (modulo-N hash); IEEE 802.1AX-2020 (frames of a conversation keep to one link). The hash is the finalizer
//! of SplitMix64 over flow and direction.
//!
//! # Limitations
//! When a lightpath fails, nearly all flows change theirs. The hash is equal in every run, and so is the balance of the
//! flows of one scenario.

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
