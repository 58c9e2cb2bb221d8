//! Links between all members of a group, or of two groups.

use crate::problem::Problems;
use crate::schema::{LinksEntry, ListOr};
use crate::tree::{Step, place};

use super::network::Network;

impl Network {
    /// Links all pairs of members of a group, or all members of one group to all members of another.
    pub(super) fn mesh(
        &mut self,
        i: usize,
        entry: &LinksEntry,
        groups: &ListOr<String>,
        problems: &mut Problems<'_>,
    ) {
        let place = place!["links", i, "mesh"];
        let pairs = match groups {
            ListOr::Found(group) => self.pairs_within(group, place, problems),
            ListOr::List(groups) => self.pairs_between(groups, place, problems),
        };
        let Some(pairs) = pairs else {
            self.incomplete = true;
            return;
        };
        if let Some(key) = ["name", "count", "members"]
            .into_iter()
            .zip([entry.name.is_some(), entry.count.is_some(), entry.members.is_some()])
            .find_map(|(key, given)| given.then_some(key))
        {
            problems
                .at(place!["links", i, key], format!("`{key}` is not used here"))
                .label("each pair of members has one link, named after both");
            self.incomplete = true;
            return;
        }
        for ends in pairs {
            if !self.add_link(Some(i), entry, ends, place, problems) {
                return;
            }
        }
    }

    /// Returns all pairs of members of a group.
    fn pairs_within(
        &mut self,
        group: &str,
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) -> Option<Vec<[usize; 2]>> {
        let members = self.group_named(group, place, problems)?;
        if members.len() < 2 {
            problems.at(place, format!("`{group}` has fewer than two members"));
            return None;
        }
        let pairs = members.iter().enumerate();
        Some(pairs.flat_map(|(at, &a)| members[at + 1..].iter().map(move |&b| [a, b])).collect())
    }

    /// Returns each member of the first group with each member of the second.
    fn pairs_between(
        &mut self,
        groups: &[String],
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) -> Option<Vec<[usize; 2]>> {
        let [first, second] = groups else {
            problems.at(place, "a list in `mesh` has two groups").label(
                "expected one group such as `\"T\"`, or two such as `[\"leaf\", \"spine\"]`",
            );
            return None;
        };
        if first == second {
            problems
                .at(place, format!("a mesh between `{first}` and itself"))
                .label(format!("write `\"{first}\"` for links between its members"));
            return None;
        }
        let mut members = |at: usize| {
            let place = [place, place![at]].concat();
            self.group_named(&groups[at], &place, problems)
        };
        let (from, to) = (members(0), members(1));
        let (from, to) = (from?, to?);
        Some(from.iter().flat_map(|&a| to.iter().map(move |&b| [a, b])).collect())
    }
}
