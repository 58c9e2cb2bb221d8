//! Proportional integral controller enhanced (PIE).

use optcp_des::Stream;
use optcp_units::{Bytes, Duration, Time};

use super::parameters::parameters;
use super::{Backlog, Link, OnArrival, Verdict};
use crate::{DropReason, Packet};

/// PIE: drops or marks arriving packets at random. The probability is updated periodically from the queueing delay and
/// its change.
///
/// # Model
/// - Every `update`, the probability changes by `alpha` times the deviation of the delay from `target`, plus `beta`
///   times the increase of the delay. Both gains are reduced while the probability is small.
/// - For `max_burst` after an idle period, no packet is dropped.
/// - Drops are spaced: none before the sum of probabilities since the last drop reaches 0.85, and certainly at 8.5.
///
/// # References
/// RFC 8033, section 4 and appendix A. Gains follow section 4.3 and appendix A, ECN section 5.1,
/// and spaced drops section 5.4, in units of packets.
///
/// # Limitations
/// - The delay is the exact queueing delay of a packet that arrives now at a link of known rate. The departure rate is
///   not estimated (section 4.2 permits this). Linux uses the delay of the last departed packet, adds 2 % per update
///   above 250 ms, and lets the probability exceed one.
/// - Updates are due at multiples of `update` from the start of the run. Updates between two packets are computed when
///   the second one arrives.
/// - A link failure empties the queue and resets the state.
#[derive(Clone, Debug)]
pub struct Pie {
    parameters: PieParameters,
    stream: Option<Stream>,
    probability: f64,
    delay: Duration,
    burst_allowance: Duration,
    /// Sum of the probabilities since the last drop.
    accumulated: f64,
    /// Time of the next update.
    due: Time,
}

parameters! {
    /// Parameters of [`Pie`].
    pub struct PieParameters {
        /// Target queueing delay.
        target: Duration = Duration::from_ms(15), "RFC 8033 section 4.2, QDELAY_REF";
        /// Time between updates.
        update: Duration = Duration::from_ms(15), "RFC 8033 section 4.2, T_UPDATE";
        /// Gain of the deviation from the target, in 1/s.
        alpha: f64 = 0.125, "RFC 8033 section 4.2";
        /// Gain of the increase of the delay, in 1/s.
        beta: f64 = 1.25, "RFC 8033 section 4.2";
        /// Time after an idle period during which no packet is dropped.
        max_burst: Duration = Duration::from_ms(150), "RFC 8033 section 4.4, MAX_BURST";
        /// Mean packet size; no packet is dropped with up to two of them in the queue.
        mean_packet: Bytes = Bytes::new(1500), "RFC 8033 section 4.1";
        /// Whether drops are spaced.
        derandomize: bool = true, "RFC 8033 section 5.4";
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool = false, "RFC 8033 section 5.1: may";
        /// Maximum probability at which packets are marked.
        ecn_most: f64 = 0.1, "RFC 8033 section 5.1, mark_ecnth";
    }
    wrong |it| {
        "target" if it.target == Duration::ZERO => "above zero";
        "update" if it.update < Duration::from_us(1) => "at least a microsecond";
        "alpha" if !(it.alpha >= 0.0 && it.alpha <= 1e6) => "from 0 to a million";
        "beta" if !(it.beta >= 0.0 && it.beta <= 1e6) => "from 0 to a million";
        "ecn_most" if !(0.0..=1.0).contains(&it.ecn_most) => "from 0 to 1";
    }
}

impl OnArrival for Pie {
    type Parameters = PieParameters;

    fn new(parameters: &PieParameters, link: &Link) -> Self {
        Pie {
            stream: link.stream.clone(),
            probability: 0.0,
            delay: Duration::ZERO,
            burst_allowance: parameters.max_burst,
            accumulated: 0.0,
            due: Time::ZERO + parameters.update,
            parameters: parameters.clone(),
        }
    }

    fn decide(&mut self, backlog: &Backlog, packet: Packet) -> Verdict {
        self.catch_up(backlog.now, backlog.until);
        if !self.signals(backlog) {
            return Verdict::Take;
        }
        let PieParameters { ecn, ecn_most, .. } = self.parameters;
        match ecn && self.probability <= ecn_most && packet.marking().takes_marks() {
            true => Verdict::Mark,
            false => Verdict::Drop(DropReason::Aqm),
        }
    }

    fn restart(&mut self) {
        (self.probability, self.accumulated) = (0.0, 0.0);
        self.delay = Duration::ZERO;
        self.burst_allowance = self.parameters.max_burst;
    }
}

impl Pie {
    /// Executes the updates until `now`; all queued packets will have been sent at `until`.
    fn catch_up(&mut self, now: Time, until: Time) {
        while self.due <= now {
            self.update(until.saturating_since(self.due));
            self.due = self.due + self.parameters.update;
            self.skip(now, until);
        }
    }

    /// Skips updates that leave the probability at a limit while the delay falls. On a slow link, millions of them may
    /// be due between two packets.
    fn skip(&mut self, now: Time, until: Time) {
        let PieParameters { update, target, alpha, beta, max_burst, .. } = self.parameters;
        let half = Duration::from_ps(target.as_ps() / 2);
        // The probability would fall below 0, and the burst allowance is at its maximum.
        let stays_at_0 =
            self.probability == 0.0 && self.burst_allowance == max_burst && self.delay < half;
        let last = if stays_at_0 {
            now
        } else if self.probability >= 1.0 && self.burst_allowance == Duration::ZERO {
            // The probability would rise above 1 while alpha (delay - target) > beta update.
            let updates = beta / alpha + 2.0;
            let Some(margin) = Duration::from_secs_f64(updates * update.as_secs_f64()) else {
                return;
            };
            let least = target.as_ps().saturating_add(margin.as_ps());
            now.min(Time::from_ps(until.as_ps().saturating_sub(least)))
        } else {
            return;
        };
        if self.due <= last {
            let more = (last - self.due).as_ps() / update.as_ps();
            let last = self.due + update * more;
            self.delay = until.saturating_since(last);
            self.due = last + update;
        }
    }

    /// Updates the probability (RFC 8033 section 4.2 and appendix A, `calculate_drop_prob`; section 4.4 for bursts).
    fn update(&mut self, delay: Duration) {
        let PieParameters { target, alpha, beta, .. } = self.parameters;
        let old_delay = std::mem::replace(&mut self.delay, delay);
        let [now, before, target_s] = [delay, old_delay, target].map(Duration::as_secs_f64);
        let change = (alpha * (now - target_s) + beta * (now - before)) / scale(self.probability);
        // At high probabilities the increase per update is limited.
        let change = if self.probability >= 0.1 { change.min(0.02) } else { change };
        self.probability += change;
        if delay == Duration::ZERO && old_delay == Duration::ZERO {
            self.probability *= 0.98;
            // Without this it would reach zero only by floating-point underflow.
            if self.probability < 1e-12 {
                self.probability = 0.0;
            }
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        let allowance = self.burst_allowance.as_ps().saturating_sub(self.parameters.update.as_ps());
        self.burst_allowance = Duration::from_ps(allowance);
        let half = Duration::from_ps(target.as_ps() / 2);
        if self.probability == 0.0 && delay < half && old_delay < half {
            self.burst_allowance = self.parameters.max_burst;
        }
    }

    /// Returns whether this arrival is dropped or marked; the caller chooses which (RFC 8033 sections 4.1 and 5.4).
    fn signals(&mut self, backlog: &Backlog) -> bool {
        let half = Duration::from_ps(self.parameters.target.as_ps() / 2);
        let calm = self.delay < half && self.probability < 0.2;
        let short = backlog.bytes <= 2 * self.parameters.mean_packet.count();
        if self.burst_allowance > Duration::ZERO || calm || short {
            return false;
        }
        if self.parameters.derandomize {
            if self.probability == 0.0 {
                self.accumulated = 0.0;
            }
            self.accumulated += self.probability;
            if self.accumulated < 0.85 {
                return false;
            }
            if self.accumulated >= 8.5 {
                self.accumulated = 0.0;
                return true;
            }
        }
        let signalled = self.draw() < self.probability;
        if signalled {
            self.accumulated = 0.0;
        }
        signalled
    }

    /// Returns a random number in [0, 1).
    fn draw(&mut self) -> f64 {
        let Some(stream) = &mut self.stream else { return 1.0 };
        (stream.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Returns the divisor of the gains at this probability (RFC 8033 section 4.2).
fn scale(probability: f64) -> f64 {
    const STEPS: [(f64, f64); 6] =
        [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (0.1, 2.0)];
    STEPS.iter().find(|(below, _)| probability < *below).map_or(1.0, |&(_, by)| by)
}

#[cfg(test)]
mod recorded;

#[cfg(test)]
mod tests {
    use optcp_des::Streams;

    use super::*;
    use crate::QueueLimit;
    use crate::queue::tests::{backlog, choose_one, link, packet};

    fn pie(parameters: &PieParameters) -> Pie {
        let stream = Some(Streams::new(1).stream("pie"));
        Pie::new(parameters, &Link { stream, ..link(QueueLimit::Unlimited) })
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_ms(ms)
    }

    /// Computed by hand from appendix A: at 40 ms after 30 ms the change is 0.125 * 0.025 + 1.25 * 0.01 = 0.015 625. It
    /// is divided by 2048 below a millionth, by 8 from 0.001, by 1 from 0.1, where it is at most 0.02.
    #[test]
    fn probability_follows_control_law() {
        for (before, divided) in
            [(0.0, 2048.0), (5e-6, 512.0), (0.005, 8.0), (0.05, 2.0), (0.3, 1.0)]
        {
            let mut pie = pie(&PieParameters::default());
            (pie.probability, pie.delay) = (before, ms(30));
            pie.update(ms(40));
            assert!((pie.probability - (before + 0.015_625 / divided)).abs() < 1e-15, "{before}");
        }
        let mut pie = pie(&PieParameters::default());
        (pie.probability, pie.delay) = (0.3, ms(30));
        pie.update(ms(60));
        assert!((pie.probability - 0.32).abs() < 1e-15, "capped: 0.043 125 otherwise");
    }

    /// Two delays of zero in a row reduce it by another 2 %: (0.05 - 0.125 * 0.015 / 2) * 0.98.
    #[test]
    fn probability_decays_when_queue_is_empty() {
        let mut pie = pie(&PieParameters::default());
        pie.probability = 0.05;
        pie.update(Duration::ZERO);
        assert!((pie.probability - (0.05 - 0.000_937_5) * 0.98).abs() < 1e-15);
    }

    /// The burst allowance of 150 ms lasts for ten updates of 15 ms.
    #[test]
    fn packets_pass_during_burst_allowance() {
        let mut pie = pie(&PieParameters { derandomize: false, ..PieParameters::default() });
        pie.probability = 1.0;
        let at = |now: u64| {
            let now = Time::ZERO + ms(now);
            Backlog { now, until: now + ms(100), ..backlog(100, 150_000) }
        };
        assert_eq!(pie.decide(&at(149), packet(0, 1500)), Verdict::Take);
        assert_eq!(pie.decide(&at(150), packet(0, 1500)), Verdict::Drop(DropReason::Aqm));
    }

    /// Section 5.4: at probability 0.1 none of the first eight packets is dropped (0.8 < 0.85).
    #[test]
    fn drops_are_spaced() {
        let mut pie = pie(&PieParameters::default());
        (pie.probability, pie.delay, pie.burst_allowance) = (0.1, ms(20), Duration::ZERO);
        let full = backlog(100, 150_000);
        assert!((0..8).all(|_| !pie.signals(&full)));
        let gaps: Vec<usize> =
            (0..200).map(|_| (1..).find(|_| pie.signals(&full)).unwrap()).collect();
        assert!(gaps[1..].iter().all(|&gap| gap >= 9), "{gaps:?}");
    }

    /// Updates between two packets find the queue draining: 20 ms, then 5 ms, then zero.
    #[test]
    fn missed_updates_are_computed_at_next_arrival() {
        let mut one = pie(&PieParameters::default());
        one.catch_up(Time::ZERO + ms(60), Time::ZERO + ms(35));
        let mut other = pie(&PieParameters::default());
        [20, 5, 0, 0].into_iter().for_each(|delay| other.update(ms(delay)));
        assert_eq!((one.probability, one.delay), (other.probability, other.delay));
        assert_eq!(one.due, Time::ZERO + ms(75));
    }

    /// Skipped updates do not change the state, from any state and over any time, compared with single updates.
    #[test]
    fn skipped_updates_do_not_change_state() {
        let stream = &mut Streams::new(1).stream("skipped");
        let mut ends = [0; 3];
        for _ in 0..3000 {
            let [alpha, beta] = [(); 2].map(|()| choose_one(stream, &[0.0, 0.125, 1.25, 100.0]));
            let [target, update, due] = [(); 3].map(|()| ms(1 + stream.below(20)));
            let mut one =
                pie(&PieParameters { alpha, beta, target, update, ..PieParameters::default() });
            one.due = Time::ZERO + due;
            one.probability = choose_one(stream, &[0.0, 1.0, 0.3]);
            let most = choose_one(stream, &[1, 30, 3000]);
            one.delay = ms(stream.below(most));
            one.burst_allowance = ms(choose_one(stream, &[0, 150]));
            let (mut other, now, until) =
                (one.clone(), ms(stream.below(3000)), ms(stream.below(6000)));
            let (now, until) = (Time::ZERO + now, Time::ZERO + until);
            one.catch_up(now, until);
            while other.due <= now {
                other.update(until.saturating_since(other.due));
                other.due = other.due + update;
            }
            assert_eq!(format!("{one:?}"), format!("{other:?}"));
            ends[if one.probability == 0.0 {
                0
            } else {
                1 + usize::from(one.probability < 1.0)
            }] += 1;
        }
        assert!(ends.iter().all(|&runs| runs > 300), "{ends:?}");
    }

    /// Three hours of updates per microsecond are skipped quickly.
    #[test]
    fn updates_on_slow_link_are_skipped() {
        for burst in [Duration::ZERO, ms(150)] {
            let update = Duration::from_us(1);
            let mut pie =
                pie(&PieParameters { update, max_burst: burst, ..PieParameters::default() });
            pie.catch_up(
                Time::ZERO + Duration::from_secs(10_000),
                Time::ZERO + Duration::from_secs(9_999),
            );
            assert_eq!((pie.probability, pie.delay), (0.0, Duration::ZERO));
        }
    }
}
