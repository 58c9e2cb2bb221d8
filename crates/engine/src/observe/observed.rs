//! What a kind of observation is: what it can be told, what it looks at, and what it does.

use optcp_des::Key;
use optcp_net::PortId;
use optcp_optical::switching::FibreId;
use optcp_units::{Duration, Time};

use super::column::Findings;
use super::observer::Counters;
use super::record::{Record, RecordKind};
use crate::blueprint::Blueprint;

/// A kind of observation: what it can be told, what it takes of a run, and what it makes of that.
///
/// It takes records, or it reads counts of ports and fibres at instants that it knows from the start. A run
/// in which nobody takes records builds none.
pub(super) trait Observed: Sized {
    /// The keys in scenario files.
    const KEYS: Keys;

    /// The kinds of records that it is given. [`Record::Transmitted`] and [`Record::QueueLength`] are made
    /// for the ports that it is told.
    const TAKES: &'static [RecordKind] = &[];

    /// Whether it reads the tallies of its ports, which these then keep.
    const TALLIES: bool = false;

    /// Nothing has happened yet.
    fn new(watched: &Watched<'_>) -> Self;

    /// Takes a record, of any port or flow.
    #[inline]
    fn record(&mut self, event: Key, record: &Record) {
        let _ = (event, record);
    }

    /// The next instant at which counts are to be read.
    fn next_reading(&self) -> Option<Time> {
        None
    }

    /// Reads counts, at that instant.
    fn read(&mut self, counters: &dyn Counters) {
        let _ = counters;
    }

    /// The run has ended at `at`.
    fn finish(&mut self, at: Time) {
        let _ = at;
    }

    /// What has been found.
    fn findings(&self) -> Findings;

    /// By chosen group, when its flows last had new data in order; of the kinds that count them.
    fn last_progress(&self) -> &[Time] {
        &[]
    }
}

/// Which of the keys of an observation a kind takes, and what they range over.
///
/// A kind with intervals has a row for each group or for each port or fibre: it takes one of `groups` and
/// `links`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keys {
    /// Which groups of flows.
    pub groups: Option<Groups>,
    /// Which links, both directions of each.
    pub links: Option<Links>,
    /// How long an interval is, which it then needs.
    pub interval: bool,
    /// From when on: when the first interval begins.
    pub after: bool,
    /// Up to when.
    pub until: bool,
}

/// Groups that a kind can have something to say of; all of them if none is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Groups {
    /// Those of flows.
    Flows,
    /// Those of sources of datagrams.
    Datagrams,
    /// Both.
    Both,
}

/// Links that a kind can have something to say of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// Those that packets wait for in queues; all of them if none is named.
    Queues,
    /// Those over which packets travel in bursts; all of them if none is named.
    Bursts,
    /// Fibres of a core of burst switches; all of them if none is named.
    Fibres,
    /// Any; none if none is named.
    Named,
    /// Any; all if none is named, also those that the file does not name.
    All,
}

impl Keys {
    /// Without any.
    pub(super) const NONE: Keys =
        Keys { groups: None, links: None, interval: false, after: false, until: false };
}

impl Groups {
    /// Whether a group of sources of datagrams, or one of flows, is among them.
    #[must_use]
    pub const fn include(self, datagrams: bool) -> bool {
        match self {
            Groups::Flows => !datagrams,
            Groups::Datagrams => datagrams,
            Groups::Both => true,
        }
    }
}

impl Links {
    /// What their directions are called in results.
    #[must_use]
    pub const fn directions(self) -> &'static str {
        match self {
            Links::Fibres => "fibres",
            _ => "ports",
        }
    }
}

/// What an observation looks at, by the numbers of the world.
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
    /// From when on, the instant included: when the first interval begins.
    pub after: Duration,
    /// Up to when, the instant not included; `None` is the end of the run.
    pub until: Option<Duration>,
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
            rows[port.index()] = Some(row);
        }
        rows
    }
}
