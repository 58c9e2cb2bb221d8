//! Protection schemes: which nodes act on a failure, and how long their notification takes.

mod local;
mod loopback;
mod loopback_variant;
mod one_plus_one;
mod one_to_one;
mod path;
mod restoration;
mod segment;

use optcp_units::{Duration, registry};

registry! {
    /// Scheme: which nodes act on a failure, and when.
    pub enum Scheme ("protection") {
        "local" => Local in local: "the ends of the backup switch as soon as an adjacent node detects the failure; no node is notified", "GMPLS paper, sections 2 and 8.1";
        "path" => Path in path: "each end of the backup switches when it is notified, node by node", "GMPLS paper, sections 2 and 8.1";
        "loopback" => LoopBack in loopback: "the node in front of the failure returns packets to the head end, which sends them over the backup", "draft-haskin-mpls-fast-reroute-05; GMPLS paper, sections 2 and 8.1";
        "loopback-variant" => LoopBackVariant in loopback_variant: "loop-back until the head end is notified and uses the backup itself", "GMPLS paper, section 8.1";
        "1+1" => OnePlusOne in one_plus_one: "packets always travel both paths; the tail end switches upon loss of signal", "RFC 4427, sections 4.6 to 4.8";
        "1:1" => OneToOne in one_to_one: "the tail end detects loss of signal and requests the switchover from the head end, over the backup", "RFC 6378; ITU-T G.873.1";
        "restoration" => Restoration in restoration: "the head end is notified, computes a route and sets the backup up", "RFC 4427, section 4.6";
        "segment" => Segment in segment: "the path is divided into segments, whose ends switch when they are notified", "RFC 4873";
    }
    /// Returns the nodes that act for a segment. Panics if `covered` contains a link outside the segment.
    #[must_use]
    pub fn points(segment: &ProtectedSegment, set_up: SetUp) -> Vec<SwitchPoint>;
}

/// Properties of a scheme, derived from its switch points for a segment of four links with one failure in the middle.
impl Scheme {
    /// Returns whether messages notify nodes of a failure of the working path, so that processing time matters.
    #[must_use]
    pub fn signals(self) -> bool {
        let reports = |points: Vec<SwitchPoint>| -> Vec<_> {
            points.into_iter().map(|point| (point.working_reports, point.set_up)).collect()
        };
        reports(self.example(1, 0)) != reports(self.example(0, 0))
    }

    /// Returns whether a node computes a route before the switchover.
    #[must_use]
    pub fn computes(self) -> bool {
        self.example(0, 1) != self.example(0, 0)
    }

    /// Returns whether packets always travel both paths (permanent bridge) and a selector accepts one copy.
    #[must_use]
    pub fn bridges(self) -> bool {
        self.example(0, 0).iter().any(|point| point.turn == SwitchAction::Select)
    }

    /// Returns whether looped packets share the head end's port to the backup with direct packets.
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
    /// Behaviour after a repair.
    pub enum Revert ("reversion") {
        "none" => None: "packets stay on the backup", "GMPLS paper, section 7.1";
        "electrical" => Electrical: "packets return to the working path and merge with packets still on the backup", "GMPLS paper, section 7.1";
        "optical" => Optical: "packets return to the working path; from the first one on, packets still on the backup are discarded", "GMPLS paper, section 7.1";
        "optical-emulated" => OpticalEmulated: "the last link of the backup fails after the switch-back plus the propagation delay of the working path", "GMPLS paper, section 7.1: method of its simulations";
    }
}

impl Revert {
    /// Returns whether the tail end accepts packets of both paths.
    #[must_use]
    pub const fn merges(self) -> bool {
        matches!(self, Revert::Electrical | Revert::OpticalEmulated)
    }
}

/// Part of a path that one backup protects, in one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtectedSegment {
    /// Propagation delay of each link of the working path, from the PSL to the PML.
    pub working: Vec<Duration>,
    /// Propagation delay of each link of the working path in the opposite direction.
    pub working_upstream: Vec<Duration>,
    /// Propagation delay of each link of the backup, from the PSL to the PML.
    pub backup: Vec<Duration>,
    /// Propagation delay of each link of the backup in the opposite direction.
    pub backup_upstream: Vec<Duration>,
    /// Protected links of the working path, numbered from the PSL.
    pub covered: Vec<usize>,
    /// Processing time of a message at each node that it reaches.
    pub processing: Duration,
}

/// Set-up of a backup that is not established in advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetUp {
    /// Time to compute the route.
    pub computation: Duration,
}

/// Route to which packets are switched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// Backup, from the head end of the segment.
    Backup,
    /// Back along the working path to the head end of the segment, then the backup.
    LoopBack,
}

/// Action of a switch point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchAction {
    /// Change of forwarding.
    Forward(Route),
    /// Selection of one of two copies at the tail end of the segment.
    Select,
}

/// Node that switches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchPoint {
    /// Node, numbered from the PSL.
    pub node: usize,
    /// Action.
    pub turn: SwitchAction,
    /// Links of the working path whose failures are reported, with the notification delay.
    pub working_reports: Vec<(usize, Duration)>,
    /// Links of the backup whose failures are reported, with the notification delay.
    pub backup_reports: Vec<(usize, Duration)>,
    /// Time from the decision to a usable backup.
    pub set_up: Duration,
}

impl ProtectedSegment {
    /// Returns the delay of a message over links with a processing node at the end of each.
    fn message(&self, links: &[Duration]) -> Duration {
        links.iter().fold(Duration::ZERO, |sum, &link| sum + link + self.processing)
    }

    /// Returns the notification delay from the node in front of `link` to the PSL.
    fn upstream_notification_delay(&self, link: usize) -> Duration {
        self.message(&self.working_upstream[..link])
    }

    /// Returns the propagation delay of loss of signal from the end of `link` to the PML. No messages are involved.
    fn downstream_los_delay(&self, link: usize) -> Duration {
        self.working[link + 1..].iter().fold(Duration::ZERO, |sum, &link| sum + link)
    }

    /// Returns the notification delay to the PSL for each link of the backup.
    fn backup_notification_delays(&self) -> Vec<(usize, Duration)> {
        let delay = |link| self.message(&self.backup_upstream[..link]);
        (0..self.backup.len()).map(|link| (link, delay(link))).collect()
    }

    /// Returns a switch point at the PSL that uses the backup.
    fn head(&self, working_reports: Vec<(usize, Duration)>) -> SwitchPoint {
        SwitchPoint {
            node: 0,
            turn: SwitchAction::Forward(Route::Backup),
            working_reports,
            backup_reports: self.backup_notification_delays(),
            set_up: Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4427, sections 4.6 and 4.12, and the GMPLS paper, section 8.1: which schemes notify by messages, compute,
    /// bridge, and merge looped with direct packets.
    #[test]
    fn scheme_properties_match_sources() {
        let of = |fact: fn(Scheme) -> bool| -> Vec<&str> {
            Scheme::ALL.iter().filter(|&&scheme| fact(scheme)).map(|scheme| scheme.name()).collect()
        };
        assert_eq!(
            of(Scheme::signals),
            ["path", "loopback-variant", "1:1", "restoration", "segment"]
        );
        assert_eq!(of(Scheme::computes), ["restoration"]);
        assert_eq!(of(Scheme::bridges), ["1+1"]);
        assert_eq!(of(Scheme::rejoins_at_head), ["loopback-variant"]);
    }
}
