//! A core of burst switches: fibres with wavelengths that bursts reserve one after the other, and lose each
//! other.
//!
//! # Models
//! Just-enough-time reservation. A control packet goes ahead of its burst and asks each node of the route,
//! the edge included, for a wavelength of the next fibre: from the burst's first bit at that node to its
//! last. Where none is free for all of that time the burst is lost, and what it has reserved upstream stays
//! reserved. Which free wavelength it gets is the [`Scheduling`]; whether it may change from fibre to fibre
//! is the [`Conversion`].
//! # Source
//! C. Qiao, M. Yoo, "Optical burst switching (OBS) - a new paradigm for an optical Internet", Journal of High
//! Speed Networks 8(1), 1999 (just-enough-time); Y. Xiong, M. Vandenhoute, H. C. Cankaya, "Control
//! architecture in optical burst-switched WDM networks", IEEE JSAC 18(10), 2000 (scheduling).
//! # Parameters
//! Wavelengths, rate and propagation delay of each fibre; scheduling; conversion; how long each switch behind
//! the edge works on a control packet.
//! # Limits
//! No buffers: a burst that finds no wavelength is lost, at the edge as everywhere. No deflection, no
//! segmentation, no priorities. Control packets take no capacity, are never lost and never wait for each
//! other. Bursts have no header and no guard time. Fibres do not fail.

mod fibre;
mod horizon;
mod lauc_vf;

use optcp_units::{Bytes, Duration, Time, registry};

pub use fibre::{Channel, Fibre, FibreTally};

/// The number of a fibre in its core.
pub type FibreId = u32;

registry! {
    /// Which wavelength of a fibre a burst reserves.
    pub enum Scheduling ("scheduling") {
        "horizon" => Horizon in horizon: "behind everything that is reserved, as close as possible", "Turner 1999; LAUC of Xiong, Vandenhoute, Cankaya 2000";
        "lauc-vf" => LaucVf in lauc_vf: "also between reservations, with the smallest gap in front", "Xiong, Vandenhoute, Cankaya 2000";
    }
    /// Since when a channel is unused before a burst from `start` to `end`, if the burst fits.
    fn unused_since(channel: &Channel, start: Time, end: Time) -> Option<Time>;
}

registry! {
    /// Whether burst switches change the wavelength of a burst.
    pub enum Conversion ("conversion") {
        "full" => Full: "to any other", "OpTCP";
        "none" => None: "never: a burst keeps the wavelength of its first fibre", "OpTCP";
    }
}

/// A burst as the node sees it to which its control packet comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// How many fibres of its route it has reserved.
    pub reserved: usize,
    /// The wavelength on the last one; `None` at the edge.
    pub wavelength: Option<u32>,
    /// When the control packet asks there.
    pub asks_at: Time,
    /// When the first bit comes there.
    pub start: Time,
    /// The size of the burst in bytes.
    pub bytes: u64,
}

/// What has become of a burst at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossed {
    /// No wavelength was free.
    Blocked,
    /// It goes on to the next node of its route.
    Onward(Crossing),
    /// It has reserved the last fibre, on this wavelength, and its last bit arrives behind it at this
    /// instant.
    Through(u32, Time),
}

/// The fibres, and how the nodes between them work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BurstCore {
    fibres: Vec<Fibre>,
    scheduling: Scheduling,
    conversion: Conversion,
    /// How long a switch works on a control packet.
    processing: Duration,
}

impl Default for BurstCore {
    /// One without fibres.
    fn default() -> Self {
        BurstCore::new(Vec::new(), Scheduling::LaucVf, Conversion::Full, Duration::ZERO)
    }
}

impl BurstCore {
    /// A core in which nothing is reserved.
    #[must_use]
    pub fn new(
        fibres: Vec<Fibre>,
        scheduling: Scheduling,
        conversion: Conversion,
        processing: Duration,
    ) -> Self {
        BurstCore { fibres, scheduling, conversion, processing }
    }

    /// The offset with which a control packet stays ahead of its burst on a route of so many fibres: each
    /// switch behind the edge works on it once.
    #[must_use]
    pub fn least_offset(processing: Duration, fibres: usize) -> Duration {
        processing * fibres.saturating_sub(1) as u64
    }

    /// What has been counted on a fibre up to `now`.
    #[must_use]
    pub fn tally(&self, fibre: FibreId, now: Time) -> FibreTally {
        self.fibres[fibre as usize].tally(now)
    }

    /// How many wavelengths a fibre has.
    #[must_use]
    pub fn wavelengths(&self, fibre: FibreId) -> u32 {
        self.fibres[fibre as usize].wavelengths()
    }

    /// A control packet asks for the next fibre of `route`, now.
    ///
    /// # Panics
    /// Where the whole route is reserved.
    pub fn cross(&mut self, route: &[FibreId], burst: Crossing) -> Crossed {
        let fibre = &mut self.fibres[route[burst.reserved] as usize];
        let end = burst.start + fibre.rate().transmission_time(Bytes::new(burst.bytes));
        let kept = burst.wavelength.filter(|_| self.conversion == Conversion::None);
        fibre.forget(burst.asks_at);
        let Some(wavelength) = fibre.reserve(self.scheduling, kept, burst.start, end, burst.bytes)
        else {
            return Crossed::Blocked;
        };
        if burst.reserved + 1 == route.len() {
            return Crossed::Through(wavelength, end + fibre.delay());
        }
        Crossed::Onward(Crossing {
            reserved: burst.reserved + 1,
            wavelength: Some(wavelength),
            asks_at: burst.asks_at + fibre.delay() + self.processing,
            start: burst.start + fibre.delay(),
            bytes: burst.bytes,
        })
    }
}

#[cfg(test)]
mod tests;
