//! What an observation looks at, by the numbers of the world.

use optcp_net::PortId;
use optcp_optical::switching::FibreId;
use optcp_units::Duration;

use crate::blueprint::Blueprint;

/// What an observation looks at.
#[derive(Clone, Copy, Debug)]
pub struct Watched<'a> {
    /// Where.
    pub blueprint: &'a Blueprint,
    /// The number of each flow's group, sources of datagrams included.
    pub group_of: &'a [usize],
    /// The numbers of the groups that are chosen.
    pub groups: &'a [usize],
    /// The ports that are chosen.
    pub ports: &'a [PortId],
    /// The fibres that are chosen.
    pub fibres: &'a [FibreId],
    /// When the first interval begins.
    pub after: Duration,
    /// How long an interval is; of no meaning to kinds without.
    pub interval: Duration,
}

impl Watched<'_> {
    /// By flow, the place of its group among those that are chosen.
    pub(super) fn rows_of_flows(&self) -> Vec<Option<u32>> {
        let row = |group: &usize| (0..).zip(self.groups).find(|(_, chosen)| *chosen == group);
        self.group_of.iter().map(|group| row(group).map(|(row, _)| row)).collect()
    }

    /// By flow, whether its group is chosen.
    pub(super) fn flows(&self) -> Vec<bool> {
        self.group_of.iter().map(|group| self.groups.contains(group)).collect()
    }

    /// By flow, the number of its group.
    pub(super) fn groups_of_flows(&self) -> Vec<u32> {
        let number = |&group: &usize| u32::try_from(group).unwrap_or(u32::MAX);
        self.group_of.iter().map(number).collect()
    }

    /// By port, its place among those that are chosen.
    pub(super) fn rows_of_ports(&self) -> Vec<Option<u32>> {
        let mut rows = vec![None; self.blueprint.ports.len()];
        for (row, &port) in (0..).zip(self.ports) {
            rows[port as usize] = Some(row);
        }
        rows
    }
}
