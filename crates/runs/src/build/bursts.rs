//! Burst assemblers at both ends of each link that carries bursts, and the core of burst switches.

use std::collections::BTreeMap;
use std::sync::Arc;

use optcp_des::Streams;
use optcp_net::{IndependentLoss, Lossy, PortConfig};
use optcp_optical::burst::{Assembler, BurstPath, BurstRoutes, Carrier, FlowClasses};
use optcp_optical::switching::{BurstCore, Failing, Fibre, FibreId};

use optcp_scenario::plan::{CorePlan, DirectedLink, LinkPlan, Plan};

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
    let core_plan = core;
    let core = BurstCore::new(fibres, core.scheduling, core.conversion, core.processing);
    let CorePlan { detection, delay_line, preemption, .. } = core_plan;
    let core = match plan.fibres_fail() {
        true => core.with_failures(Failing { detection, delay_line }),
        false => core,
    };
    match preemption {
        true => core.with_preemption(),
        false => core,
    }
}

/// Creates the assemblers. `classes` has the traffic class of each flow, or is empty if all have class 0.
pub(super) fn assemblers(
    plan: &Plan,
    ports: &[PortConfig],
    classes: &Arc<[u8]>,
    streams: Streams,
) -> Vec<Assembler> {
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
            Carrier::Wavelength { delay, loss }
        } else {
            let there = over.iter().map(|&(link, way)| fibres[&(link, way ^ direction)]);
            let working = match direction {
                0 => there.collect(),
                _ => there.rev().collect(),
            };
            let others = bursts.others[direction].iter();
            let others = others.map(|route| route.iter().map(|hop| fibres[hop]).collect());
            let all = std::iter::once(working).chain(others).collect();
            Carrier::Fibres(BurstRoutes { protection: bursts.protection, all })
        };
        let path = BurstPath { port, rate, offset: bursts.offset, carrier };
        let assembler = Assembler::new(path, bursts.assembly);
        match &bursts.classes {
            Some(separate) => {
                assembler.with_classes(&separate.each, FlowClasses(Arc::clone(classes)))
            }
            None => assembler,
        }
    };
    ends.map(assembler).collect()
}
