//! Optical layer as JSON.

use optcp_optical::lightpath::Lightpath;
use optcp_units::Duration;
use serde_json::{Value, json};

use crate::plan::{FailurePlan, OpticalPlan, Plan};

use super::{failure_of, with_optional};

/// Returns fibres, lightpaths, recovery and failures of fibres.
pub(super) fn layer(plan: &Plan, optical: &OpticalPlan) -> Value {
    let OpticalPlan { layer, names, links, failures } = optical;
    let written = |path: &[usize]| -> Value { path.iter().map(|&at| names[at].as_str()).collect() };
    let fibre = |(fibre, name): (&optcp_optical::lightpath::Fibre, &String)| {
        let always = json!({ "name": name, "ends": fibre.ends, "delay_ps": fibre.delay.as_ps() });
        with_optional(always, json!({ "wavelengths": fibre.wavelengths }))
    };
    let lightpath = |(one, &link): (&Lightpath, &usize)| {
        let always = json!({ "link": plan.links[link].name, "over": written(&one.working) });
        with_optional(always, json!({ "backup": written(&one.backup) }))
    };
    let failure = |failure: &FailurePlan| failure_of(failure, "fibre", &names[failure.link]);
    let timing = layer.timing;
    let always = json!({
        "fibres": layer.fibres.iter().zip(names).map(fibre).collect::<Value>(),
        "lightpaths": layer.lightpaths.iter().zip(links).map(lightpath).collect::<Value>(),
        "recovery": layer.recovery,
        "detection_ps": timing.detection.as_ps(),
        "computation_ps": timing.computation.as_ps(),
        "set_up_ps": timing.set_up.as_ps(),
    });
    let optional = json!({
        "ducts": layer.ducts.iter().map(|duct| written(duct)).collect::<Value>(),
        "failures": failures.iter().map(failure).collect::<Value>(),
        "signal_processing_ps": timing.signal_processing.map(Duration::as_ps),
        "wait_to_restore_ps": timing.wait_to_restore.map(Duration::as_ps),
    });
    with_optional(always, optional)
}
