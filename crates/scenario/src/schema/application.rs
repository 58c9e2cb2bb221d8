//! `[[applications]]`: hosts that react to received data.

use optcp_traffic::ApplicationKind;
use schemars::JsonSchema;
use serde::Deserialize;

use super::values::{Count, Delay, Size, Span, Speed};
use super::{Chosen, Metric, SizesTable};

/// Application on several hosts. Its data are flows of group `group`; its requests are flows of `group-requests`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApplicationEntry {
    /// Name of the group of flows that carry the data.
    pub group: String,
    /// Kind of application.
    pub kind: ApplicationKind,
    /// For kinds with clients and servers: client or group of clients.
    pub from: Option<String>,
    /// With `from`: server or group of servers.
    pub to: Option<String>,
    /// For collectives: group of hosts, in the order of its members.
    pub among: Option<String>,
    /// Method that computes paths independently of the routing. Default: `routed`.
    pub path: Option<Chosen>,
    /// With a computed `path`: metric of its length. Default: `cost`.
    pub metric: Option<Metric>,
    /// Table of `[tcp]` or profile. Default: `rfc`.
    pub tcp: Option<String>,
    /// Traffic class, from 0 to 7, for the queues `priority` and `drr`. Default: 0.
    pub class: Option<Count>,
    /// Start time of the application and its connections. Default: `0 s`.
    pub start: Option<Delay>,
    /// Number of rounds; for `video` the number of chunks. Default: 1.
    pub rounds: Option<Count>,
    /// Time before each round. Default: `0 s`.
    pub think: Option<Delay>,
    /// Size of a response; for collectives the data of each host.
    pub size: Option<Size>,
    /// Instead of `size`: distribution of sizes.
    pub sizes: Option<SizesTable>,
    /// For kinds with clients and servers: size of a request. Default: one segment.
    pub request: Option<Size>,
    /// For kinds with clients and servers: time between the arrival of a request and its response. Default: `0 s`.
    pub service: Option<Delay>,
    /// For `page`: its objects.
    pub objects: Option<Vec<ObjectEntry>>,
    /// For `page`: connections per client and server. Default: 6, or the number of objects if it is lower.
    pub connections: Option<Count>,
    /// For `video`: bit rate.
    pub rate: Option<Speed>,
    /// For `video`: playing time of a chunk. Default: `4 s`.
    pub chunk: Option<Span>,
    /// For `video`: playing time to which the buffer is filled. Default: `30 s`.
    pub buffer: Option<Span>,
    /// For `video`: playing time in the buffer when the playback starts. Default: one chunk.
    pub startup: Option<Span>,
}

/// Object of a page.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ObjectEntry {
    /// Name, to which other objects refer.
    pub name: Option<String>,
    /// Size.
    pub size: Size,
    /// Number of such objects. Default: 1.
    pub count: Option<Count>,
    /// Names of earlier objects that must have arrived before it is requested.
    #[serde(default)]
    pub after: Vec<String>,
}
