//! Retransmission timer and RTT estimators.

mod bsd_ticks;
mod clock;
mod inet;
mod linux;
mod rfc6298;
mod rfc9002;

use optcp_units::{Duration, Time};

use crate::config::{Backoff, Config, RttKind};
use crate::seq::Seq;

pub use bsd_ticks::BsdTicks;
pub(crate) use clock::TimerClock;
pub use inet::Inet;
pub use linux::Linux;
pub use rfc6298::Rfc6298;
pub use rfc9002::Rfc9002;

/// State of the selected estimator.
#[derive(Clone, Debug)]
pub(crate) enum Estimator {
    Rfc6298(Rfc6298),
    Rfc9002(Rfc9002),
    BsdTicks(BsdTicks),
    Inet(Inet),
    Linux(Linux),
}

/// Outstanding segments at the time of an RTT sample, including the ACK that gives the sample.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// Cumulative ACK: everything below is acknowledged.
    pub una: Seq,
    /// One past the highest segment sent.
    pub max: Seq,
}

/// Retransmission timer of a sender: deadline, backoff, and the segment whose RTT is being measured (Karn's
/// algorithm, RFC 6298 section 3).
#[derive(Clone, Debug)]
pub struct RetransmissionTimer {
    estimator: Estimator,
    /// Backoff exponent: the RTO is multiplied by 2^`backoff`.
    backoff: u32,
    deadline: Option<Time>,
    /// Segment under measurement, with its send time.
    timed: Option<(Seq, Time)>,
    /// Maximum of `backoff`.
    max_backoff: u32,
    min_rto: Duration,
    max_rto: Duration,
    /// Current RTO, stored because it is read more often than it changes.
    rto: Duration,
    /// Minimum of the estimate until the first sample.
    fallback: Duration,
    /// Maximum estimate of the other networks that ACKs may use; zero without any.
    slowest: Duration,
    /// Latest deadline, because the sender then gives up.
    limit: Time,
    clock: TimerClock,
}

/// RFC 6298 section 5.7.
const BEHIND_LOST_SYN: Duration = Duration::from_secs(3);
/// Above 2^16, the timer exceeds every reasonable maximum.
const MAX_BACKOFF: u32 = 16;

impl RetransmissionTimer {
    /// Creates a stopped timer. `clock_phase` is the value of the sender's clock at time zero.
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
            limit: Time::MAX,
            clock: TimerClock::new(config, clock_phase),
        };
        timer.set_rto();
        timer
    }

    /// Returns the deadline, if the timer is running.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    /// Returns the current RTO: the estimate, at least the minimum, backed off, at most the maximum.
    #[inline]
    #[must_use]
    pub fn rto(&self) -> Duration {
        self.rto
    }

    /// Updates the RTO after a change of estimate or backoff.
    fn set_rto(&mut self) {
        let own = self.estimator.rto();
        // The data use this network, the ACK uses the slowest.
        let estimate = if self.slowest > own { halfway(own, self.slowest) } else { own };
        let least = self.min_rto.max(self.fallback);
        let backed_off = self.clock.stored(estimate.max(least)) * (1 << self.backoff);
        self.rto = backed_off.min(self.max_rto);
    }

    /// Starts or restarts the timer.
    #[inline]
    pub fn restart(&mut self, now: Time) {
        self.deadline = Some(self.clock.due(now, self.rto()).min(self.limit));
    }

    /// Restarts the timer as if it had been started at `since`, but for at least the smallest timeout.
    pub(crate) fn restart_since(&mut self, since: Time, now: Time) {
        let due = since + self.rto();
        let left = if due > now { due - now } else { Duration::from_ps(1) };
        self.deadline = Some(self.clock.due(now, left).min(self.limit));
    }

    /// Limits later deadlines to the time that is `timeout` after `since`.
    pub(crate) fn limit(&mut self, since: Time, timeout: Duration) {
        self.limit = self.clock.due(since, timeout);
    }

    /// Ends the limit.
    pub(crate) fn end_limit(&mut self) {
        self.limit = Time::MAX;
    }

    /// Returns the clock of the host's timers.
    pub(crate) fn clock(&self) -> TimerClock {
        self.clock
    }

    /// Starts the timer unless it is running.
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

    /// Doubles the RTO (RFC 6298 section 5.5).
    pub fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(self.max_backoff);
        if let Estimator::BsdTicks(e) = &mut self.estimator {
            e.on_back_off(self.backoff);
        }
        self.set_rto();
    }

    /// Ends the backoff without a sample.
    pub fn end_back_off(&mut self) {
        self.backoff = 0;
        self.set_rto();
    }

    /// Sets the RTO for the data after a retransmitted SYN: three seconds without a sample (RFC 6298 section
    /// 5.7). Estimators older than that rule ignore it.
    pub fn begin_behind_lost_syn(&mut self) {
        let knows = matches!(self.estimator, Estimator::Rfc6298(_) | Estimator::Linux(_));
        if knows && self.srtt().is_none() {
            (self.backoff, self.fallback) = (0, BEHIND_LOST_SYN);
            self.set_rto();
        }
    }

    /// Starts to measure the RTT of `seq`, sent now for the first time, unless another measurement is in
    /// progress.
    pub fn time(&mut self, seq: Seq, now: Time) {
        if self.timed.is_none() {
            self.timed = Some((seq, now));
        }
    }

    /// Discards the measurement: a retransmission made it ambiguous.
    pub fn forget(&mut self) {
        self.timed = None;
    }

    /// Takes and returns the RTT sample if everything below `span.una` covers the measured segment.
    #[inline]
    pub fn measure(&mut self, span: Span, now: Time) -> Option<Duration> {
        let (_, sent) = self.timed.filter(|&(seq, _)| span.una > seq)?;
        self.timed = None;
        self.sample(sent, now, 1, span);
        Some(now - sent)
    }

    /// Takes a sample from an ACK that reports the send time of its segment, with `outstanding` segments in
    /// flight until then (RFC 7323 section 4.1).
    pub fn measure_sent(
        &mut self,
        sent: Time,
        now: Time,
        outstanding: u32,
        span: Span,
    ) -> Duration {
        self.timed = None;
        // RFC 7323 appendix G: equivalent to one sample per RTT.
        self.sample(sent, now, outstanding.div_ceil(2).max(1), span);
        now - sent
    }

    /// Takes a sample of a connection whose receiver reports that it delayed the ACK by `delay`.
    pub(crate) fn measure_delayed(&mut self, sent: Time, now: Time, delay: Duration, span: Span) {
        match &mut self.estimator {
            Estimator::Rfc9002(e) => {
                e.sample(now - sent, delay);
                self.set_rto();
            }
            _ => self.sample(sent, now, 1, span),
        }
    }

    /// Takes a sample, one of `expected` in the same window.
    #[inline(never)]
    fn sample(&mut self, sent: Time, now: Time, expected: u32, span: Span) {
        (self.backoff, self.fallback) = (0, Duration::ZERO);
        match &mut self.estimator {
            Estimator::Rfc6298(e) => e.sample(now - sent, expected),
            Estimator::Rfc9002(e) => e.sample(now - sent, Duration::ZERO),
            Estimator::BsdTicks(e) => e.sample(sent, now),
            Estimator::Inet(e) => e.sample(now - sent),
            Estimator::Linux(e) => e.sample(now - sent, span),
        }
        self.set_rto();
    }

    /// Returns the smoothed RTT, once measured.
    #[must_use]
    pub fn srtt(&self) -> Option<Duration> {
        self.estimator.srtt()
    }

    /// Swaps the estimates with another network's in `other`. The timer keeps running.
    pub(crate) fn exchange(&mut self, other: &mut Estimator) {
        std::mem::swap(&mut self.estimator, other);
    }

    /// Sets the RTO estimate of the slowest network that ACKs may use; zero if none is measured.
    pub(crate) fn set_slowest(&mut self, slowest: Duration) {
        self.slowest = slowest;
        self.set_rto();
    }
}

/// Returns the mean of two times.
pub(crate) fn halfway(one: Duration, other: Duration) -> Duration {
    Duration::from_ps((one + other).as_ps() / 2)
}

impl Estimator {
    /// Creates an estimator without samples.
    pub(crate) fn new(config: &Config, clock_phase: Duration) -> Self {
        match config.rtt {
            RttKind::Rfc6298 => Estimator::Rfc6298(Rfc6298::new(config.tick, config.initial_rto)),
            RttKind::Rfc9002 => {
                Estimator::Rfc9002(Rfc9002::new(config.tick, config.initial_rto, config.ack_delay))
            }
            RttKind::BsdTicks => {
                Estimator::BsdTicks(BsdTicks::new(config.tick, clock_phase, config.initial_rto))
            }
            RttKind::Inet => Estimator::Inet(Inet::new(config.initial_rto)),
            RttKind::Linux => {
                Estimator::Linux(Linux::new(config.initial_rto, config.min_rto.max(config.tick)))
            }
        }
    }

    #[inline]
    fn rto(&self) -> Duration {
        match self {
            Estimator::Rfc6298(e) => e.rto(),
            Estimator::Rfc9002(e) => e.rto(),
            Estimator::BsdTicks(e) => e.rto(),
            Estimator::Inet(e) => e.rto(),
            Estimator::Linux(e) => e.rto(),
        }
    }

    /// Returns the smoothed RTT, once measured.
    fn srtt(&self) -> Option<Duration> {
        match self {
            Estimator::Rfc6298(e) => e.srtt(),
            Estimator::Rfc9002(e) => e.srtt(),
            Estimator::BsdTicks(e) => e.srtt(),
            Estimator::Inet(e) => e.srtt(),
            Estimator::Linux(e) => e.srtt(),
        }
    }

    /// Returns the RTO estimate, once measured.
    pub(crate) fn measured(&self) -> Option<Duration> {
        self.srtt().map(|_| self.rto())
    }
}
