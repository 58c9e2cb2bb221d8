//! Burst assemblers at both ends of each link that carries bursts, and the core of burst switches.

use std::collections::BTreeMap;

use optcp_des::Streams;
use optcp_net::{IndependentLoss, Lossy, PortConfig};
use optcp_optical::burst::{Assembler, BurstPath, Carrier};
use optcp_optical::switching::{BurstCore, Fibre, FibreId};

use optcp_scenario::plan::{DirectedLink, LinkPlan, Plan};

use super::places::port_id;

/// Returns the number of each fibre in the core.
pub(super) fn fibre_ids(plan: &Plan) -> BTreeMap<DirectedLink, FibreId> {
    plan.fibres().zip(0..).collect()
}

/// Creates the core, which may have no fibres.
pub(super) fn core(plan: &Plan, ports: &[PortConfig]) -> BurstCore {
    let Some(core) = plan.core else { return BurstCore::default() };
    let fibre = |hop: DirectedLink| {
        let PortConfig { rate, delay, .. } = ports[port_id(hop).index()];
        Fibre::new(plan.links[hop.0].wavelengths.unwrap_or(0), rate, delay)
    };
    let fibres = plan.fibres().map(fibre).collect();
    BurstCore::new(fibres, core.scheduling, core.conversion, core.processing)
}

pub(super) fn assemblers(plan: &Plan, ports: &[PortConfig], streams: Streams) -> Vec<Assembler> {
    let fibres = fibre_ids(plan);
    let ends = plan.bursts.iter().flat_map(|bursts| [(bursts, 0), (bursts, 1)]);
    let assembler = |(bursts, direction): (&optcp_scenario::plan::BurstsPlan, usize)| {
        let hop = (bursts.link, direction);
        let port = port_id(hop);
        let PortConfig { rate, delay, .. } = ports[port.index()];
        let LinkPlan { over, .. } = &plan.links[bursts.link];
        let carrier = if over.is_empty() {
            let stream = streams.stream(&format!("ports/{}/bursts", plan.port_name(hop)));
            let loss = IndependentLoss::new(Lossy::Both, bursts.probabilities[direction], stream);
            Carrier::Wavelength { rate, delay, loss }
        } else {
            let there = over.iter().map(|&(link, way)| fibres[&(link, way ^ direction)]);
            Carrier::Fibres(match direction {
                0 => there.collect(),
                _ => there.rev().collect(),
            })
        };
        let path = BurstPath { port, offset: bursts.offset, carrier };
        Assembler::new(path, bursts.assembly)
    };
    ends.map(assembler).collect()
}
