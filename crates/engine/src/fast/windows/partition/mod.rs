//! Partition of a run into logical processes, and the length of its windows.
//!
//! # Model
//! Ports and endpoints are the vertices of a graph. Vertices that one event may touch stay together ([`footprint`]).
//! Packets go from one group of vertices to another over *channels* ([`channels`]), each with a *lookahead*
//! ([`lookahead`]): the minimum time from the event that sends a packet to the event that it causes. For a window of a
//! given length, groups that are closer than a window in a circle become one logical process; the others are ordered in
//! phases ([`merging`]).
//!
//! Windows double from 0.13 ms to 4.3 ms until enough packets move in one ([`load`]). A longer window has fewer barriers
//! and fewer logical processes.
//!
//! Invariant: a channel from one logical process to another either has a lookahead of at least a window, or leads to a
//! later phase. The partition depends on the network and its packets alone, never on the number of threads.
//! # References
//! See the parent module.
//! # Parameters
//! The constants below.
//! # Limitations
//! Loads are estimates from link rates: TCP is taken to fill its share of the narrowest link.

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

/// Windows are 2^n ps long, 0.13 to 4.3 ms.
const WINDOW_LOG2: std::ops::RangeInclusive<u32> = 27..=32;
/// So many packets pass the ports of a logical process in a window on average, or it is not worth its barriers.
const ENOUGH: u64 = 64;
/// On one thread windows pay only where so many packets are in flight that they do not fit into near memory: 8 MiB.
const MANY: u128 = 1 << 18;

/// The logical processes of a run, in the order in which they are executed in a window.
#[derive(Clone, Debug)]
pub(super) struct Partition {
    /// A window is 2^window_log2 ps long.
    pub(super) window_log2: u32,
    /// The logical process of each vertex.
    pub(super) lp_of_vertex: Vec<u16>,
    /// By logical process: by how much its timers may fire before they are due.
    pub(super) timer_advances: Vec<Duration>,
    /// By logical process. Those of one phase are a window apart.
    pub(super) phases: Vec<u16>,
    /// By logical process: packets per second through its ports, estimated.
    pub(super) loads: Vec<u64>,
}

impl Partition {
    /// How many logical processes there are.
    pub(super) fn processes(&self) -> usize {
        self.phases.len()
    }

    /// The length of a window.
    pub(super) fn window(&self) -> Duration {
        Duration::from_ps(1 << self.window_log2)
    }
}

/// Finds the partition of a run in which the packets `pending` wait.
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
        return Some(partition).filter(|it| it.processes() > 1).ok_or(NoWindowsReason::Near);
    }
    let is_small = || load::in_flight(view, &loads) < MANY;
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
        if per_window >= u128::from(ENOUGH * count) {
            return Ok(partition);
        }
        reason = NoWindowsReason::Few;
    }
    Err(reason)
}
