//! `[[bursts]]`.

use schemars::JsonSchema;
use serde::Deserialize;

use optcp_optical::burst::AssemblyKind;
use optcp_optical::switching::{Conversion, Scheduling};

use super::{LinkRef, Probability, Size, Span};

/// How the nodes between fibres switch bursts.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CoreTable {
    /// Which wavelength a burst reserves; `lauc-vf` if left out.
    pub scheduling: Option<Scheduling>,
    /// Whether switches change the wavelength of a burst; `full` if left out.
    pub conversion: Option<Conversion>,
    /// How long each switch behind the edge works on a control packet; 0 s if left out.
    pub processing: Option<Span>,
}

/// Packets that travel in bursts between edge nodes, in both directions.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BurstsEntry {
    /// The link: its ends are edge nodes, its rate is that of a wavelength, its delay that of the path.
    pub link: Option<LinkRef>,
    /// In place of `link`: the nodes of a route over fibres, from edge to edge; makes the link between them.
    pub path: Option<Vec<String>>,
    /// In place of `link`: nodes and groups; makes a link between every two of these nodes, over the
    /// shortest route by delay.
    pub between: Option<Vec<String>>,
    /// When a burst leaves.
    pub assembly: AssemblyKind,
    /// For `timer` and `hybrid`: from the packet that opens a burst until it leaves at the latest.
    pub timer: Option<Span>,
    /// For `size` and `hybrid`: the bytes with which a burst leaves.
    pub size: Option<Size>,
    /// How long the control packet goes ahead of its burst; if left out what switches on a route over
    /// fibres need, and 0 s on a `link`.
    pub offset: Option<Span>,
    /// With `link`: how likely a burst is lost with everything in it; 0 if left out.
    pub loss_probability: Option<Probability>,
    /// With `link`: what is different from its second node to its first.
    #[serde(default)]
    pub reverse: ReverseBursts,
}

/// What is different for bursts in the second direction of a link.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReverseBursts {
    /// How likely a burst is lost.
    pub loss_probability: Option<Probability>,
}
