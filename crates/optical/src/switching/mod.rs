//! Core of burst switches: fibres with wavelengths that bursts reserve.
//!
//! # Model
//! Just-enough-time reservation. A control packet precedes its burst. At each node of the route,
//! including the edge, it requests a wavelength of the next fibre for the duration of the burst. If
//! no wavelength is free during that time, the burst is lost, and its upstream reservations remain.
//! [`Scheduling`] chooses among free wavelengths; [`Conversion`] determines whether the wavelength
//! may change between fibres. With preemption, bursts of a higher class take wavelengths of lower classes
//! ([`preemption`]).
//!
//! # Failures
//! A direction of a fibre fails and is repaired at given times. The nodes at its ends detect a failure after a fixed time,
//! and a repair immediately.
//! - **On the fibre.** A burst is lost as a whole if any of its bits is on the fibre while the fibre is down. It is on the
//!   fibre from the entry of its first bit until its last bit has left. If it was there at the failure, it is `lost-in-flight`; if
//!   it enters during the outage, `link-down`.
//! - **Reserved for later.** Reservations remain, on this fibre and on all others. The burst is lost if it enters before
//!   the repair, and passes otherwise.
//! - **Control packet.** It uses the same fibre and is lost in the same way, and its burst with it. A control packet that
//!   has not reached the fibre reserves it as long as the failure is undetected. Afterwards its burst is lost (`link-down`),
//!   or protected ([`crate::burst::BurstProtection`]).
//! - **In assembly.** Assembly continues, and the burst leaves as usual.
//!
//! A fibre that is taken out of service loses nothing: bursts with a reservation pass, and others find it failed.
//! Losses on a fibre are counted when the burst would have arrived, or when its control packet would have been processed.
//!
//! # References
//! C. Qiao, M. Yoo, "Optical burst switching (OBS) - a new paradigm for an optical Internet", Journal of High Speed
//! Networks 8(1), 1999 (just-enough-time); Y. Xiong, M. Vandenhoute, H. C. Cankaya, "Control architecture in optical
//! burst-switched WDM networks", IEEE JSAC 18(10), 2000 (scheduling).
//!
//! # Limitations
//! - There are no buffers: a burst without a wavelength is lost, also at the edge. Contention causes no deflection, and
//!   bursts are not segmented.
//! - Control packets use no capacity, are never lost and never wait for each other.
//! - Bursts have no header and no guard time.
//! - A control packet that is ahead of its burst continues, even if the burst is already lost. The reservations that it
//!   makes are in vain.

mod fibre;
mod horizon;
mod lauc_vf;
mod outages;
mod preemption;

use optcp_net::{DropReason, PortId};
use optcp_units::{Duration, Time, registry};

pub use fibre::{Channel, Fibre, FibreTally};

use fibre::Reservation;

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

/// Identity of a burst in the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BurstId {
    /// Port that the burst's assembler replaces.
    pub port: PortId,
    /// Number of the burst at its assembler.
    pub number: u32,
    /// Traffic class; the highest has priority.
    pub class: u8,
}

/// Burst at the node that its control packet reaches next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// Identity.
    pub burst: BurstId,
    /// Number of the route among the routes of the burst's assembler.
    pub route: usize,
    /// Number of fibres of the route reserved so far.
    pub reserved: usize,
    /// Wavelength on the last reserved fibre; `None` at the edge.
    pub wavelength: Option<u32>,
    /// Arrival time of the control packet.
    pub control_arrival: Time,
    /// Time at which the control packet entered the last reserved fibre.
    pub control_sent: Time,
    /// Arrival time of the first bit.
    pub start: Time,
    /// Burst size in bytes.
    pub bytes: u64,
    /// Number of fibres before the switch whose delay line delayed the burst.
    pub delayed_at: Option<usize>,
}

impl Crossing {
    /// Creates a burst at the ingress edge node, which its control packet leaves at `now`.
    #[must_use]
    pub fn new(burst: BurstId, now: Time, start: Time, bytes: u64) -> Self {
        Crossing {
            burst,
            route: 0,
            reserved: 0,
            wavelength: None,
            control_arrival: now,
            control_sent: now,
            start,
            bytes,
            delayed_at: None,
        }
    }
}

/// Result of a request at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossed {
    /// No wavelength was free.
    Blocked,
    /// The burst continues to the next node of its route.
    Onward(Crossing),
    /// The last fibre is reserved, and the last bit arrives behind it at this time.
    Through(Crossing, Time),
}

/// Fibres of the core, and the properties of its switches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BurstCore {
    fibres: Vec<Fibre>,
    scheduling: Scheduling,
    conversion: Conversion,
    /// Processing time of a control packet at each switch.
    processing: Duration,
    /// Handling of failures; `None` if no fibre fails.
    failing: Option<Failing>,
    /// Whether bursts take wavelengths from lower classes.
    preempts: bool,
}

/// Handling of failures by burst switches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Failing {
    /// Time from the failure of a fibre until the nodes at its ends detect it.
    pub detection: Duration,
    /// Delay of the delay line for deflected bursts in each switch.
    pub delay_line: Duration,
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
        BurstCore { fibres, scheduling, conversion, processing, failing: None, preempts: false }
    }

    /// Returns the core with fibres that may fail.
    #[must_use]
    pub fn with_failures(self, failing: Failing) -> Self {
        BurstCore { failing: Some(failing), ..self }
    }

    /// Returns the core with preemption of lower classes.
    #[must_use]
    pub fn with_preemption(self) -> Self {
        BurstCore { preempts: true, ..self }
    }

    /// Returns whether bursts take wavelengths from lower classes.
    #[must_use]
    pub fn preempts(&self) -> bool {
        self.preempts
    }

    /// Returns whether fibres may fail.
    #[must_use]
    pub fn may_fail(&self) -> bool {
        self.failing.is_some()
    }

    /// A fibre fails, or is taken out of service if `kept`.
    pub fn fail(&mut self, fibre: FibreId, now: Time, kept: bool) {
        self.fibres[fibre as usize].outages.begin(now, kept);
    }

    /// A fibre is repaired.
    pub fn restore(&mut self, fibre: FibreId, now: Time) {
        self.fibres[fibre as usize].outages.end(now);
    }

    /// Returns whether the nodes at the ends of a fibre consider it failed at `at`, not later than now.
    #[must_use]
    pub fn is_known_down(&self, fibre: FibreId, at: Time) -> bool {
        let detection = self.failing.unwrap_or_default().detection;
        self.fibres[fibre as usize].outages.are_known(at, detection)
    }

    /// Returns whether the ingress edge node considers a route failed at `now`. Each report travels back from the failed
    /// fibre, and takes as long as a control packet on its way there.
    #[must_use]
    pub fn is_reported_down(&self, route: &[FibreId], now: Time) -> bool {
        let mut report = Duration::ZERO;
        route.iter().any(|&fibre| {
            let is_known =
                now >= Time::ZERO + report && self.is_known_down(fibre, earlier(now, report));
            report += self.fibres[fibre as usize].delay() + self.processing;
            is_known
        })
    }

    /// Moves a burst to another route from its next node on, which it has reached over the same fibres. Returns `None` if
    /// its control packet would not stay ahead of it, even after the delay line. At the edge the burst waits.
    #[must_use]
    pub fn deflect(&self, burst: Crossing, route: usize, fibres: usize) -> Option<Crossing> {
        let least = BurstCore::least_offset(self.processing, fibres - burst.reserved);
        let needed = burst.control_arrival + least;
        let line = self.failing.unwrap_or_default().delay_line;
        let (start, delayed_at) = match burst.start {
            start if start >= needed => (start, None),
            _ if burst.reserved == 0 => (needed, None),
            start if start + line >= needed => (start + line, Some(burst.reserved)),
            _ => return None,
        };
        Some(Crossing { route, start, delayed_at, ..burst })
    }

    /// Returns why the control packet of a burst was lost on the last reserved fibre, which it should have left.
    #[must_use]
    pub fn harm_to_control(&self, route: &[FibreId], burst: &Crossing) -> Option<DropReason> {
        let last = burst.reserved.checked_sub(1)?;
        let fibre = &self.fibres[route[last] as usize];
        fibre.outages.harm(burst.control_sent, burst.control_sent + fibre.delay())
    }

    /// Returns why a burst was lost that should have arrived behind its route.
    #[must_use]
    pub fn harm_to_burst(&self, route: &[FibreId], burst: &Crossing) -> Option<DropReason> {
        let line = self.failing.unwrap_or_default().delay_line;
        let mut start = burst.start;
        let mut harm = None;
        for (place, &fibre) in route.iter().enumerate().rev() {
            let fibre = &self.fibres[fibre as usize];
            let left = start + fibre.transmission_time(burst.bytes);
            start = earlier(start, fibre.delay());
            harm = fibre.outages.harm(start, left).or(harm);
            if burst.delayed_at == Some(place) {
                start = earlier(start, line);
            }
        }
        harm
    }

    /// Returns the offset that keeps a control packet ahead of its burst on a route of `fibres`
    /// fibres. Each switch after the edge processes it once.
    #[must_use]
    pub fn least_offset(processing: Duration, fibres: usize) -> Duration {
        processing * fibres.saturating_sub(1) as u64
    }

    /// Returns the minimum offset of a route.
    #[must_use]
    pub fn offset_of(&self, route: &[FibreId]) -> Duration {
        BurstCore::least_offset(self.processing, route.len())
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

    /// Requests the next fibre of `route` for a burst whose control packet arrives now. Adds the bursts that it preempts to
    /// `preempted`.
    ///
    /// # Panics
    /// Panics if the whole route is reserved.
    pub fn cross(
        &mut self,
        route: &[FibreId],
        burst: Crossing,
        preempted: &mut Vec<BurstId>,
    ) -> Crossed {
        let fibre = &mut self.fibres[route[burst.reserved] as usize];
        let end = burst.start + fibre.transmission_time(burst.bytes);
        let kept = burst.wavelength.filter(|_| self.conversion == Conversion::None);
        fibre.remove_past(burst.control_arrival);
        fibre.count(burst.bytes);
        let wanted = Reservation { start: burst.start, end, burst: burst.burst };
        let free = fibre.free(self.scheduling, kept, wanted).or_else(|| {
            self.preempts.then(|| fibre.preempt(self.scheduling, kept, wanted, preempted))?
        });
        let Some(wavelength) = free else {
            fibre.count_lost(burst.bytes);
            return Crossed::Blocked;
        };
        fibre.reserve(wavelength, wanted);
        let next = Crossing {
            reserved: burst.reserved + 1,
            wavelength: Some(wavelength),
            control_arrival: burst.control_arrival + fibre.delay() + self.processing,
            control_sent: burst.control_arrival,
            start: burst.start + fibre.delay(),
            ..burst
        };
        match next.reserved == route.len() {
            true => Crossed::Through(next, end + fibre.delay()),
            false => Crossed::Onward(next),
        }
    }
}

/// Returns the time by `by` before `time`.
fn earlier(time: Time, by: Duration) -> Time {
    Time::ZERO + time.saturating_since(Time::ZERO + by)
}

#[cfg(test)]
mod preemption_tests;
#[cfg(test)]
mod tests;
