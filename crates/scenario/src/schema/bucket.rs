//! `[[buckets]]`: token buckets of links.

use optcp_net::{BucketAction, BucketKind, BucketPlace};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{LinkRef, Size, Speed};

/// Token bucket of a link: a policer, a marker or a shaper.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BucketEntry {
    /// Link: its two nodes, in the direction of the affected packets.
    pub link: LinkRef,
    /// Kind.
    pub kind: BucketKind,
    /// For `policer` and `trtcm`: position. Default: `ingress`.
    pub at: Option<BucketPlace>,
    /// Rate at which tokens arrive. For `trtcm`: committed information rate (CIR).
    pub rate: Speed,
    /// Maximum amount of tokens, at least one packet. For `trtcm`: committed burst size (CBS).
    pub burst: Size,
    /// Rate of a second bucket, at least `rate`. For `trtcm`: peak information rate (PIR).
    pub peak: Option<Speed>,
    /// With `peak`: maximum amount of tokens of the second bucket. For `trtcm`: peak burst size (PBS).
    pub peak_burst: Option<Size>,
    /// For `policer`: action for packets without tokens. Default: `drop`.
    pub exceeding: Option<BucketAction>,
    /// For `trtcm`. `true`: packets keep a worse colour from an earlier bucket. Default: `false`.
    pub colour_aware: Option<bool>,
    /// For `trtcm`: action for green packets. Default: `pass`.
    pub green: Option<BucketAction>,
    /// For `trtcm`: action for yellow packets. Default: `pass`.
    pub yellow: Option<BucketAction>,
    /// For `trtcm`: action for red packets. Default: `drop`.
    pub red: Option<BucketAction>,
}
