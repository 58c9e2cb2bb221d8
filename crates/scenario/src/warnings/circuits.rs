//! Warnings of reserved backups with more capacity than available.

use std::collections::BTreeMap;

use crate::plan::{DirectedLink, ProtectionPlan};
use crate::protected::{Protected, reserved_on};
use crate::tree::place;

use super::{Finder, WarningKind, text};

impl Finder<'_> {
    /// Compares circuits with the rates of the links that they replace and of the links that they use.
    pub(super) fn circuits(&mut self) {
        let plan = self.plan;
        let bps = |(link, way): DirectedLink| plan.links[link].directions[way].rate.bps();
        for (port, circuits) in self.in_place_of() {
            let together: u64 =
                circuits.values().fold(0, |sum: u64, &rate| sum.saturating_add(rate));
            let Some(&circuit) = circuits.keys().next().filter(|_| together > bps(port)) else {
                continue;
            };
            let message = format!(
                "when `{}` fails, its flows get circuits of {} instead of {}, so that the failure can raise goodput: set a lower \
                 `rate`, or `capacity = \"reserved\"` without `rate`",
                plan.links[port.0].name,
                text::bits(together as f64),
                text::bits(bps(port) as f64),
            );
            self.warn(WarningKind::Oversubscribed, place!["protection", circuit.0], message);
        }
        for (port, reserved) in reserved_on(&plan.protections, &plan.links) {
            let link = &plan.links[port.0];
            if link.spare.is_some() || reserved <= bps(port) {
                continue;
            }
            let uses = |one: &&ProtectionPlan| {
                one.circuits.values().any(|&circuit| plan.links[circuit].over.contains(&port))
            };
            let Some(first) = plan.protections.iter().find(uses) else { continue };
            let message = format!(
                "backups reserve {} on `{}` in addition to its rate of {}: declare that capacity as `spare` of the link, or lower \
                 the `rate` of backups",
                text::bits(reserved as f64),
                link.name,
                text::bits(bps(port) as f64),
            );
            self.warn(WarningKind::Oversubscribed, place!["protection", first.entry], message);
        }
    }

    /// Returns, by protected port, the rates of the circuits that replace it, by entry. If a detour has
    /// several pieces, the slowest counts.
    fn in_place_of(&self) -> BTreeMap<DirectedLink, BTreeMap<(usize, usize), u64>> {
        let plan = self.plan;
        let mut found: BTreeMap<DirectedLink, BTreeMap<(usize, usize), u64>> = BTreeMap::new();
        for one in plan.protections.iter().filter(|one| !one.circuits.is_empty()) {
            for (way, direction) in one.ways(&plan.flows).flat_map(|way| [(way, 0), (way, 1)]) {
                let ways = (&one.backup[..], &one.hops[..]);
                let protected = Protected::new(&plan.bundles, way, direction, ways, &one.links);
                let Some(protected) = protected else { continue };
                let to_its_end = |hops: &[DirectedLink]| hops.last() == protected.backup.last();
                let circuits = one.circuits.iter().filter(|(hops, _)| to_its_end(hops));
                let rates = circuits
                    .map(|(_, &circuit)| (circuit, plan.links[circuit].directions[0].rate.bps()));
                let Some((circuit, rate)) = rates.min_by_key(|&(_, rate)| rate) else { continue };
                for &link in &protected.covered {
                    let port = protected.working()[link].ports[0];
                    found.entry(port).or_default().insert((one.entry, circuit), rate);
                }
            }
        }
        found
    }
}
