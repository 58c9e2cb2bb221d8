//! Token buckets in the plan.

use optcp_net::{BucketAction, BucketPlace};
use optcp_routing::DirectedLink;
use optcp_units::{Bytes, Rate};

/// Token bucket of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketPlan {
    /// Port.
    pub hop: DirectedLink,
    /// Rate and burst.
    pub bucket: (Rate, Bytes),
    /// Peak rate and burst, if any; always for a marker.
    pub peak: Option<(Rate, Bytes)>,
    /// Effect on packets.
    pub effect: BucketEffect,
}

/// Effect of a token bucket on packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BucketEffect {
    /// Policer.
    Policer {
        /// Position.
        at: BucketPlace,
        /// Action for packets without tokens.
        exceeding: BucketAction,
    },
    /// Two-rate three-colour marker.
    Trtcm {
        /// Position.
        at: BucketPlace,
        /// Whether packets keep a worse colour.
        aware: bool,
        /// Actions for green, yellow and red packets.
        actions: [BucketAction; 3],
    },
    /// Shaper.
    Shaper,
}
