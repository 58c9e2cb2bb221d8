//! `[[switches]]`: switches with queues at their inputs.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Real;
use super::values::{Count, Queue, Size, Speed};

/// Switch with queues at its inputs. Without an entry, packets reach the queue of their port at once.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SwitchEntry {
    /// Node, or group of nodes with a switch each.
    pub node: String,
    /// Limit of each queue at an input. Default: `unlimited`.
    pub queue: Option<Queue>,
    /// Data in a cell. Default: `64 B`.
    pub cell: Option<Size>,
    /// Rate of the crossbar in rates of a line. Default: 1.
    pub speed_up: Option<Real>,
    /// Rate of a line. Default: the maximum rate of the node's links.
    pub rate: Option<Speed>,
    /// Iterations of iSLIP per slot. Default: 1.
    pub iterations: Option<Count>,
    /// `true`: one queue per input, in place of one per input and output. Default: `false`.
    pub fifo: Option<bool>,
}
