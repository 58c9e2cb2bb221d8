//! Random flow arrivals of a run: start times, routes and sizes.

use optcp_des::Streams;
use optcp_traffic::Poisson;
use optcp_units::Time;

use optcp_scenario::pick;
use optcp_scenario::plan::{Carries, FlowPlan, Plan, Spread};

/// Flows of a group that arrived in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// Group.
    pub group: String,
    /// Route of each flow, as an index among the routes of the group.
    pub routes: Vec<u32>,
}

/// Returns the plan with the flows of this run instead of their routes, and the route of each; `None` without
/// random arrivals.
pub(super) fn populated(plan: &Plan, streams: Streams) -> Option<(Plan, Vec<Arrived>)> {
    if plan.arrivals.is_empty() {
        return None;
    }
    let of = |carries: fn(&Carries) -> bool| {
        plan.flows.iter().filter(move |flow| carries(&flow.carries)).cloned()
    };
    let mut flows: Vec<FlowPlan> = of(|carries| *carries == Carries::Flow).collect();
    let mut arrived = Vec::new();
    for (index, arrivals) in plan.arrivals.iter().enumerate() {
        let (come, routes) = arriving(plan, index, streams).into_iter().unzip();
        let come: Vec<FlowPlan> = come;
        flows.extend(come);
        arrived.push(Arrived { group: plan.groups[arrivals.group].clone(), routes });
    }
    flows.extend(of(|carries| matches!(carries, Carries::Datagrams(_))));
    Some((Plan { flows, ..plan.clone() }, arrived))
}

/// Draws arrivals, sizes and routes from separate streams, so that another distribution of sizes does not
/// change the arrivals.
fn arriving(plan: &Plan, index: usize, streams: Streams) -> Vec<(FlowPlan, u32)> {
    let arrivals = &plan.arrivals[index];
    let group = &plan.groups[arrivals.group];
    let routes: Vec<&FlowPlan> =
        plan.flows.iter().filter(|flow| flow.carries == Carries::Arrivals(index)).collect();
    let stream = |what| streams.stream(&format!("flows/{group}/{what}"));
    let mut instants = Poisson::new(arrivals.rate, stream("arrivals"));
    let (mut sizes, mut ways) = (stream("sizes"), stream("routes"));
    let span = arrivals.until.saturating_since(arrivals.from);
    let mut flows = Vec::new();
    loop {
        let since = instants.next_arrival();
        if since >= span {
            return flows;
        }
        let way = u32::try_from(pick(routes.len(), &arrivals.weights, &mut ways)).unwrap_or(0);
        let route = routes[way as usize];
        let mss = route.tcp.map_or(1, |tcp| plan.tcp[tcp].1.mss.count().max(1));
        let segments = arrivals.volume.draw(&mut sizes).div_ceil(mss);
        let flow = FlowPlan {
            name: format!("{group}/{}", flows.len()),
            start: Spread::Fixed(arrivals.from.saturating_since(Time::ZERO) + since),
            size: Some(u32::try_from(segments).unwrap_or(u32::MAX)),
            datagram_bytes: None,
            carries: Carries::Flow,
            ..route.clone()
        };
        flows.push((flow, way));
    }
}
