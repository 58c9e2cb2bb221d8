//! Failures of links that follow from failures of fibres, and delays of recovered lightpaths.

use std::borrow::Cow;
use std::collections::BTreeSet;

use optcp_net::{Action, Control};
use optcp_optical::lightpath::{Course, Recovery};
use optcp_optical::protection::Outage;
use optcp_scenario::plan::{FailurePlan, OpticalPlan, Plan, Spread};

use super::places::{port_id, united};

/// Replaces failures of links over fibres by the outages of their lightpaths. Returns the changes of delays, too.
///
/// Times of failures must have been drawn.
pub(super) fn recovered(plan: Cow<'_, Plan>) -> (Cow<'_, Plan>, Vec<Control>) {
    let Some(optical) = plan.optical.as_ref().filter(|one| !one.failures.is_empty()) else {
        return (plan, Vec::new());
    };
    let courses = optical.layer.courses(&outages(optical));
    let mut failures: Vec<FailurePlan> =
        plan.failures.iter().filter(|failure| !failure.of_fibre).cloned().collect();
    let mut delays = Vec::new();
    for (&link, course) in optical.links.iter().zip(&courses) {
        failures.extend(of_link(optical, link, course));
        delays.extend(course.paths.iter().flat_map(|(at, path)| {
            let delay = optical.layer.delay(path);
            [0, 1].map(|way| Control {
                at: *at,
                action: Action::SetDelay(port_id((link, way)), delay),
            })
        }));
    }
    let mut plan = plan;
    plan.to_mut().failures = failures;
    (plan, delays)
}

/// Returns the links whose delay may change.
pub(super) fn moved(plan: &Plan) -> BTreeSet<usize> {
    let recovers = |optical: &&OpticalPlan| optical.layer.recovery != Recovery::None;
    plan.optical.iter().filter(recovers).flat_map(|optical| &optical.links).copied().collect()
}

/// Returns the outages of each fibre.
fn outages(optical: &OpticalPlan) -> Vec<Vec<Outage>> {
    let of = |fibre| {
        let these = optical.failures.iter().filter(|failure| failure.link == fibre);
        united(these.map(|one| Outage { failure: one.at, repair: one.repair }).collect())
    };
    (0..optical.layer.fibres.len()).map(of).collect()
}

/// Returns the failures of a link. Packets are kept if all failures of fibres at that time keep them.
fn of_link(
    optical: &OpticalPlan,
    link: usize,
    course: &Course,
) -> impl Iterator<Item = FailurePlan> {
    course.outages.iter().map(move |outage| {
        let mut causes = optical.failures.iter().filter(|one| one.at == outage.failure);
        FailurePlan {
            link,
            directions: [true; 2],
            kept: causes.clone().all(|one| one.kept),
            at: outage.failure,
            repair: outage.repair,
            later: Spread::ZERO,
            entry: causes.next().map_or(0, |one| one.entry),
            process: None,
            of_fibre: true,
        }
    })
}
