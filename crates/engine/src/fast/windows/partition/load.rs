//! Load: how many packets pass each port, estimated from link rates.
//!
//! # Model
//! The flows through a port share its rate equally, and a flow sends at its smallest share along its path; its ACKs are as
//! many as its segments.
//! # References
//! Equal shares at the narrowest link: one step of max-min fairness (D. Bertsekas and R. Gallager, *Data Networks*, 1992,
//! section 6.5.2).
//! # Parameters
//! None.
//! # Limitations
//! Rate that a flow leaves to others because it is slower elsewhere is not given to them. Sources count as if they sent
//! 1500-byte packets at their share.

use optcp_net::PortId;

use super::paths::Path;
use super::view::NetworkView;

/// Shares of ports are counted in such parts, of which bundles of up to sixteen take whole ones.
const PARTS: u64 = 720_720;
const PS_PER_S: u128 = 1_000_000_000_000;

/// By port: packets per second.
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

/// Packets on all links together at these loads.
pub(super) fn in_flight(view: &NetworkView<'_>, loads: &[u64]) -> u128 {
    let on_link = |(port, &load): (usize, &u64)| {
        let delay = view.ports.get(PortId::at(port)).delay().as_ps();
        u128::from(load) * u128::from(delay) / PS_PER_S
    };
    loads.iter().enumerate().map(on_link).sum()
}

/// By flow and source: packets per second that it sends.
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

/// By port: how many flows send data through it, in parts; a flow over a bundle counts in equal parts for its links.
fn flows_per_port(view: &NetworkView<'_>, paths: &[Path]) -> Vec<u64> {
    let mut flows = vec![0; view.ports.len()];
    let data = paths.iter().filter(|path| path.to_receiver);
    for hop in data.flat_map(|path| &path.hops) {
        hop.iter().for_each(|&port| flows[port] += PARTS / hop.len() as u64);
    }
    flows
}
