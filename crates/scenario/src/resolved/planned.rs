//! Virtual output queues and schedules as canonical JSON.

use optcp_units::Duration;
use serde_json::{Value, json};

use super::{ports, queue_limit};
use crate::plan::{ChangePlan, DirectedLink, Plan, SchedulePlan, StepPlan, VoqPlan};
use crate::schema::{EceFlag, Transmitter};

/// Returns the paths of a virtual output queue, by name.
pub(super) fn ways(plan: &Plan, voq: &VoqPlan) -> Value {
    voq.ways.iter().map(|way| (way.name.as_str(), ports(plan, &way.hops))).collect()
}

/// Returns the name of the serving path.
pub(super) fn served(voq: &VoqPlan, way: Option<u8>) -> &str {
    way.map_or("none", |way| &voq.ways[usize::from(way)].name)
}

/// Formats a list of texts.
pub(super) fn list(texts: impl Iterator<Item = String>) -> String {
    let mut found = "[".to_owned();
    for text in texts {
        if found.len() > 1 {
            found.push(',');
        }
        found.push_str(&text);
    }
    found.push(']');
    found
}

/// Formats a schedule.
pub(super) fn schedule(plan: &Plan, schedule: &SchedulePlan) -> String {
    let change = |&(hop, change): &(DirectedLink, ChangePlan)| {
        let mut value = json!({ "port": plan.port_name(hop) });
        match (change, &plan.links[hop.0].voq) {
            (ChangePlan::Serve(way), Some(voq)) => value["served"] = json!(served(voq, way)),
            (ChangePlan::Serve(_), None) => unreachable!("only such queues are served"),
            (ChangePlan::Rate(rate), _) => value["rate_bps"] = json!(rate.bps()),
            (ChangePlan::Delay(delay), _) => value["delay_ps"] = json!(delay.as_ps()),
            (ChangePlan::Drift(drift), _) => {
                value["delay_ps"] = json!(drift.from.as_ps());
                value["to_ps"] = json!(drift.to.as_ps());
                value["over_ps"] = json!(drift.over.as_ps());
            }
            (ChangePlan::Limit(limit), _) => {
                let (key, limit) = queue_limit(limit);
                value[key] = limit;
            }
            (ChangePlan::Sends(sends), _) => {
                let does = if sends { Transmitter::Sends } else { Transmitter::Holds };
                value["transmitter"] = json!(does.name());
            }
            (ChangePlan::Ece(sets), _) => {
                let flag = if sets { EceFlag::Set } else { EceFlag::Kept };
                value["ece"] = json!(flag.name());
            }
            (ChangePlan::Loss(chance), _) => value["loss"] = json!(chance.probability()),
        }
        value
    };
    let step = |step: &StepPlan| {
        let changes = step.changes.iter().map(change).collect::<Vec<_>>();
        json!({ "after_ps": step.after.as_ps(), "changes": changes }).to_string()
    };
    let period = json!(schedule.period.map(Duration::as_ps));
    let (start, steps) = (schedule.start.as_ps(), list(schedule.steps.iter().map(step)));
    format!("{{\"period_ps\":{period},\"start_ps\":{start},\"steps\":{steps}}}")
}
