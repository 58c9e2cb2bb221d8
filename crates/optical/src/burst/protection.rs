//! Routes of bursts over fibres, and protection against failures of these.
//!
//! # Model
//! An assembler has a working route. [`BurstProtection`] determines its other routes and the node that uses them.
//! - `none`: a burst whose control packet finds the next fibre failed is lost.
//! - `deflection`: the switch that finds the next fibre failed sends the burst over the shortest route that avoids this
//!   fibre, once per burst. At the edge the burst waits until its offset suffices for the new route. At other switches a
//!   burst whose offset does not suffice passes a fibre delay line, if that is long enough, and is lost otherwise.
//! - `1:1`: the ingress edge node is notified of failures and repairs of the working route. Bursts that leave between both
//!   use the backup route. Bursts in the core are not rerouted.
//! - `1+1`: each burst is sent on both routes. The egress edge node uses the copy that arrives first.
//!
//! # References
//! Deflection with delay lines: C. Hsu, T. Liu, N. Huang, "Performance analysis of deflection routing in optical
//! burst-switched networks", IEEE INFOCOM 2002. 1:1 and 1+1: RFC 4427; 1+1 of bursts: D. Griffith, S. Lee, "A 1+1 protection
//! architecture for optical burst switched networks", IEEE JSAC 21(9), 2003.
//!
//! # Limitations
//! - A delay line delays any number of bursts at once, all by the same time.
//! - Notifications use no capacity and are never lost. They travel back over the working route.
//! - If both routes of `1:1` are known to be failed, bursts use the working one and are lost.
//! - Nothing reacts to contention.

use optcp_units::{Time, registry};

use crate::switching::{BurstCore, Crossing, FibreId};

registry! {
    /// Protection of bursts against failures of fibres.
    pub enum BurstProtection ("burst-protection") {
        "none" => None: "bursts are lost until the repair", "OpTCP";
        "deflection" => Deflection: "the switch before the failed fibre uses a detour", "Hsu, Liu, Huang 2002";
        "1:1" => OneToOne: "the ingress edge node uses a disjoint route once it is notified", "RFC 4427";
        "1+1" => OnePlusOne: "each burst is sent on two disjoint routes", "Griffith, Lee 2003";
    }
}

/// Routes of bursts between two edge nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BurstRoutes {
    /// Use of the routes.
    pub protection: BurstProtection,
    /// The working route. After it, `deflection` has, for each of its fibres, the route that avoids it, or an empty one;
    /// 1:1 and 1+1 have the backup route.
    pub all: Vec<Vec<FibreId>>,
}

impl BurstRoutes {
    /// Creates an unprotected route of at least one fibre.
    #[must_use]
    pub fn unprotected(route: Vec<FibreId>) -> Self {
        BurstRoutes { protection: BurstProtection::None, all: vec![route] }
    }

    /// Returns the route of a burst that leaves its assembler now.
    pub(super) fn chosen(&self, core: &BurstCore, now: Time) -> usize {
        let is_down = |route: usize| core.is_reported_down(&self.all[route], now);
        let backup = self.protection == BurstProtection::OneToOne && is_down(0) && !is_down(1);
        usize::from(backup)
    }

    /// Returns the burst on the route that it takes from here if the next fibre is known to have failed; `None` if it is
    /// lost.
    pub(super) fn around(&self, core: &BurstCore, burst: Crossing) -> Option<Crossing> {
        if self.protection != BurstProtection::Deflection || burst.route != 0 {
            return None;
        }
        let route = burst.reserved + 1;
        let &next = self.all[route].get(burst.reserved)?;
        (!core.is_known_down(next, burst.control_arrival))
            .then(|| core.deflect(burst, route, self.all[route].len()))?
    }
}
