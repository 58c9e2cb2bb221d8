//! Partition of a run into logical processes, and the window length.
//!
//! # Model
//! Ports and endpoints are the vertices of a graph. Vertices that one event may affect stay together ([`footprint`]).
//! Packets travel between groups of vertices over *channels* ([`channels`]). The *lookahead* ([`lookahead`]) of a
//! channel is the minimum time from the event that sends a packet to the event that it causes. Groups in a cycle that
//! is shorter than a window become one logical process; the others are ordered in phases ([`merging`]).
//!
//! The window length doubles from 0.13 ms to 4.3 ms until a window contains enough packets ([`load`]). A longer window
//! needs fewer barriers but leaves fewer logical processes.
//!
//! Invariant: a channel between logical processes either has a lookahead of at least a window or leads to a later
//! phase. The partition depends on the network and its packets only, never on the number of threads.
//!
//! # References
//! See the parent module.
//!
//! # Limitations
//! Loads are estimates from link rates: TCP is assumed to use its share of the bottleneck link.

mod channels;
mod footprint;
mod load;
mod lookahead;
mod merging;
mod paths;
mod view;

use optcp_des::Due;
use optcp_net::Packet;
use optcp_units::Duration;

use super::policy::{NoWindowsReason, WindowPolicy};

use footprint::Footprints;
use lookahead::Lookahead;
use merging::ChannelGraph;
pub(super) use view::NetworkView;

/// Exponents n of window lengths of 2^n ps, 0.13 to 4.3 ms.
const WINDOW_LOG2: std::ops::RangeInclusive<u32> = 27..=32;
/// Minimum mean number of packets per logical process and window; fewer do not justify the barriers.
const MIN_PACKETS_PER_WINDOW: u64 = 64;
/// Minimum number of packets in flight for windows on one thread: 8 MiB, more than caches hold.
const MIN_PACKETS_IN_FLIGHT: u128 = 1 << 18;

/// Logical processes of a run in the order of execution within a window.
#[derive(Clone, Debug)]
pub(super) struct Partition {
    /// Exponent of the window length, 2^window_log2 ps.
    pub(super) window_log2: u32,
    /// Logical process of each vertex.
    pub(super) lp_of_vertex: Vec<u16>,
    /// Timer advance by logical process.
    pub(super) timer_advances: Vec<Duration>,
    /// Phase by logical process. Processes of one phase are at least a window apart.
    pub(super) phases: Vec<u16>,
    /// Estimated packets per second through the ports of each logical process.
    pub(super) loads: Vec<u64>,
}

impl Partition {
    /// Returns the number of logical processes.
    pub(super) fn processes(&self) -> usize {
        self.phases.len()
    }

    /// Returns the window length.
    pub(super) fn window(&self) -> Duration {
        Duration::from_ps(1 << self.window_log2)
    }
}

/// Finds the partition of a run with the waiting packets `pending`.
pub(super) fn find(
    view: &NetworkView<'_>,
    pending: &[Due<Packet>],
    policy: WindowPolicy,
    threads: usize,
) -> Result<Partition, NoWindowsReason> {
    let footprints = Footprints::find(view)?;
    let flow_paths = paths::flow_paths(view);
    let stray_paths = paths::stray_paths(view, pending);
    let channels = channels::channels(view, flow_paths.iter().chain(&stray_paths));
    let lookahead = Lookahead::find(view, &footprints)?;
    let loads = load::packets_per_second(view, &flow_paths);
    let graph = ChannelGraph { view, footprints, channels, lookahead, loads: &loads };
    if let WindowPolicy::WherePossible(Some(window_log2)) = policy {
        let partition = graph.partition(window_log2);
        return Some(partition)
            .filter(|partition| partition.processes() > 1)
            .ok_or(NoWindowsReason::Near);
    }
    let is_small = || load::in_flight(view, &loads) < MIN_PACKETS_IN_FLIGHT;
    if threads == 1 && policy == WindowPolicy::WherePaying && is_small() {
        return Err(NoWindowsReason::Small);
    }
    let per_second: u64 = loads.iter().sum();
    let mut reason = NoWindowsReason::Near;
    for window_log2 in WINDOW_LOG2 {
        let partition = graph.partition(window_log2);
        let count = partition.processes() as u64;
        if count < 2 {
            break;
        }
        let per_window = (u128::from(per_second) << window_log2) / 1_000_000_000_000;
        if per_window >= u128::from(MIN_PACKETS_PER_WINDOW * count) {
            return Ok(partition);
        }
        reason = NoWindowsReason::Few;
    }
    Err(reason)
}
