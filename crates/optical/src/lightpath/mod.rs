//! Lightpaths over fibres, and their recovery in the optical layer.
//!
//! # Model
//! A lightpath carries an IP link over a path of fibres. It is down while a fibre of its path is down. With recovery,
//! the optical layer moves it to another path. After `detection` it chooses a path over fibres that are up and have a
//! free wavelength. After `computation` and `set_up` the lightpath is up again, with the delay of the new path. If a
//! fibre of the new path fails before that, another path is chosen. Without a path, the next repair of a fibre starts
//! another attempt. If the old path is repaired first, the lightpath is up at once.
//!
//! With `wait_to_restore`, a lightpath returns to its working path as soon as that path has been up for this time. No
//! packet is lost, and packets do not overtake packets on the longer path. The working path keeps its wavelengths.
//!
//! By default a chosen path has its wavelengths at once. With `signal_processing`, a message reserves them node by node
//! ([`signalling`]).
//!
//! # References
//! RFC 4427, sections 4.6 and 4.12 (terms); RFC 3386 (recovery in several layers); RFC 4920 (crankback).
//!
//! # Parameters
//! Fibres, working paths, [`Recovery`] and [`RecoveryTiming`].
//!
//! # Limitations
//! Wavelengths are converted in every optical node, and transponders reach any distance. Without `signal_processing`,
//! lightpaths that fail together recover at the same time, in the order of their numbers.

mod course;
mod signalling;

use std::collections::BTreeSet;

use optcp_routing::{Link, Topology, Tree};
use optcp_units::{Duration, registry};

pub use course::Course;

registry! {
    /// Recovery of lightpaths in the optical layer.
    pub enum Recovery ("optical-recovery") {
        "none" => None: "a lightpath is down until its fibres are repaired", "OpTCP";
        "restoration" => Restoration: "after a failure, the shortest path over fibres that are up", "RFC 4427, section 4.6";
        "protection" => Protection: "a backup path that is known before the failure, disjoint in fibres and, if possible, in ducts", "RFC 4427, section 4.6; ITU-T G.873.1";
    }
}

/// Fibre between two optical nodes, for both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fibre {
    /// Optical nodes, as indices.
    pub ends: [usize; 2],
    /// Propagation delay.
    pub delay: Duration,
    /// Maximum number of lightpaths; `None` for no limit.
    pub wavelengths: Option<u32>,
}

/// Optical connection that carries an IP link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lightpath {
    /// Optical nodes at the ends.
    pub ends: [usize; 2],
    /// Fibres of the working path, in order.
    pub working: Vec<usize>,
    /// Fibres of the backup path; empty without one.
    pub backup: Vec<usize>,
}

/// Times of recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecoveryTiming {
    /// Time from a failure until a path is chosen.
    pub detection: Duration,
    /// Duration of the path computation.
    pub computation: Duration,
    /// Duration of the set-up.
    pub set_up: Duration,
    /// Processing time of a set-up message in each node; `None` if wavelengths are reserved without messages.
    pub signal_processing: Option<Duration>,
    /// Time that a working path must be up before its lightpath returns; `None` for no return.
    pub wait_to_restore: Option<Duration>,
}

/// Fibres with the lightpaths over them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpticalLayer {
    /// Number of optical nodes.
    pub nodes: usize,
    /// Fibres.
    pub fibres: Vec<Fibre>,
    /// Groups of fibres in one duct.
    pub ducts: Vec<Vec<usize>>,
    /// Lightpaths.
    pub lightpaths: Vec<Lightpath>,
    /// Recovery.
    pub recovery: Recovery,
    /// Times of recovery.
    pub timing: RecoveryTiming,
}

impl OpticalLayer {
    /// Returns the fibres of the shortest path between two nodes, without those in `taken`; `None` if there is no path.
    #[must_use]
    pub fn shortest(&self, ends: [usize; 2], taken: &BTreeSet<usize>) -> Option<Vec<usize>> {
        let link = |(index, fibre): (usize, &Fibre)| {
            let cost = u32::try_from(fibre.delay.as_ps() / 1000).unwrap_or(u32::MAX).max(1);
            (!taken.contains(&index)).then_some(Link { ends: fibre.ends, costs: [cost; 2] })
        };
        let topology =
            Topology::new(self.nodes, self.fibres.iter().enumerate().map(link).collect());
        let tree = Tree::new(&topology, ends[1]);
        tree.distance(ends[0])?;
        Some(tree.path(&topology, ends[0]).into_iter().map(|hop| hop.0).collect())
    }

    /// Returns a backup of a working path: without its ducts, or else without its fibres; empty if there is no path.
    #[must_use]
    pub fn backup(&self, ends: [usize; 2], working: &[usize]) -> Vec<usize> {
        let fibres: BTreeSet<usize> = working.iter().copied().collect();
        let shared = self.ducts.iter().filter(|duct| duct.iter().any(|one| fibres.contains(one)));
        let ducts: BTreeSet<usize> = shared.flatten().chain(&fibres).copied().collect();
        let found = [ducts, fibres].iter().find_map(|taken| self.shortest(ends, taken));
        found.unwrap_or_default()
    }

    /// Returns the propagation delay of a path.
    #[must_use]
    pub fn delay(&self, path: &[usize]) -> Duration {
        path.iter().fold(Duration::ZERO, |sum, &fibre| sum + self.fibres[fibre].delay)
    }
}
