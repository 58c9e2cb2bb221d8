//! Estimated packet rate of each port, from link rates.
//!
//! # Model
//! The flows through a port share its rate equally. A flow sends at its smallest share along its path, and its ACK rate
//! equals its segment rate.
//!
//! # References
//! Equal shares at the bottleneck link: one step of max-min fairness (D. Bertsekas and R. Gallager, *Data Networks*,
//! 1992, section 6.5.2).
//!
//! # Limitations
//! Rate that a flow leaves unused because of a slower link elsewhere is not redistributed. Sources count as 1500-byte
//! packets at their share.

use optcp_net::PortId;

use super::paths::Path;
use super::view::NetworkView;

/// Units per flow, a multiple of every bundle size up to sixteen.
const PARTS: u64 = 720_720;
const PS_PER_S: u128 = 1_000_000_000_000;

/// Returns the packets per second by port.
pub(super) fn packets_per_second(view: &NetworkView<'_>, paths: &[Path]) -> Vec<u64> {
    let rates = flow_rates(view, paths);
    let mut loads = vec![0; view.ports.len()];
    for path in paths {
        for hop in &path.hops {
            hop.iter().for_each(|&port| loads[port] += rates[path.flow] / hop.len() as u64);
        }
    }
    loads
}

/// Returns the number of packets on all links at these loads.
pub(super) fn in_flight(view: &NetworkView<'_>, loads: &[u64]) -> u128 {
    let on_link = |(port, &load): (usize, &u64)| {
        let delay = view.ports.get(PortId::at(port)).delay().as_ps();
        u128::from(load) * u128::from(delay) / PS_PER_S
    };
    loads.iter().enumerate().map(on_link).sum()
}

/// Returns the packets per second that each flow or source sends.
fn flow_rates(view: &NetworkView<'_>, paths: &[Path]) -> Vec<u64> {
    let flows = flows_per_port(view, paths);
    let share = |port: usize| {
        let bps = view.ports.get(PortId::at(port)).rate().bps();
        u128::from(bps) * u128::from(PARTS) / u128::from(flows[port].max(1))
    };
    let mut rates = vec![0; view.flows()];
    for path in paths.iter().filter(|path| path.to_receiver) {
        let bps = path.hops.iter().flatten().map(|&port| share(port)).min().unwrap_or(0);
        let receiver = view.receivers.get(path.flow);
        let bytes = receiver.map_or(1500, |end| end.segment_size().count());
        rates[path.flow] = u64::try_from(bps / (8 * u128::from(bytes))).unwrap_or(u64::MAX);
    }
    rates
}

/// Returns the number of flows with data through each port, in units of `1 / PARTS`; bundle links share a flow equally.
fn flows_per_port(view: &NetworkView<'_>, paths: &[Path]) -> Vec<u64> {
    let mut flows = vec![0; view.ports.len()];
    let data = paths.iter().filter(|path| path.to_receiver);
    for hop in data.flat_map(|path| &path.hops) {
        hop.iter().for_each(|&port| flows[port] += PARTS / hop.len() as u64);
    }
    flows
}
