//! `[[bursts]]`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{LinkRef, Probability, Size, Span};

optcp_tcp::registry! {
    /// When a burst leaves its assembler.
    pub enum AssemblyKind ("assembly") {
        "timer" => Timer: "a time after the packet that opened it came", "obs paper, section I";
        "size" => Size: "with the packet that brings it to a number of bytes", "obs paper, section I";
        "hybrid" => Hybrid: "by `timer` or by `size`, whichever comes first", "obs paper, section I";
    }
}

/// A link over which packets travel in bursts, in both directions.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BurstsEntry {
    /// The link: its ends are edge nodes, its rate is that of a wavelength, its delay that of the path.
    pub link: LinkRef,
    /// When a burst leaves.
    pub assembly: AssemblyKind,
    /// For `timer` and `hybrid`: from the packet that opens a burst until it leaves at the latest.
    pub timer: Option<Span>,
    /// For `size` and `hybrid`: the bytes with which a burst leaves.
    pub size: Option<Size>,
    /// How long the control packet goes ahead of its burst; 0 s if left out.
    pub offset: Option<Span>,
    /// How likely a burst is lost with everything in it; 0 if left out.
    pub loss_probability: Option<Probability>,
}
