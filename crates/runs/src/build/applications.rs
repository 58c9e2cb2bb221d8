//! Applications of a run: sizes and times are drawn, and messages become segments.

use std::collections::BTreeMap;

use optcp_des::Streams;
use optcp_engine::ApplicationsSpec;
use optcp_net::FlowId;
use optcp_scenario::plan::{FlowPlan, Plan};
use optcp_traffic::Draws;
use optcp_units::Duration;

use super::places::draw;

/// Applications of a run, with the properties of their flows.
pub(super) struct Drawn {
    pub(super) spec: ApplicationsSpec,
    /// Number of segments by flow.
    pub(super) segments: BTreeMap<usize, u32>,
    /// Start of each application and of its connections.
    pub(super) starts: Vec<Duration>,
}

/// Draws the applications.
pub(super) fn applications(plan: &Plan, flows: &[&FlowPlan], streams: Streams) -> Drawn {
    let mut spec = ApplicationsSpec::default();
    let mut segments: BTreeMap<usize, u32> = BTreeMap::new();
    let mut starts = Vec::new();
    for (index, entry) in plan.applications.iter().enumerate() {
        let group = &plan.groups[entry.group];
        let stream = |what| streams.stream(&format!("applications/{group}/{what}"));
        let mut draws =
            Draws { sizes: stream("sizes"), think: stream("think"), service: stream("service") };
        let script = entry.application.script(&mut draws);
        let of_application = flows.iter().enumerate().filter_map(|(flow, one)| {
            let (application, _) = one.application?;
            (application == index).then_some(flow)
        });
        let of_application: Vec<usize> = of_application.collect();
        for message in script.steps.iter().filter_map(|step| step.message) {
            let flow = of_application[message.connection as usize];
            let mss = flows[flow].tcp.map_or(1, |tcp| plan.tcp[tcp].1.mss.count().max(1));
            let count = message.bytes.div_ceil(mss).max(1);
            let all = segments.entry(flow).or_default();
            *all = all.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
        }
        let number = |index: usize| u32::try_from(index).expect("fewer than 2^30 flows");
        let (connections, sessions) = (number(spec.flows.len()), number(spec.sessions.len()));
        let start = draw(&entry.start, streams, || format!("applications/{group}/start"));
        spec.script.append(script, connections, sessions, start);
        starts.push(start);
        spec.flows.extend(of_application.into_iter().map(|flow| FlowId::new(number(flow))));
        for hosts in entry.application.sessions() {
            let names: Vec<&str> =
                hosts.iter().map(|&host| plan.nodes[host as usize].as_str()).collect();
            spec.sessions.push(match names[..] {
                [first, _, .., last] => format!("{first}-{last}"),
                _ => names.join("-"),
            });
            spec.groups.push(number(entry.group));
        }
    }
    Drawn { spec, segments, starts }
}
