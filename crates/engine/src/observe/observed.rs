//! Trait of all kinds of observations, and their keys.

use optcp_des::Key;
use optcp_net::PortId;
use optcp_optical::burst::FlowClasses;
use optcp_optical::switching::FibreId;
use optcp_units::{Duration, Time};

use super::column::Findings;
use super::observer::Counters;
use super::record::{Record, RecordKind};
use crate::blueprint::Blueprint;

/// Kind of observation: its keys, its input and its results.
///
/// An observation takes records, or reads counters of ports and fibres at predetermined times. A run whose observations
/// take no records constructs none.
pub(super) trait Observed: Sized {
    /// Keys in scenario files.
    const KEYS: Keys;

    /// Kinds of records that it takes. [`Record::Transmitted`] and [`Record::QueueLength`] are recorded only for its
    /// ports.
    const TAKES: &'static [RecordKind] = &[];

    /// Whether it reads the tallies of its ports, which are then maintained.
    const TALLIES: bool = false;

    /// Creates an empty observation.
    fn new(watched: &Watched<'_>) -> Self;

    /// Takes a record of any port or flow.
    #[inline]
    fn record(&mut self, event: Key, record: &Record) {
        let _ = (event, record);
    }

    /// Returns the next time at which counters are to be read.
    fn next_reading(&self) -> Option<Time> {
        None
    }

    /// Reads counters at that time.
    fn read(&mut self, counters: &dyn Counters) {
        let _ = counters;
    }

    /// Ends the observation at the end of the run.
    fn finish(&mut self, at: Time) {
        let _ = at;
    }

    /// Returns the results.
    fn findings(&self) -> Findings;

    /// Returns the last time of new in-order data by chosen group, for kinds that track it.
    fn last_progress(&self) -> &[Time] {
        &[]
    }
}

/// Keys that a kind of observation accepts, and their ranges.
///
/// A kind with intervals has a row per group, port or fibre. It accepts either `groups` or `links`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keys {
    /// Groups of flows.
    pub groups: Option<Groups>,
    /// Links, in both directions.
    pub links: Option<Links>,
    /// Interval length, which is then mandatory.
    pub interval: bool,
    /// Start of the first interval.
    pub after: bool,
    /// End of the observation.
    pub until: bool,
}

/// Groups that a kind can observe; all of them by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Groups {
    /// Groups of flows.
    Flows,
    /// Groups of datagram sources.
    Datagrams,
    /// Both.
    Both,
}

/// Links that a kind can observe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// Links with queues; all of them by default.
    Queues,
    /// Links that carry bursts; all of them by default.
    Bursts,
    /// Fibres of a core of burst switches; all of them by default.
    Fibres,
    /// Any links; none by default.
    Named,
    /// Any links; all by default, including links without a name in the file.
    All,
}

impl Keys {
    /// No keys.
    pub(super) const NONE: Keys =
        Keys { groups: None, links: None, interval: false, after: false, until: false };
}

impl Groups {
    /// Returns whether a group is included; `datagrams` tells whether it consists of datagram sources.
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
    /// Returns the name of link directions in results.
    #[must_use]
    pub const fn directions(self) -> &'static str {
        match self {
            Links::Fibres => "fibres",
            _ => "ports",
        }
    }
}

/// Scope of an observation, by numbers of the blueprint.
#[derive(Clone, Copy, Debug)]
pub struct Watched<'a> {
    /// Blueprint of the run.
    pub blueprint: &'a Blueprint,
    /// Group by flow, including sources of datagrams.
    pub group_of: &'a [usize],
    /// Group of each external source ([`Blueprint::externals`]), as an index.
    pub external: &'a [usize],
    /// Chosen groups.
    pub groups: &'a [usize],
    /// Chosen ports.
    pub ports: &'a [PortId],
    /// Chosen fibres.
    pub fibres: &'a [FibreId],
    /// Start of the observation and of the first interval, inclusive.
    pub after: Duration,
    /// End of the observation, exclusive; `None` is the end of the run.
    pub until: Option<Duration>,
    /// Interval length; unused by kinds without intervals.
    pub interval: Duration,
}

impl Watched<'_> {
    /// Returns the index of each flow's group among the chosen ones.
    pub(super) fn rows_of_flows(&self) -> Vec<Option<u32>> {
        let row = |group: &usize| (0..).zip(self.groups).find(|(_, chosen)| *chosen == group);
        self.group_of.iter().map(|group| row(group).map(|(row, _)| row)).collect()
    }

    /// Returns whether the group of each flow is chosen.
    pub(super) fn flows(&self) -> Vec<bool> {
        self.group_of.iter().map(|group| self.groups.contains(group)).collect()
    }

    /// Returns the group of each flow, then of each external source.
    pub(super) fn groups_of_flows(&self) -> Vec<u32> {
        let number = |&group: &usize| u32::try_from(group).unwrap_or(u32::MAX);
        self.group_of.iter().chain(self.external).map(number).collect()
    }

    /// Returns the classes of bursts of each chosen port; no classes for ports without bursts.
    pub(super) fn burst_classes(&self) -> Vec<FlowClasses> {
        let of_port = |port: &PortId| {
            let mut assemblers = self.blueprint.assemblers.iter();
            let of_port = assemblers.find(|one| one.port() == *port);
            of_port.map(|one| one.classes().clone()).unwrap_or_default()
        };
        self.ports.iter().map(of_port).collect()
    }

    /// Returns the index of each port among the chosen ones.
    pub(super) fn rows_of_ports(&self) -> Vec<Option<u32>> {
        let mut rows = vec![None; self.blueprint.ports.len()];
        for (row, &port) in (0..).zip(self.ports) {
            rows[port.index()] = Some(row);
        }
        rows
    }
}
