//! What a kind of observation can be told.

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
    /// When the first interval begins.
    pub after: bool,
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
    pub(super) const NONE: Keys = Keys { groups: None, links: None, interval: false, after: false };
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
