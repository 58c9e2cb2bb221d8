//! Warning of outages in which connections give up.

use std::collections::BTreeSet;

use optcp_tcp::{Config, time_of_retries};
use optcp_units::{Duration, Time};

use super::{Finder, WarningKind, first_names};
use crate::plan::{Carries, FailurePlan, FlowPlan, Plan};
use crate::tree::{Node, place};

/// Returns the time since the first retransmission after which a connection gives up.
fn limit(config: &Config) -> Option<Duration> {
    match config.user_timeout {
        Duration::ZERO => config.retries.map(|retries| time_of_retries(retries, config.max_rto)),
        timeout => Some(timeout),
    }
}

/// Returns the mean of an exponential repair time that exceeds `limit` in 1 % of outages: `limit` / ln 100.
fn rare(limit: Duration) -> Duration {
    Duration::from_ps(limit.as_ps() / 1_000_000 * 217_147)
}

impl Finder<'_> {
    /// Checks for connections that give up before a repair.
    pub(super) fn connections(&mut self) {
        let plan = self.plan;
        let entries: BTreeSet<usize> = plan.failures.iter().map(|failure| failure.entry).collect();
        for entry in entries {
            let failed: Vec<&FailurePlan> =
                plan.failures.iter().filter(|failure| failure.entry == entry).collect();
            let links: BTreeSet<usize> = failed.iter().map(|failure| failure.link).collect();
            let stalled = plan.flows.iter().enumerate().filter_map(|(index, flow)| {
                let limit = limit_of(plan, flow).filter(|_| is_cut(plan, index, flow, &links))?;
                let mut failed = failed.iter().filter(|failure| !plan.may_recover(failure));
                failed.any(|failure| is_long(plan, failure, flow, limit)).then_some((limit, flow))
            });
            let stalled: Vec<(Duration, &FlowPlan)> = stalled.collect();
            let Some(&(limit, _)) = stalled.iter().min_by_key(|(limit, _)| *limit) else {
                continue;
            };
            let groups: BTreeSet<&str> =
                stalled.iter().map(|(_, flow)| plan.groups[flow.group].as_str()).collect();
            let path = match self.tree.get("failures").map_or(0, Node::items) {
                count if entry < count => place!["failures", entry],
                count => place!["schedules", entry - count],
            };
            let groups = first_names(&groups.into_iter().collect::<Vec<_>>());
            let message = format!(
                "connections of {groups} give up at the first RTO more than {limit} after the first retransmission, and \
                 the outage may last longer: repair the path earlier, or raise `retries` or `user_timeout`"
            );
            self.warn(WarningKind::GivesUp, path, message);
        }
    }
}

/// Returns the limit of a flow, if it has one.
fn limit_of(plan: &Plan, flow: &FlowPlan) -> Option<Duration> {
    let tcp = flow.tcp.filter(|_| !matches!(flow.carries, Carries::Datagrams(_)))?;
    limit(&plan.tcp[tcp].1)
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
fn is_long(plan: &Plan, failure: &FailurePlan, flow: &FlowPlan, limit: Duration) -> bool {
    if let Some([_, repair]) = failure.process {
        return repair >= rare(limit) && plan.stop.saturating_since(Time::ZERO) > limit;
    }
    let begins = failure.at.max(flow.start.latest().unwrap_or_default());
    let ends = failure.repair.unwrap_or(plan.stop);
    ends.saturating_since(begins) > limit
}
