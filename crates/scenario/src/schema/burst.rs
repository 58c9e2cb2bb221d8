//! `[core]` and `[[bursts]]`: optical burst switching.

use schemars::JsonSchema;
use serde::Deserialize;

use optcp_optical::burst::{AssemblyKind, BurstProtection};
use optcp_optical::switching::{Conversion, Scheduling};

use super::{Count, LinkRef, Probability, Size, Span};

/// Settings of the burst switches between fibres.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CoreTable {
    /// Algorithm that selects a wavelength for a burst. Default: `lauc-vf`.
    pub scheduling: Option<Scheduling>,
    /// Wavelength conversion in switches. Default: `full`.
    pub conversion: Option<Conversion>,
    /// Processing time of a control packet in each switch after the ingress edge node. Default: `0 s`.
    pub processing: Option<Span>,
    /// Time from the failure of a fibre until the nodes at its ends detect it. Default: `0 s`.
    pub detection: Option<Span>,
    /// Delay of the fibre delay line in each switch, for deflected bursts. Default: `0 s`.
    pub delay_line: Option<Span>,
    /// `true`: a burst without a free wavelength takes one from bursts of lower classes. Default: `false`.
    pub preemption: Option<bool>,
}

/// Burst assembly between edge nodes, in both directions.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BurstsEntry {
    /// Link between two edge nodes. Its rate is the wavelength's rate and its delay the path's delay.
    pub link: Option<LinkRef>,
    /// Instead of `link`: nodes of a route over fibres, from edge to edge. A link between its ends is
    /// created.
    pub path: Option<Vec<String>>,
    /// Instead of `link`: nodes and groups. A link is created for every pair, over the route of least delay.
    pub between: Option<Vec<String>>,
    /// Burst assembly algorithm.
    pub assembly: AssemblyKind,
    /// For `timer`, `hybrid` and `adaptive`: maximum time from the first packet of a burst until the burst is sent.
    pub timer: Option<Span>,
    /// For `adaptive`: minimum of this time. Default: `0 s`.
    pub least_timer: Option<Span>,
    /// For `adaptive`: this time in transmission times of the average burst. Default: 1.
    pub factor: Option<Count>,
    /// For `size` and `hybrid`: number of bytes at which the burst is sent.
    pub size: Option<Size>,
    /// Time between a control packet and its burst. Default: the minimum for the switches of the route; `0 s`
    /// on a `link`.
    pub offset: Option<Span>,
    /// Treatment of traffic classes. With any entry, each class has separate bursts; classes without an entry use the
    /// values above. Default: all classes share bursts.
    #[serde(default)]
    pub classes: Vec<BurstClassEntry>,
    /// With `path` or `between`: protection against failures of fibres. Default: `none`.
    pub protection: Option<BurstProtection>,
    /// With `link`: probability that a burst is lost with all its packets. Default: 0.
    pub loss_probability: Option<Probability>,
    /// With `link`: differences in the direction from its second node to its first.
    #[serde(default)]
    pub reverse: ReverseBursts,
}

/// Bursts of a traffic class.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BurstClassEntry {
    /// Traffic class, from 0 to 7. The highest class has priority.
    pub class: Count,
    /// Except for `size`: `timer` of the class. Default: `timer` of the entry.
    pub timer: Option<Span>,
    /// For `size` and `hybrid`: `size` of the class. Default: `size` of the entry.
    pub size: Option<Size>,
    /// Time in addition to `offset`. Default: `0 s`.
    pub extra_offset: Option<Span>,
}

/// Burst properties of the second direction that differ from the first.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReverseBursts {
    /// Probability that a burst is lost.
    pub loss_probability: Option<Probability>,
}
