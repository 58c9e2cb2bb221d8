//! Assemblers of bursts: one at each end of a link over which packets travel in bursts.

use optcp_des::Streams;
use optcp_net::{IndependentLoss, Lossy, PortConfig};
use optcp_optical::burst::{Assembler, BurstPath, Carrier};

use crate::plan::Plan;

use super::port_id;

pub(super) fn assemblers(plan: &Plan, ports: &[PortConfig], streams: Streams) -> Vec<Assembler> {
    let ends = plan.bursts.iter().flat_map(|bursts| [(bursts, 0), (bursts, 1)]);
    let assembler = |(bursts, direction): (&crate::plan::BurstsPlan, usize)| {
        let hop = (bursts.link, direction);
        let port = port_id(hop);
        let PortConfig { rate, delay, .. } = ports[port as usize];
        let stream = streams.stream(&format!("ports/{}/bursts", plan.port_name(hop)));
        let loss = IndependentLoss::new(Lossy::Both, bursts.probability, stream);
        let carrier = Carrier::Wavelength { rate, delay, loss };
        let path = BurstPath { port, offset: bursts.offset, carrier };
        Assembler::new(path, bursts.assembly)
    };
    ends.map(assembler).collect()
}
