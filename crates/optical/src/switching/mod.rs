//! Core of burst switches: fibres with wavelengths that bursts reserve.
//!
//! # Model
//! Just-enough-time reservation. A control packet precedes its burst. At each node of the route,
//! including the edge, it requests a wavelength of the next fibre for the duration of the burst. If
//! no wavelength is free during that time, the burst is lost, and its upstream reservations remain.
//! [`Scheduling`] chooses among free wavelengths; [`Conversion`] determines whether the wavelength
//! may change between fibres.
//!
//! # References
//! C. Qiao, M. Yoo, "Optical burst switching (OBS) - a new paradigm for an optical Internet", Journal of High Speed
//! Networks 8(1), 1999 (just-enough-time); Y. Xiong, M. Vandenhoute, H. C. Cankaya, "Control architecture in optical
//! burst-switched WDM networks", IEEE JSAC 18(10), 2000 (scheduling).
//!
//! # Limitations
//! - There are no buffers: a burst without a wavelength is lost, also at the edge. There is no deflection, segmentation
//!   or priority.
//! - Control packets use no capacity, are never lost and never wait for each other.
//! - Bursts have no header and no guard time. Fibres do not fail.

mod fibre;
mod horizon;
mod lauc_vf;

use optcp_units::{Bytes, Duration, Time, registry};

pub use fibre::{Channel, Fibre, FibreTally};

/// Number of a fibre in its core.
pub type FibreId = u32;

registry! {
    /// Method that chooses the wavelength of a fibre.
    pub enum Scheduling ("scheduling") {
        "horizon" => Horizon in horizon: "after all reservations, with the smallest gap", "Turner 1999; LAUC of Xiong, Vandenhoute, Cankaya 2000";
        "lauc-vf" => LaucVf in lauc_vf: "also between reservations, with the smallest gap before the burst", "Xiong, Vandenhoute, Cankaya 2000";
    }
    /// Returns the time since which a channel is unused before a burst from `start` to `end`, if the burst fits.
    fn unused_since(channel: &Channel, start: Time, end: Time) -> Option<Time>;
}

registry! {
    /// Wavelength conversion in burst switches.
    pub enum Conversion ("conversion") {
        "full" => Full: "to any other wavelength", "OpTCP";
        "none" => None: "never: a burst keeps the wavelength of its first fibre", "OpTCP";
    }
}

/// Burst at the node that its control packet reaches next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// Number of fibres of the route reserved so far.
    pub reserved: usize,
    /// Wavelength on the last reserved fibre; `None` at the edge.
    pub wavelength: Option<u32>,
    /// Arrival time of the control packet.
    pub control_arrival: Time,
    /// Arrival time of the first bit.
    pub start: Time,
    /// Burst size in bytes.
    pub bytes: u64,
}

/// Result of a request at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossed {
    /// No wavelength was free.
    Blocked,
    /// The burst continues to the next node of its route.
    Onward(Crossing),
    /// The last fibre is reserved on this wavelength, and the last bit arrives behind it at this time.
    Through(u32, Time),
}

/// Fibres of the core, and the properties of its switches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BurstCore {
    fibres: Vec<Fibre>,
    scheduling: Scheduling,
    conversion: Conversion,
    /// Processing time of a control packet at each switch.
    processing: Duration,
}

impl Default for BurstCore {
    /// Creates a core without fibres.
    fn default() -> Self {
        BurstCore::new(Vec::new(), Scheduling::LaucVf, Conversion::Full, Duration::ZERO)
    }
}

impl BurstCore {
    /// Creates a core without reservations.
    #[must_use]
    pub fn new(
        fibres: Vec<Fibre>,
        scheduling: Scheduling,
        conversion: Conversion,
        processing: Duration,
    ) -> Self {
        BurstCore { fibres, scheduling, conversion, processing }
    }

    /// Returns the offset that keeps a control packet ahead of its burst on a route of `fibres`
    /// fibres. Each switch after the edge processes it once.
    #[must_use]
    pub fn least_offset(processing: Duration, fibres: usize) -> Duration {
        processing * fibres.saturating_sub(1) as u64
    }

    /// Returns the counters of a fibre until `now`.
    #[must_use]
    pub fn tally(&self, fibre: FibreId, now: Time) -> FibreTally {
        self.fibres[fibre as usize].tally(now)
    }

    /// Returns the number of wavelengths of a fibre.
    #[must_use]
    pub fn wavelengths(&self, fibre: FibreId) -> u32 {
        self.fibres[fibre as usize].wavelengths()
    }

    /// Requests the next fibre of `route` for a burst whose control packet arrives now.
    ///
    /// # Panics
    /// Panics if the whole route is reserved.
    pub fn cross(&mut self, route: &[FibreId], burst: Crossing) -> Crossed {
        let fibre = &mut self.fibres[route[burst.reserved] as usize];
        let end = burst.start + fibre.rate().transmission_time(Bytes::new(burst.bytes));
        let kept = burst.wavelength.filter(|_| self.conversion == Conversion::None);
        fibre.remove_past(burst.control_arrival);
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
            control_arrival: burst.control_arrival + fibre.delay() + self.processing,
            start: burst.start + fibre.delay(),
            bytes: burst.bytes,
        })
    }
}

#[cfg(test)]
mod tests;
