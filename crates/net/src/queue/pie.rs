//! Proportional integral controller enhanced.

use optcp_des::Stream;
use optcp_units::{Bytes, Duration, Time};

use super::parameters::parameters;
use super::{Backlog, Link, OnArrival, Verdict};
use crate::{DropReason, Packet};

/// Drops or marks packets at random as they come; how likely is found anew at even distances of time, from how long
/// packets wait and how that has changed.
///
/// # Models
/// Every `update` the probability changes by `alpha` times how far the delay is from `target`, plus `beta` times how much
/// it has grown; both gains are scaled down where the probability is small. For `max_burst` after it was idle nothing is
/// dropped. Drops are kept apart: none before the sum of the probabilities since the last one is 0.85, surely at 8.5.
/// # Source
/// RFC 8033, section 4 and appendix A; the gains of section 4.3 and appendix A; ECN by section 5.1; keeping drops apart
/// by section 5.4, with packets as the unit.
/// # Parameters
/// Those of [`PieParameters`].
/// # Limits
/// The delay is that of a packet that comes now, known exactly from what stands in front of a link of known rate: the
/// departure rate is not estimated (section 4.2 leaves the way open); Linux takes how long the packet waited that left last,
/// adds 2 % an update above 250 ms, and lets the probability exceed one. Updates fall on whole multiples of `update` since
/// the start of the run. What is done at the instants between two packets is done when the second comes. A failure of the
/// link, which empties the queue, begins anew.
#[derive(Clone, Debug)]
pub struct Pie {
    parameters: PieParameters,
    stream: Option<Stream>,
    probability: f64,
    delay: Duration,
    burst_allowance: Duration,
    /// The sum of the probabilities since the last drop.
    accumulated: f64,
    /// The next update.
    due: Time,
}

parameters! {
    /// What [`Pie`] is told.
    pub struct PieParameters {
        /// How long packets are to wait.
        target: Duration = Duration::from_ms(15), "RFC 8033 section 4.2, QDELAY_REF";
        /// The distance of updates.
        update: Duration = Duration::from_ms(15), "RFC 8033 section 4.2, T_UPDATE";
        /// The gain for being off the target, in 1/s.
        alpha: f64 = 0.125, "RFC 8033 section 4.2";
        /// The gain for the growth of the delay, in 1/s.
        beta: f64 = 1.25, "RFC 8033 section 4.2";
        /// For how long after an idle time nothing is dropped.
        max_burst: Duration = Duration::from_ms(150), "RFC 8033 section 4.4, MAX_BURST";
        /// The mean size of packets: with up to two of them in the queue nothing is dropped.
        mean_packet: Bytes = Bytes::new(1500), "RFC 8033 section 4.1";
        /// Whether drops are kept apart.
        derandomize: bool = true, "RFC 8033 section 5.4";
        /// Whether packets that take marks are marked in place of being dropped.
        ecn: bool = false, "RFC 8033 section 5.1: may";
        /// Up to this probability.
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
        if !self.drops(backlog) {
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
    /// Does the updates up to `now`; everything will have been sent at `until`.
    fn catch_up(&mut self, now: Time, until: Time) {
        while self.due <= now {
            self.update(until.saturating_since(self.due));
            self.due = self.due + self.parameters.update;
            self.skip(now, until);
        }
    }

    /// Skips updates that leave the probability at an end of its range while the delay falls: on a slow link there can be
    /// millions of them between two packets.
    fn skip(&mut self, now: Time, until: Time) {
        let PieParameters { update, target, alpha, beta, max_burst, .. } = self.parameters;
        let half = Duration::from_ps(target.as_ps() / 2);
        // The probability falls below 0, and the burst allowance is whole.
        let stays_at_0 =
            self.probability == 0.0 && self.burst_allowance == max_burst && self.delay < half;
        let last = if stays_at_0 {
            now
        } else if self.probability >= 1.0 && self.burst_allowance == Duration::ZERO {
            // The probability rises above 1 while alpha (delay - target) > beta update.
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

    /// RFC 8033 section 4.2 and appendix A, `calculate_drop_prob`; 4.4 for bursts.
    fn update(&mut self, delay: Duration) {
        let PieParameters { target, alpha, beta, .. } = self.parameters;
        let old_delay = std::mem::replace(&mut self.delay, delay);
        let [now, before, target_s] = [delay, old_delay, target].map(Duration::as_secs_f64);
        let change = (alpha * (now - target_s) + beta * (now - before)) / scale(self.probability);
        // A great probability grows in small steps.
        let change = if self.probability >= 0.1 { change.min(0.02) } else { change };
        self.probability += change;
        if delay == Duration::ZERO && old_delay == Duration::ZERO {
            self.probability *= 0.98;
            // Else it would come to nothing only when floating point does.
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

    /// RFC 8033 section 4.1 and 5.4.
    fn drops(&mut self, backlog: &Backlog) -> bool {
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
        let dropped = self.draw() < self.probability;
        if dropped {
            self.accumulated = 0.0;
        }
        dropped
    }

    /// A number from 0 to 1, less than 1.
    fn draw(&mut self) -> f64 {
        let Some(stream) = &mut self.stream else { return 1.0 };
        (stream.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// By how much the gains are divided at this probability (RFC 8033 section 4.2).
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
    use crate::queue::tests::{backlog, link, one_of, packet};

    fn pie(parameters: &PieParameters) -> Pie {
        let stream = Some(Streams::new(1).stream("pie"));
        Pie::new(parameters, &Link { stream, ..link(QueueLimit::Unlimited) })
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_ms(ms)
    }

    /// Worked by hand from appendix A: at 40 ms after 30 ms the change is 0.125 * 0.025 + 1.25 * 0.01 = 0.015 625,
    /// divided by 2048 below a millionth, by 8 from 0.001 on, by 1 from 0.1 on, where it is 0.02 at most.
    #[test]
    fn the_probability_follows_the_control_law() {
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

    /// Without delay twice in a row it loses 2 % besides: (0.05 - 0.125 * 0.015 / 2) * 0.98.
    #[test]
    fn the_probability_decays_when_the_queue_is_gone() {
        let mut pie = pie(&PieParameters::default());
        pie.probability = 0.05;
        pie.update(Duration::ZERO);
        assert!((pie.probability - (0.05 - 0.000_937_5) * 0.98).abs() < 1e-15);
    }

    /// Ten updates of 15 ms end the 150 ms in which nothing is dropped.
    #[test]
    fn a_burst_is_let_through() {
        let mut pie = pie(&PieParameters { derandomize: false, ..PieParameters::default() });
        pie.probability = 1.0;
        let at = |now: u64| {
            let now = Time::ZERO + ms(now);
            Backlog { now, until: now + ms(100), ..backlog(100, 150_000) }
        };
        assert_eq!(pie.decide(&at(149), packet(0, 1500)), Verdict::Take);
        assert_eq!(pie.decide(&at(150), packet(0, 1500)), Verdict::Drop(DropReason::Aqm));
    }

    /// Section 5.4: at a probability of 0.1 none of the first eight is dropped (0.8 < 0.85).
    #[test]
    fn drops_are_kept_apart() {
        let mut pie = pie(&PieParameters::default());
        (pie.probability, pie.delay, pie.burst_allowance) = (0.1, ms(20), Duration::ZERO);
        let full = backlog(100, 150_000);
        assert!((0..8).all(|_| !pie.drops(&full)));
        let gaps: Vec<usize> =
            (0..200).map(|_| (1..).find(|_| pie.drops(&full)).unwrap()).collect();
        assert!(gaps[1..].iter().all(|&gap| gap >= 9), "{gaps:?}");
    }

    /// Updates between two packets find the queue that empties meanwhile: 20 ms, then 5, then nothing.
    #[test]
    fn updates_in_between_are_made_up_for() {
        let mut one = pie(&PieParameters::default());
        one.catch_up(Time::ZERO + ms(60), Time::ZERO + ms(35));
        let mut other = pie(&PieParameters::default());
        [20, 5, 0, 0].into_iter().for_each(|delay| other.update(ms(delay)));
        assert_eq!((one.probability, one.delay), (other.probability, other.delay));
        assert_eq!(one.due, Time::ZERO + ms(75));
    }

    /// Updates that are skipped would have left the same: from any state, over any gap, beside updates one by one.
    #[test]
    fn skipped_updates_change_nothing() {
        let stream = &mut Streams::new(1).stream("skipped");
        let mut ends = [0; 3];
        for _ in 0..3000 {
            let [alpha, beta] = [(); 2].map(|()| one_of(stream, &[0.0, 0.125, 1.25, 100.0]));
            let [target, update, due] = [(); 3].map(|()| ms(1 + stream.below(20)));
            let mut one =
                pie(&PieParameters { alpha, beta, target, update, ..PieParameters::default() });
            one.due = Time::ZERO + due;
            one.probability = one_of(stream, &[0.0, 1.0, 0.3]);
            let most = one_of(stream, &[1, 30, 3000]);
            one.delay = ms(stream.below(most));
            one.burst_allowance = ms(one_of(stream, &[0, 150]));
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

    /// Three hours of updates each microsecond take no time.
    #[test]
    fn a_slow_link_with_a_short_period_is_no_loop() {
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
