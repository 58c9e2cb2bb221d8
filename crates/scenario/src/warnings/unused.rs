//! Warnings of keys that change nothing beside the others.

use optcp_net::QueueKind;

use crate::expression::refers;
use crate::plan::Carries;
use crate::tree::place;

use super::{Finder, WarningKind, some};

impl Finder<'_> {
    /// Parameters to which neither the file nor an override refers.
    pub(super) fn parameters(&mut self) {
        let Some(parameters) = self.tree.get("parameters") else { return };
        for entry in parameters.entries() {
            let name = entry.key.as_str();
            let overrides = self.places.overrides.iter().map(|(_, value)| value.as_str());
            if !std::iter::once(self.places.text).chain(overrides).any(|text| refers(text, name)) {
                let message = format!(
                    "nothing refers to `${name}`, so that the parameter has no effect: use it in a value, or leave it out"
                );
                self.warn(WarningKind::NoEffect, place!["parameters", name], message);
            }
        }
    }

    /// Classes of flows where no queue tells classes apart.
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
            "no queue tells classes apart, so that `class` of {} has no effect: set `kind = \"priority\"` or `\"drr\"` of a `queue`",
            some(&all)
        );
        self.warn(WarningKind::NoEffect, place![section, first.entry, "class"], message);
    }
}
