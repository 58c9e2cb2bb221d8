//! Warnings of links, losses, failures and protection.

use std::collections::BTreeSet;

use optcp_units::{Bytes, Duration};

use crate::plan::{DetectionPlan, FailurePlan};
use crate::protected::Protected;
use crate::tree::{Node, Step, place};

use super::{Finder, WarningKind, first_names, text};

/// Maximum plausible delay of a link: a geostationary satellite needs 240 ms up and down.
const LONGEST_LINK: Duration = Duration::from_ms(300);
const LATEST_SWITCH: Duration = Duration::from_ms(10_000);
const SLOWEST_BPS: u64 = 64_000;
const HIGHEST_LOSS: f64 = 0.1;
const FULL_PACKET: Bytes = Bytes::new(1500);

impl Finder<'_> {
    pub(super) fn links(&mut self) {
        let plan = self.plan;
        for (index, link) in plan.links.iter().enumerate().filter(|(_, link)| !link.is_derived()) {
            for port in &link.directions {
                let delay = port.delay.long();
                if delay > LONGEST_LINK {
                    let message = format!(
                        "the delay of `{}` is {}, and light in fibre (5 us/km) takes 200 ms around the earth: check the unit of \
                         `delay`",
                        link.name,
                        text::time(delay)
                    );
                    self.warn(WarningKind::LongDelay, &self.link_place(index, "delay"), message);
                }
                if port.rate.bps() < SLOWEST_BPS {
                    let message = format!(
                        "the rate of `{}` is {}; a packet of 1500 B takes {}: check the unit of `rate`",
                        link.name,
                        text::rate(port.rate),
                        text::time(port.rate.transmission_time(FULL_PACKET))
                    );
                    self.warn(WarningKind::SlowRate, &self.link_place(index, "rate"), message);
                }
            }
        }
    }

    pub(super) fn losses(&mut self) {
        for (index, loss) in self.plan.losses.iter().enumerate() {
            if let Some(share) = loss.loses.random_share().filter(|&share| share >= HIGHEST_LOSS) {
                let message = format!(
                    "{} of the packets are lost at random, and TCP mostly waits for RTOs: lower `probability` to model a link",
                    text::per_cent(share)
                );
                self.warn(WarningKind::HighLoss, place!["losses", index, "probability"], message);
            }
        }
    }

    pub(super) fn failures(&mut self) {
        let plan = self.plan;
        let entries: BTreeSet<usize> = plan.failures.iter().map(|failure| failure.entry).collect();
        for entry in entries {
            let of_entry = || plan.failures.iter().filter(move |failure| failure.entry == entry);
            let names: Vec<&str> =
                of_entry().map(|one| plan.links[one.link].name.as_str()).collect();
            let names = first_names(&names);
            let path = match self.tree.get("failures").map_or(0, Node::items) {
                count if entry < count => place!["failures", entry],
                count => place!["schedules", entry - count],
            };
            let on_backup = |link: usize| {
                plan.protections.iter().any(|one| one.hops.iter().any(|hop| hop.0 == link))
            };
            if of_entry().all(|one| !self.crossed.links.contains(&one.link) && !on_backup(one.link))
            {
                let message = format!(
                    "no traffic crosses {names}, so that the failure has no effect: name links on a path"
                );
                self.warn(WarningKind::IdleFailure, path, message);
                continue;
            }
            for failure in of_entry() {
                self.failure(failure, path);
            }
        }
    }

    /// Checks the effect of a failure on flows that have their own path.
    fn failure(&mut self, failure: &FailurePlan, path: &[Step<'_>]) {
        let plan = self.plan;
        let (mut bare, mut open) = (BTreeSet::new(), BTreeSet::new());
        let guarded: BTreeSet<usize> =
            plan.protections.iter().filter_map(|one| one.group).collect();
        for (index, flow) in plan.flows.iter().enumerate().filter(|(_, flow)| !flow.routed) {
            let in_bundle = plan.bundles.iter().any(|bundle| bundle.has(failure.link));
            if in_bundle || !flow.hops.iter().any(|hop| hop.0 == failure.link) {
                continue;
            }
            let covers =
                plan.protections.iter().filter(|one| one.flows.contains(&index)).any(|one| {
                    let ways = (&one.backup[..], &one.hops[..]);
                    let protected = Protected::new(&plan.bundles, flow, 0, ways, &one.links);
                    protected.is_some_and(|protected| {
                        let links =
                            || protected.covered.iter().map(|&place| &protected.working()[place]);
                        links().any(|link| link.ports.iter().any(|port| port.0 == failure.link))
                    })
                });
            if covers {
                continue;
            }
            let group = plan.groups[flow.group].as_str();
            if guarded.contains(&flow.group) {
                open.insert(group);
            }
            if failure.repair.is_none() && failure.process.is_none() && !plan.may_recover(failure) {
                bare.insert(group);
            }
        }
        let link = &plan.links[failure.link].name;
        if !open.is_empty() {
            let groups = first_names(&open.into_iter().collect::<Vec<_>>());
            let message = format!(
                "no backup of {groups} avoids `{link}`, so that its failure stops flows: add a `backup` around it"
            );
            self.warn(WarningKind::NotCovered, path, message);
        }
        if !bare.is_empty() {
            let groups = first_names(&bare.into_iter().collect::<Vec<_>>());
            let message = format!(
                "flows of {groups} stop for good when `{link}` fails, since it is not repaired: add `repair`, or a backup"
            );
            self.warn(WarningKind::CutForGood, path, message);
        }
    }

    pub(super) fn switches(&mut self) {
        if self.plan.failures.is_empty() {
            return;
        }
        if let Some(routing) = &self.plan.routing
            && routing.detection > LATEST_SWITCH
        {
            let message = format!(
                "routers detect a failure after {}, and flows stall until then: check the unit of `detection`",
                text::time(routing.detection)
            );
            self.warn(WarningKind::LateSwitch, place!["routing", "detection"], message);
        }
        for protection in &self.plan.protections {
            let (key, after) = match protection.detection {
                DetectionPlan::After(delays) => ("switch_delay", delays[0].max(delays[1])),
                DetectionPlan::Hello { interval, multiplier } => {
                    ("hello", interval * u64::from(multiplier))
                }
            };
            if after + protection.hold_off > LATEST_SWITCH {
                let message = format!(
                    "packets are switched {} after a failure, and flows stall until then: check the unit of `{key}`",
                    text::time(after + protection.hold_off)
                );
                let place = place!["protection", protection.entry, key];
                self.warn(WarningKind::LateSwitch, place, message);
            }
        }
    }

    pub(super) fn backups(&mut self) {
        let plan = self.plan;
        for protection in &plan.protections {
            let backup: BTreeSet<usize> = protection.hops.iter().map(|hop| hop.0).collect();
            for way in protection.ways(&plan.flows) {
                let ways = (&protection.backup[..], &protection.hops[..]);
                let protected = Protected::new(&plan.bundles, way, 0, ways, &protection.links);
                let Some(protected) = protected else { continue };
                let covered = protected.covered.iter().map(|&place| &protected.working()[place]);
                let covered: BTreeSet<usize> =
                    covered.flat_map(|link| link.ports.iter().map(|port| port.0)).collect();
                let shared = plan.risks.iter().find(|risk| {
                    let among = |links: &BTreeSet<usize>| {
                        risk.links.iter().any(|link| links.contains(link))
                    };
                    among(&covered) && among(&backup)
                });
                if let Some(risk) = shared {
                    let what = match (protection.group, covered.first()) {
                        (Some(group), _) => &plan.groups[group],
                        (None, Some(&link)) => &plan.links[link].name,
                        (None, None) => break,
                    };
                    let message = format!(
                        "a backup of `{what}` shares the risk `{}` with its path, so that one failure affects both: use another path, \
                         or `backup = \"risk-disjoint\"`",
                        risk.name
                    );
                    let place = place!["protection", protection.entry];
                    self.warn(WarningKind::SharedRisk, place, message);
                    break;
                }
            }
        }
    }
}
