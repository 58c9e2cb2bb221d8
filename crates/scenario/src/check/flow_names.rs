//! Names of flows: the node that distinguishes a flow from its siblings, and a number.

use std::collections::{BTreeMap, BTreeSet};

use super::route::Route;

/// Flow numbers in use, by group and member name.
#[derive(Default)]
pub(super) struct Numbers(BTreeMap<(usize, String), usize>);

impl Numbers {
    /// Returns the first of `count` new numbers.
    pub(super) fn take(&mut self, group: usize, member: &str, count: usize) -> usize {
        let next = self.0.entry((group, member.to_owned())).or_default();
        let first = *next;
        *next = first.saturating_add(count);
        first
    }
}

/// Returns the first position at which all routes of an entry differ, which is the position of the
/// largest group. If there is only one route, it is the source.
pub(super) fn varying(routes: &[Route]) -> usize {
    let apart = |place: &usize| {
        let members: BTreeSet<_> = routes.iter().map(|route| route.nodes.get(*place)).collect();
        members.len() == routes.len()
    };
    let longest = routes.iter().map(|route| route.nodes.len()).max().unwrap_or(0);
    (0..longest).find(apart).unwrap_or(0)
}
