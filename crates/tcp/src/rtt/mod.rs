//! The retransmission timer and the estimators behind it.

mod bsd_ticks;
mod inet;
mod linux;
mod rfc6298;

use optcp_units::{Duration, Time};

use crate::config::{Backoff, Config, Expiry, RttKind};
use crate::seq::Seq;

pub use bsd_ticks::BsdTicks;
pub use inet::Inet;
pub use linux::Linux;
pub use rfc6298::Rfc6298;

/// The state of the chosen estimator.
#[derive(Clone, Debug)]
pub(crate) enum Estimator {
    Rfc6298(Rfc6298),
    BsdTicks(BsdTicks),
    Inet(Inet),
    Linux(Linux),
}

/// What is outstanding when a round trip is measured, the ACK that measures it counted.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// Everything below is acknowledged.
    pub una: Seq,
    /// One past the highest segment sent.
    pub max: Seq,
}

/// The retransmission timer of one sender: when it is due, how far it is backed off, and the one
/// segment whose round trip is being measured (Karn's algorithm, RFC 6298 section 3).
#[derive(Clone, Debug)]
pub struct RetransmissionTimer {
    estimator: Estimator,
    /// Power of two by which timeouts have lengthened the timer.
    backoff: u32,
    deadline: Option<Time>,
    /// Segment under measurement and when it was sent.
    timed: Option<(Seq, Time)>,
    /// The greatest `backoff`.
    max_backoff: u32,
    min_rto: Duration,
    max_rto: Duration,
    /// The timeout in force: it is asked for more often than it changes.
    rto: Duration,
    /// What the estimate is at least until something is measured.
    fallback: Duration,
    /// The greatest estimate of another network by which ACKs may come, if there is one; zero if not.
    slowest: Duration,
    /// The tick at which timers expire and where the clock stands at time zero, unless they expire at once.
    clock: Option<(Duration, Duration)>,
}

/// RFC 6298 section 5.7.
const BEHIND_LOST_SYN: Duration = Duration::from_secs(3);
/// Beyond 2^16 the timer exceeds every sensible maximum anyway.
const MAX_BACKOFF: u32 = 16;

impl RetransmissionTimer {
    /// A timer at rest, of a sender whose clock stands at `clock_phase` at time zero.
    #[must_use]
    pub fn new(config: &Config, clock_phase: Duration) -> Self {
        let mut timer = RetransmissionTimer {
            estimator: Estimator::new(config, clock_phase),
            backoff: 0,
            deadline: None,
            timed: None,
            max_backoff: match config.backoff {
                Backoff::ToMaximum => MAX_BACKOFF,
                Backoff::SixtyFourFold => 6,
            },
            min_rto: config.min_rto,
            max_rto: config.max_rto,
            rto: Duration::ZERO,
            fallback: Duration::ZERO,
            slowest: Duration::ZERO,
            clock: (config.expiry == Expiry::OnTick).then_some((config.tick, clock_phase)),
        };
        timer.set_rto();
        timer
    }

    /// When the timer is due, if it runs.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    /// The timeout in force: the estimate, at least the minimum, backed off, at most the maximum.
    #[inline]
    #[must_use]
    pub fn rto(&self) -> Duration {
        self.rto
    }

    /// Takes a changed estimate or back-off over.
    fn set_rto(&mut self) {
        let own = self.estimator.rto();
        // Data by this network, the ACK by the slowest.
        let estimate = if self.slowest > own { halfway(own, self.slowest) } else { own };
        let least = self.min_rto.max(self.fallback);
        let backed_off = estimate.max(least) * (1 << self.backoff);
        self.rto = backed_off.min(self.max_rto);
    }

    /// Starts or restarts the timer.
    #[inline]
    pub fn restart(&mut self, now: Time) {
        let due = now + self.rto();
        self.deadline = Some(match self.clock {
            None => due,
            Some((tick, phase)) => {
                let clock = due.as_ps() + phase.as_ps();
                Time::from_ps(clock.next_multiple_of(tick.as_ps()) - phase.as_ps())
            }
        });
    }

    /// Starts the timer unless it runs.
    #[inline]
    pub fn start(&mut self, now: Time) {
        if self.deadline.is_none() {
            self.restart(now);
        }
    }

    /// Stops the timer.
    pub fn stop(&mut self) {
        self.deadline = None;
    }

    /// Doubles the timeout (RFC 6298 section 5.5).
    pub fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(self.max_backoff);
        if let Estimator::BsdTicks(e) = &mut self.estimator {
            e.on_back_off(self.backoff);
        }
        self.set_rto();
    }

    /// Takes the doubling back although nothing was measured.
    pub fn end_back_off(&mut self) {
        self.backoff = 0;
        self.set_rto();
    }

    /// Data begin behind a SYN that had to be sent again: unless something was measured the timeout is
    /// three seconds (RFC 6298 section 5.7). The estimators that are older than that rule do not know it.
    pub fn begin_behind_lost_syn(&mut self) {
        let knows = matches!(self.estimator, Estimator::Rfc6298(_) | Estimator::Linux(_));
        if knows && self.srtt().is_none() {
            (self.backoff, self.fallback) = (0, BEHIND_LOST_SYN);
            self.set_rto();
        }
    }

    /// Measures the round trip of `seq`, sent now for the first time, unless another one is.
    pub fn time(&mut self, seq: Seq, now: Time) {
        if self.timed.is_none() {
            self.timed = Some((seq, now));
        }
    }

    /// Gives the measurement up: a retransmission made it ambiguous.
    pub fn forget(&mut self) {
        self.timed = None;
    }

    /// Everything below `span.una` is acknowledged: takes the measurement if that covers it, and gives it.
    #[inline]
    pub fn measure(&mut self, span: Span, now: Time) -> Option<Duration> {
        let (_, sent) = self.timed.filter(|&(seq, _)| span.una > seq)?;
        self.timed = None;
        self.sample(sent, now, 1, span);
        Some(now - sent)
    }

    /// An ACK tells when the segment that it answers was sent, with `outstanding` segments under way
    /// until then (RFC 7323 section 4.1).
    pub fn measure_sent(
        &mut self,
        sent: Time,
        now: Time,
        outstanding: u32,
        span: Span,
    ) -> Duration {
        self.timed = None;
        // RFC 7323 appendix G: as if there were one measurement a round trip.
        self.sample(sent, now, outstanding.div_ceil(2).max(1), span);
        now - sent
    }

    /// A round trip, one of `expected` in the same window.
    #[inline(never)]
    fn sample(&mut self, sent: Time, now: Time, expected: u32, span: Span) {
        (self.backoff, self.fallback) = (0, Duration::ZERO);
        match &mut self.estimator {
            Estimator::Rfc6298(e) => e.sample(now - sent, expected),
            Estimator::BsdTicks(e) => e.sample(sent, now),
            Estimator::Inet(e) => e.sample(now - sent),
            Estimator::Linux(e) => e.sample(now - sent, span),
        }
        self.set_rto();
    }

    /// The smoothed round trip, once measured.
    #[must_use]
    pub fn srtt(&self) -> Option<Duration> {
        self.estimator.srtt()
    }

    /// Goes on with the round trips of another network, and keeps `other` of this one. The timer runs on.
    pub(crate) fn exchange(&mut self, other: &mut Estimator) {
        std::mem::swap(&mut self.estimator, other);
    }

    /// ACKs may come by other networks, of which the slowest has this estimate; zero if none is measured.
    pub(crate) fn set_slowest(&mut self, slowest: Duration) {
        self.slowest = slowest;
        self.set_rto();
    }
}

/// The mean of two times.
pub(crate) fn halfway(one: Duration, other: Duration) -> Duration {
    Duration::from_ps((one + other).as_ps() / 2)
}

impl Estimator {
    /// An estimator without a measurement.
    pub(crate) fn new(config: &Config, clock_phase: Duration) -> Self {
        match config.rtt {
            RttKind::Rfc6298 => Estimator::Rfc6298(Rfc6298::new(config.tick, config.initial_rto)),
            RttKind::BsdTicks => {
                Estimator::BsdTicks(BsdTicks::new(config.tick, clock_phase, config.initial_rto))
            }
            RttKind::Inet => Estimator::Inet(Inet::new(config.initial_rto)),
            RttKind::Linux => {
                Estimator::Linux(Linux::new(config.initial_rto, config.min_rto.max(config.tick)))
            }
        }
    }

    fn rto(&self) -> Duration {
        match self {
            Estimator::Rfc6298(e) => e.rto(),
            Estimator::BsdTicks(e) => e.rto(),
            Estimator::Inet(e) => e.rto(),
            Estimator::Linux(e) => e.rto(),
        }
    }

    /// The smoothed round trip, once measured.
    fn srtt(&self) -> Option<Duration> {
        match self {
            Estimator::Rfc6298(e) => e.srtt(),
            Estimator::BsdTicks(e) => e.srtt(),
            Estimator::Inet(e) => e.srtt(),
            Estimator::Linux(e) => e.srtt(),
        }
    }

    /// The estimate, once something is measured.
    pub(crate) fn measured(&self) -> Option<Duration> {
        self.srtt().map(|_| self.rto())
    }
}
