//! Warnings of keys without effect.

use optcp_net::QueueKind;
use optcp_tcp::config::Repath;

use crate::expression::refers;
use crate::plan::LinkPlan;
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

    /// Checks for flow labels that no router hashes.
    pub(super) fn repathing(&mut self) {
        let plan = self.plan;
        let hashed = plan.routing.as_ref().is_some_and(|routing| routing.ecmp.is_some());
        let unused = plan.flows.iter().find_map(|flow| {
            let (name, config) = &plan.tcp[flow.tcp?];
            let repaths = config.repath != Repath::None && !(hashed && flow.routed);
            repaths.then_some((flow, name))
        });
        let Some((flow, name)) = unused else { return };
        let message = format!(
            "no router hashes the flow labels of {}, so that `repath` has no effect: set `ecmp` of `[routing]`, and route the flows",
            first_names(&[plan.groups[flow.group].as_str()])
        );
        self.warn(WarningKind::NoEffect, place!["tcp", name.as_str(), "repath"], message);
    }

    /// Checks for queues that trim no flow, and for flows that no queue trims.
    pub(super) fn trimming(&mut self) {
        let plan = self.plan;
        let trims = |link: &LinkPlan| {
            link.directions.iter().any(|port| port.discipline.kind() == QueueKind::Trim)
        };
        let queue = plan.links.iter().position(trims);
        let flow = plan.flows.iter().find_map(|flow| {
            let (name, config) = &plan.tcp[flow.tcp?];
            config.trims().then_some((flow, name))
        });
        match (queue, flow) {
            (Some(link), None) => {
                let message = "no flow reports trimmed segments, so that `trim` drops them: set `recovery = \"sack\"` and `loss_detection = \"trimmed\"` in `[tcp]`";
                let place = self.link_place(link, "queue");
                self.warn(WarningKind::NoEffect, &place, message.to_owned());
            }
            (None, Some((flow, name))) => {
                let message = format!(
                    "no queue trims segments of {}, so that only RTOs detect losses: set `kind = \"trim\"` in a `queue`",
                    first_names(&[plan.groups[flow.group].as_str()])
                );
                let place = place!["tcp", name.as_str(), "loss_detection"];
                self.warn(WarningKind::NoEffect, place, message);
            }
            _ => {}
        }
    }

    /// Checks for classes of flows that neither a queue nor bursts distinguish, and for unused classes of bursts.
    pub(super) fn classes(&mut self) {
        let plan = self.plan;
        self.burst_classes();
        if plan.bursts.iter().any(|bursts| bursts.classes.is_some()) {
            return;
        }
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
        let message = format!(
            "no queue distinguishes classes, so that `class` of {} has no effect: set `kind = \"priority\"` or `\"drr\"` in a `queue`, or `classes` in `[[bursts]]`",
            first_names(&all)
        );
        self.warn(WarningKind::NoEffect, place![first.section(), first.entry, "class"], message);
    }

    /// Checks for preemption without classes, and for classes of bursts that no flow has.
    fn burst_classes(&mut self) {
        let plan = self.plan;
        let separate = plan.bursts.iter().any(|bursts| bursts.classes.is_some());
        if plan.core.is_some_and(|core| core.preemption) && !separate {
            let message = "all bursts have class 0, so that `preemption` has no effect: set `classes` in `[[bursts]]`";
            self.warn(WarningKind::NoEffect, place!["core", "preemption"], message.to_owned());
        }
        for bursts in &plan.bursts {
            let listed = bursts.classes.iter().flat_map(|classes| &classes.listed);
            for (j, class) in listed.enumerate().filter(|(_, class)| !plan.classes.contains(class))
            {
                let message = format!(
                    "no flow has class {class}, so that it has no bursts: set `class` in `[[flows]]` or `[[traffic]]`"
                );
                let place = place!["bursts", bursts.entry, "classes", j, "class"];
                self.warn(WarningKind::NoEffect, place, message);
            }
        }
    }
}
