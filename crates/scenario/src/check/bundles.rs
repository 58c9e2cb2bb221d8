//! Bundles of parallel links.

use optcp_units::Duration;

use crate::plan::{BundlePlan, DirectedLink};
use crate::problem::Problems;
use crate::schema::{BundleEntry, File};
use crate::tree::place;
use optcp_units::nearest::suggestion;

use super::bounds::check_name;
use super::network::Network;

impl Network {
    /// Creates the bundles.
    pub(super) fn bundles(&mut self, file: &File, problems: &mut Problems<'_>) {
        for (i, entry) in file.bundles.iter().enumerate() {
            let place = place!["bundles", i, "name"];
            check_name(&entry.name, place, problems);
            let taken = self.node.contains_key(&entry.name)
                || self.group.contains_key(&entry.name)
                || self.link.contains_key(&entry.name)
                || self.parallel.contains_key(&entry.name)
                || self.bundle.contains_key(&entry.name);
            if taken {
                let message = format!("duplicate name `{}`", entry.name);
                problems.at(place, message).label("names of nodes, links and bundles must differ");
            }
            let Some(members) = self.members(i, entry, problems) else {
                self.incomplete = true;
                continue;
            };
            let (link, direction) = members[0];
            let [a, b] = self.links[link].ends;
            let ends = if direction == 0 { [a, b] } else { [b, a] };
            let number = self.bundles.len();
            self.bundle.insert(entry.name.clone(), number);
            self.bundles.push(BundlePlan {
                name: entry.name.clone(),
                ends,
                members,
                selection: entry.selection,
                detection: entry.detection.map_or(Duration::ZERO, |detection| detection.0),
            });
        }
    }

    /// Returns the links of a bundle, all in the direction in which the first one is written.
    fn members(
        &self,
        i: usize,
        entry: &BundleEntry,
        problems: &mut Problems<'_>,
    ) -> Option<Vec<DirectedLink>> {
        let mut members: Vec<DirectedLink> = Vec::new();
        for (j, name) in entry.links.iter().enumerate() {
            let place = place!["bundles", i, "links", j];
            let links = match (self.link.get(name), self.parallel.get(name)) {
                (Some(&link), _) => vec![link],
                (None, Some(links)) => links.clone(),
                (None, None) => {
                    if !self.incomplete {
                        let known = self.parallel.keys().map(String::as_str);
                        let known = known.chain(self.links.iter().map(|link| link.name.as_str()));
                        let help = suggestion(name, "links", known);
                        problems.at(place, format!("unknown link `{name}`")).help(help);
                    }
                    return None;
                }
            };
            for link in links {
                let ends = self.links[link].ends;
                let first = members.first().map_or(ends, |&(first, _)| self.links[first].ends);
                let direction = usize::from(ends != first);
                if direction == 1 && ends != [first[1], first[0]] {
                    let [a, b] = first.map(|node| self.name(node));
                    problems
                        .at(place, format!("`{name}` does not link `{a}` and `{b}`"))
                        .label("links of a bundle are parallel");
                    return None;
                }
                if self.links[link].voq.is_some() {
                    problems
                        .at(place, format!("`{name}` is a virtual output queue"))
                        .label("a bundle consists of links");
                    return None;
                }
                let other = self.bundles.iter().find(|bundle| bundle.has(link));
                if let Some(other) = other {
                    problems.at(place, format!("`{name}` is already in bundle `{}`", other.name));
                    return None;
                }
                if members.contains(&(link, direction)) {
                    problems.at(place, format!("`{name}` is listed twice"));
                    return None;
                }
                members.push((link, direction));
            }
        }
        if members.is_empty() {
            problems.at(place!["bundles", i, "links"], "bundle without links");
            return None;
        }
        Some(members)
    }
}
