//! Warning of outages after which Linux would close a connection.

use std::collections::BTreeSet;

use optcp_tcp::config::RttKind;
use optcp_units::{Duration, Time};

use super::{Finder, WarningKind, first_names};
use crate::plan::{Carries, FailurePlan, FlowPlan, Plan};
use crate::tree::{Node, place};

/// Time after which Linux gives up with `tcp_retries2 = 15`. The first RTO later than this after
/// the first retransmission closes the connection (R2 of RFC 9293 section 3.8.3). RTOs start at 0.2
/// s, double nine times and then last 120 s: 1023 * 0.2 s + 6 * 120 s.
const GIVES_UP: Duration = Duration::from_ms(924_600);
/// Mean of an exponential repair time that exceeds `GIVES_UP` in 1 % of outages: 924.6 s / ln 100.
const RARE: Duration = Duration::from_ms(200_777);

impl Finder<'_> {
    /// Checks for connections that wait longer for a repair than Linux does.
    pub(super) fn connections(&mut self) {
        let plan = self.plan;
        let entries: BTreeSet<usize> = plan.failures.iter().map(|failure| failure.entry).collect();
        for entry in entries {
            let failed: Vec<&FailurePlan> =
                plan.failures.iter().filter(|failure| failure.entry == entry).collect();
            let links: BTreeSet<usize> = failed.iter().map(|failure| failure.link).collect();
            let stalled = plan.flows.iter().enumerate().filter(|&(index, flow)| {
                is_linux(plan, flow)
                    && is_cut(plan, index, flow, &links)
                    && failed
                        .iter()
                        .any(|failure| !plan.may_recover(failure) && is_long(plan, failure, flow))
            });
            let groups: BTreeSet<&str> =
                stalled.map(|(_, flow)| plan.groups[flow.group].as_str()).collect();
            if groups.is_empty() {
                continue;
            }
            let path = match self.tree.get("failures").map_or(0, Node::items) {
                count if entry < count => place!["failures", entry],
                count => place!["schedules", entry - count],
            };
            let groups = first_names(&groups.into_iter().collect::<Vec<_>>());
            let message = format!(
                "Linux closes a connection at the first RTO more than 924.6 s after the first retransmission \
                 (`tcp_retries2`), but flows of {groups} continue after longer outages: repair the path earlier, or ignore \
                 results after the outage"
            );
            self.warn(WarningKind::GivesUp, path, message);
        }
    }
}

/// Returns whether a flow has Linux's RTOs, on which the sum above is based.
fn is_linux(plan: &Plan, flow: &FlowPlan) -> bool {
    let connects = !matches!(flow.carries, Carries::Datagrams(_));
    connects && flow.tcp.is_some_and(|tcp| plan.tcp[tcp].1.rtt == RttKind::Linux)
}

/// Returns whether a flow has no working path without these links.
fn is_cut(plan: &Plan, index: usize, flow: &FlowPlan, links: &BTreeSet<usize>) -> bool {
    if flow.routed {
        return !is_reachable(plan, flow, links);
    }
    let alone = |link: &usize| {
        let in_bundle = plan.bundles.iter().any(|bundle| bundle.has(*link));
        !in_bundle && flow.hops.iter().any(|hop| hop.0 == *link)
    };
    links.iter().any(alone) && !plan.protections.iter().any(|one| one.flows.contains(&index))
}

/// Returns whether a path from source to destination exists without these links.
fn is_reachable(plan: &Plan, flow: &FlowPlan, without: &BTreeSet<usize>) -> bool {
    let (Some(&source), Some(destination)) = (flow.path.first(), flow.path.last()) else {
        return true;
    };
    let (mut reached, mut next) = (BTreeSet::from([source]), vec![source]);
    while let Some(node) = next.pop() {
        let links = plan.links.iter().enumerate().filter(|(link, _)| !without.contains(link));
        for (_, link) in links {
            let other = match link.ends {
                [one, other] if one == node => other,
                [other, one] if one == node => other,
                _ => continue,
            };
            if reached.insert(other) {
                next.push(other);
            }
        }
    }
    reached.contains(destination)
}

/// Returns whether an outage may last that long within the run, for a flow that started before its end.
fn is_long(plan: &Plan, failure: &FailurePlan, flow: &FlowPlan) -> bool {
    if let Some([_, repair]) = failure.process {
        return repair >= RARE && plan.stop.saturating_since(Time::ZERO) > GIVES_UP;
    }
    let begins = failure.at.max(flow.start.latest().unwrap_or_default());
    let ends = failure.repair.unwrap_or(plan.stop);
    ends.saturating_since(begins) > GIVES_UP
}
