//! Burst switching as JSON.

use optcp_net::CLASSES;
use optcp_optical::burst::{Assembly, BurstClass, BurstProtection};
use optcp_units::Duration;
use serde_json::{Value, json};

use crate::plan::{BurstsPlan, CorePlan, Plan};

use super::{ports, with_optional};

/// Returns the settings of burst switches.
pub(super) fn core(core: CorePlan) -> Value {
    let given = |time: Duration| (time != Duration::ZERO).then_some(time.as_ps());
    let always = json!({
        "scheduling": core.scheduling,
        "conversion": core.conversion,
        "processing_ps": core.processing.as_ps(),
    });
    let optional = json!({
        "detection_ps": given(core.detection),
        "delay_line_ps": given(core.delay_line),
        "preemption": core.preemption,
    });
    with_optional(always, optional)
}

/// Returns the timer and the size of an assembly, in ps and bytes.
fn timer_and_size(assembly: Assembly) -> (Option<u64>, Option<u64>) {
    let (timer, size) = match assembly {
        Assembly::Timer(timer) => (Some(timer), None),
        Assembly::Size(size) => (None, Some(size)),
        Assembly::Hybrid(hybrid) => (Some(hybrid.timer), Some(hybrid.size)),
        Assembly::Adaptive(adaptive) => (Some(adaptive.most), None),
    };
    (timer.map(|timer| timer.period.as_ps()), size.map(|size| size.threshold.count()))
}

/// Returns the assembly of each class.
fn burst_classes(classes: [BurstClass; CLASSES]) -> Value {
    let one = |(number, class): (usize, BurstClass)| {
        let (timer, size) = timer_and_size(class.assembly);
        let extra = class.extra_offset.as_ps();
        json!({ "class": number, "timer_ps": timer, "size_bytes": size, "extra_offset_ps": extra })
    };
    classes.into_iter().enumerate().map(one).collect()
}

/// Returns the bursts of a link.
pub(super) fn bursts(plan: &Plan, bursts: &BurstsPlan) -> Value {
    let (timer, size) = timer_and_size(bursts.assembly);
    let adaptive = match bursts.assembly {
        Assembly::Adaptive(adaptive) => Some(adaptive),
        _ => None,
    };
    let link = &plan.links[bursts.link];
    let [forward, reverse] = bursts.probabilities;
    let always = json!({
        "link": link.name,
        "assembly": bursts.assembly.kind(),
        "timer_ps": timer,
        "size_bytes": size,
        "offset_ps": bursts.offset.as_ps(),
    });
    let differ = forward.to_bits() != reverse.to_bits();
    let optional = json!({
        "loss_probability": link.over.is_empty().then_some(forward),
        "reverse": differ.then(|| json!({ "loss_probability": reverse })),
        "fibres": ports(plan, &link.over),
        "least_timer_ps": adaptive.map(|adaptive| adaptive.least.as_ps()),
        "factor": adaptive.map(|adaptive| adaptive.factor),
        "classes": bursts.classes.as_ref().map(|classes| burst_classes(classes.each)),
        "protection": (bursts.protection != BurstProtection::None).then_some(bursts.protection),
        "other_routes": bursts.others.iter().flatten().map(|route| ports(plan, route)).collect::<Value>(),
    });
    with_optional(always, optional)
}
