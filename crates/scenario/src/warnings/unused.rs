//! Warnings of keys without effect.

use optcp_net::QueueKind;

use crate::expression::refers;
use crate::plan::Carries;
use crate::tree::place;

use super::{Finder, WarningKind, first_names};

impl Finder<'_> {
    /// Checks for parameters that neither the file nor an override uses.
    pub(super) fn parameters(&mut self) {
        let Some(parameters) = self.tree.get("parameters") else { return };
        for entry in parameters.entries() {
            let name = entry.key.as_str();
            let overrides = self.places.overrides.iter().map(|(_, value)| value.as_str());
            if !std::iter::once(self.places.text).chain(overrides).any(|text| refers(text, name)) {
                let message =
                    format!("parameter `${name}` is not used: use it in a value, or remove it");
                self.warn(WarningKind::NoEffect, place!["parameters", name], message);
            }
        }
    }

    /// Checks for classes of flows without a queue that distinguishes classes.
    pub(super) fn classes(&mut self) {
        let plan = self.plan;
        let ports = plan.links.iter().flat_map(|link| &link.directions);
        let mut kinds = ports.map(|port| port.discipline.kind());
        let all: Vec<&str> = plan
            .groups
            .iter()
            .zip(&plan.classes)
            .filter(|(_, class)| **class > 0)
            .map(|(group, _)| group.as_str())
            .collect();
        if all.is_empty() || kinds.any(|kind| matches!(kind, QueueKind::Priority | QueueKind::Drr))
        {
            return;
        }
        let first = plan.flows.iter().find(|flow| plan.classes[flow.group] > 0);
        let Some(first) = first else { return };
        let section =
            if matches!(first.carries, Carries::Datagrams(_)) { "traffic" } else { "flows" };
        let message = format!(
            "no queue distinguishes classes, so that `class` of {} has no effect: set `kind = \"priority\"` or `\"drr\"` in a `queue`",
            first_names(&all)
        );
        self.warn(WarningKind::NoEffect, place![section, first.entry, "class"], message);
    }
}
