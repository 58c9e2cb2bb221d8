//! Flows whose pairs of nodes are drawn per run.

use std::borrow::Cow;

use optcp_des::Streams;

use optcp_scenario::pick;
use optcp_scenario::plan::{Carries, FlowPlan, Plan};

/// Returns the plan with the flows of a run instead of the routes from which they are drawn.
pub(super) fn draw_flows<'p>(plan: Cow<'p, Plan>, streams: Streams) -> Cow<'p, Plan> {
    if plan.drawn.is_empty() {
        return plan;
    }
    let mut plan = plan.into_owned();
    let mut flows: Vec<FlowPlan> = Vec::new();
    // Flows of this run, by route.
    let mut places: Vec<Vec<usize>> = vec![Vec::new(); plan.flows.len()];
    let drawn: Vec<Vec<u32>> =
        (0..plan.drawn.len()).map(|index| times(&plan, index, streams)).collect();
    let mut candidates: Vec<std::vec::IntoIter<u32>> =
        drawn.into_iter().map(Vec::into_iter).collect();
    for (route, flow) in plan.flows.iter().enumerate() {
        let Carries::Drawn(index) = flow.carries else {
            places[route].push(flows.len());
            flows.push(flow.clone());
            continue;
        };
        let count = candidates[index].next().unwrap_or(0);
        let (name, first) = numbered(&flow.name);
        for k in 0..count {
            places[route].push(flows.len());
            let name = format!("{name}/{}", first + u64::from(k));
            flows.push(FlowPlan { name, carries: Carries::Flow, ..flow.clone() });
        }
    }
    plan.flows = flows;
    for protection in &mut plan.protections {
        protection.flows =
            protection.flows.iter().flat_map(|&route| places[route].clone()).collect();
    }
    Cow::Owned(plan)
}

/// Returns the number of flows in a run on each route of an entry.
fn times(plan: &Plan, index: usize, streams: Streams) -> Vec<u32> {
    let drawn = &plan.drawn[index];
    let group = &plan.groups[drawn.group];
    let earlier = plan.drawn[..index].iter().filter(|other| other.group == drawn.group).count();
    // Each entry of a group has its own stream.
    let mut stream = streams.stream(&match earlier {
        0 => format!("flows/{group}/pairs"),
        n => format!("flows/{group}/pairs/{n}"),
    });
    let routes = plan.flows.iter().filter(|flow| flow.carries == Carries::Drawn(index)).count();
    let mut times = vec![0; routes];
    for _ in 0..drawn.count {
        times[pick(routes, &drawn.weights, &mut stream)] += drawn.per_source;
    }
    times
}

/// Splits a flow's name into its base and its number.
fn numbered(name: &str) -> (&str, u64) {
    let (name, number) = name.rsplit_once('/').unwrap_or((name, "0"));
    (name, number.parse().unwrap_or(0))
}
