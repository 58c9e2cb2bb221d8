//! The schemes: which nodes act on a fault, and how long the news takes to them.

mod local;
mod loopback;
mod loopback_variant;
mod one_plus_one;
mod one_to_one;
mod path;
mod restoration;

use optcp_units::{Duration, registry};

registry! {
    /// Who acts on a fault, and when.
    pub enum Scheme ("protection") {
        "local" => Local in local: "the nodes at the ends of the backup switch as soon as the fault is known beside it; no node is notified", "GMPLS paper, sections 2 and 8.1";
        "path" => Path in path: "each end of the backup switches when it is notified, node by node", "GMPLS paper, sections 2 and 8.1";
        "loopback" => LoopBack in loopback: "the node beside the fault sends packets back to the first node, which puts them on the backup", "draft-haskin-mpls-fast-reroute-05; GMPLS paper, sections 2 and 8.1";
        "loopback-variant" => LoopBackVariant in loopback_variant: "loop-back until the first node is notified and takes the backup itself", "GMPLS paper, section 8.1";
        "1+1" => OnePlusOne in one_plus_one: "packets always travel both paths; the last node chooses when the light ends", "RFC 4427, sections 4.6 to 4.8";
        "1:1" => OneToOne in one_to_one: "the last node sees the light end and asks the first one, over the backup, to switch", "RFC 6378; ITU-T G.873.1";
        "restoration" => Restoration in restoration: "the first node is notified, computes a route and sets the backup up", "RFC 4427, section 4.6";
    }
    /// The nodes that act for a segment. Panics if `covered` names a link that the segment has not.
    #[must_use]
    pub fn points(segment: &ProtectedSegment, set_up: SetUp) -> Vec<SwitchPoint>;
}

/// What a scheme is follows from what it does for a segment of four links with one fault in the middle.
impl Scheme {
    /// Whether messages tell its nodes of a fault of the working path, so that the time matters that a node
    /// works on one.
    #[must_use]
    pub fn signals(self) -> bool {
        let news = |points: Vec<SwitchPoint>| -> Vec<_> {
            points.into_iter().map(|point| (point.working_reports, point.set_up)).collect()
        };
        news(self.example(1, 0)) != news(self.example(0, 0))
    }

    /// Whether it computes a route before it switches.
    #[must_use]
    pub fn computes(self) -> bool {
        self.example(0, 1) != self.example(0, 0)
    }

    /// Whether packets always travel both ways (a permanent bridge), and a selector takes those of one.
    #[must_use]
    pub fn bridges(self) -> bool {
        self.example(0, 0).iter().any(|point| point.turn == SwitchAction::Select)
    }

    /// Whether packets that loop back meet, at the segment's first node, others that it has put on the backup.
    #[must_use]
    pub fn rejoins_at_head(self) -> bool {
        let points = self.example(0, 0);
        let any = |route| points.iter().any(|point| point.turn == SwitchAction::Forward(route));
        any(Route::LoopBack) && any(Route::Backup)
    }

    fn example(self, processing: u64, computation: u64) -> Vec<SwitchPoint> {
        let links = vec![Duration::from_ms(1); 4];
        let segment = ProtectedSegment {
            working: links.clone(),
            working_upstream: links.clone(),
            backup: links.clone(),
            backup_upstream: links,
            covered: vec![2],
            processing: Duration::from_ms(processing),
        };
        self.points(&segment, SetUp { computation: Duration::from_ms(computation) })
    }
}

registry! {
    /// What follows a repair.
    pub enum Revert ("reversion") {
        "none" => None: "packets stay on the backup", "GMPLS paper, section 7.1";
        "electrical" => Electrical: "packets take the working path again and merge with what the backup still holds", "GMPLS paper, section 7.1";
        "optical" => Optical: "the same, but from the first packet on the restored path what the backup still holds is discarded", "GMPLS paper, section 7.1";
        "optical-emulated" => OpticalEmulated: "the last link of the backup fails as long after the switch as a signal takes along the working path", "GMPLS paper, section 7.1: what its simulations did";
    }
}

impl Revert {
    /// Whether packets of both ways may leave the last node.
    #[must_use]
    pub const fn merges(self) -> bool {
        matches!(self, Revert::Electrical | Revert::OpticalEmulated)
    }
}

/// What one backup protects, in one direction of its packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtectedSegment {
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
pub enum SwitchAction {
    /// The node forwards them another way.
    Forward(Route),
    /// They come both ways; the node, the segment's last, takes those of one.
    Select,
}

/// A node that acts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchPoint {
    /// The node, by number from the PSL.
    pub node: usize,
    /// What it does.
    pub turn: SwitchAction,
    /// The links of the working path that it hears of, and how long the news takes.
    pub working_reports: Vec<(usize, Duration)>,
    /// The links of the backup that it hears of, and how long the news takes.
    pub backup_reports: Vec<(usize, Duration)>,
    /// From its decision to a backup that carries packets.
    pub set_up: Duration,
}

impl ProtectedSegment {
    /// How long a message takes over links, each of which ends at a node that works on it.
    fn message(&self, links: &[Duration]) -> Duration {
        links.iter().fold(Duration::ZERO, |sum, &link| sum + link + self.processing)
    }

    /// From the node before `link` up to the PSL.
    fn upstream_notification_delay(&self, link: usize) -> Duration {
        self.message(&self.working_upstream[..link])
    }

    /// From the end of the light behind `link` until the PML sees it: signals, not messages.
    fn downstream_los_delay(&self, link: usize) -> Duration {
        self.working[link + 1..].iter().fold(Duration::ZERO, |sum, &link| sum + link)
    }

    /// How long news of each link of the backup takes up to the PSL.
    fn backup_told_upstream(&self) -> Vec<(usize, Duration)> {
        let told = |link| self.message(&self.backup_upstream[..link]);
        (0..self.backup.len()).map(|link| (link, told(link))).collect()
    }

    /// A point at the PSL that takes the backup.
    fn head(&self, working_reports: Vec<(usize, Duration)>) -> SwitchPoint {
        SwitchPoint {
            node: 0,
            turn: SwitchAction::Forward(Route::Backup),
            working_reports,
            backup_reports: self.backup_told_upstream(),
            set_up: Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4427, sections 4.6 and 4.12, and the GMPLS paper, section 8.1: who is notified by messages, who
    /// computes, who bridges, and where what looped back meets what goes directly.
    #[test]
    fn schemes_are_what_their_sources_say() {
        let of = |fact: fn(Scheme) -> bool| -> Vec<&str> {
            Scheme::ALL.iter().filter(|&&scheme| fact(scheme)).map(|scheme| scheme.name()).collect()
        };
        assert_eq!(of(Scheme::signals), ["path", "loopback-variant", "1:1", "restoration"]);
        assert_eq!(of(Scheme::computes), ["restoration"]);
        assert_eq!(of(Scheme::bridges), ["1+1"]);
        assert_eq!(of(Scheme::rejoins_at_head), ["loopback-variant"]);
    }
}
