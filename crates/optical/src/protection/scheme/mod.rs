//! The schemes: which nodes act on a fault, and how long the news takes to them.

mod local;
mod loopback;
mod loopback_variant;
mod one_plus_one;
mod one_to_one;
mod path;
mod restoration;

use optcp_units::Duration;

/// Which protection scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// The node beside the fault switches.
    Local,
    /// The first node of the segment switches when it is told.
    Path,
    /// The node beside the fault sends packets back, and from the segment's first node along the backup.
    LoopBack,
    /// As `LoopBack`, until the first node is told and takes the backup directly.
    LoopBackVariant,
    /// The first node always sends on both ways, the last one chooses.
    OnePlusOne,
    /// The last node sees the fault and asks the first one to switch.
    OneToOne,
    /// The backup is found and set up after the first node is told.
    Restoration,
}

/// What one backup protects, in one direction of its packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Propagation delay of each link of the working path, from the PSL to the PML.
    pub working: Vec<Duration>,
    /// The same against the direction of the packets.
    pub working_upstream: Vec<Duration>,
    /// Propagation delay of each link of the backup, from the PSL to the PML.
    pub backup: Vec<Duration>,
    /// The same against the direction of the packets.
    pub backup_upstream: Vec<Duration>,
    /// The protected links of the working path, by number from the PSL.
    pub covered: Vec<usize>,
    /// How long each node that a message comes to works on it.
    pub processing: Duration,
}

/// How a backup comes about that is not set up beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetUp {
    /// Finding the route.
    pub computation: Duration,
}

/// Where packets are switched to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// The backup, from the segment's first node.
    Backup,
    /// Back along the working path to the segment's first node, then the backup.
    LoopBack,
}

/// How packets are switched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The node forwards them another way.
    Forward(Route),
    /// They come both ways; the node, the segment's last, takes those of one.
    Select,
}

/// A node that acts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// The node, by number from the PSL.
    pub node: usize,
    /// What it does.
    pub turn: Turn,
    /// The links of the working path that it hears of, and how long the news takes.
    pub working_news: Vec<(usize, Duration)>,
    /// The links of the backup that it hears of, and how long the news takes.
    pub backup_news: Vec<(usize, Duration)>,
    /// From its decision to a backup that carries packets.
    pub set_up: Duration,
}

impl Scheme {
    /// The nodes that act for a segment.
    ///
    /// # Panics
    /// If `covered` names a link that the segment has not.
    #[must_use]
    pub fn points(self, segment: &Segment, set_up: SetUp) -> Vec<Point> {
        match self {
            Scheme::Local => local::points(segment),
            Scheme::Path => path::points(segment),
            Scheme::LoopBack => loopback::points(segment),
            Scheme::LoopBackVariant => loopback_variant::points(segment),
            Scheme::OnePlusOne => one_plus_one::points(segment),
            Scheme::OneToOne => one_to_one::points(segment),
            Scheme::Restoration => restoration::points(segment, set_up),
        }
    }
}

impl Segment {
    /// How long a message takes over links, each of which ends at a node that works on it.
    fn message(&self, links: &[Duration]) -> Duration {
        links.iter().fold(Duration::ZERO, |sum, &link| sum + link + self.processing)
    }

    /// From the node before `link` up to the PSL.
    fn told_upstream(&self, link: usize) -> Duration {
        self.message(&self.working_upstream[..link])
    }

    /// From the end of the light behind `link` until the PML sees it: signals, not messages.
    fn dark_downstream(&self, link: usize) -> Duration {
        self.working[link + 1..].iter().fold(Duration::ZERO, |sum, &link| sum + link)
    }

    /// How long news of each link of the backup takes up to the PSL.
    fn backup_told_upstream(&self) -> Vec<(usize, Duration)> {
        let told = |link| self.message(&self.backup_upstream[..link]);
        (0..self.backup.len()).map(|link| (link, told(link))).collect()
    }

    /// A point at the PSL that takes the backup.
    fn head(&self, working_news: Vec<(usize, Duration)>) -> Point {
        Point {
            node: 0,
            turn: Turn::Forward(Route::Backup),
            working_news,
            backup_news: self.backup_told_upstream(),
            set_up: Duration::ZERO,
        }
    }
}
