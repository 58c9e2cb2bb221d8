//! TCP Prague.
//!
//! # Model
//! DCTCP for L4S. Alpha is the smoothed share of marked segments per RTT. The window has fractions of a
//! segment, and cwnd follows it by one segment per ACK, rounded up. An RTT with a mark reduces the window
//! by the share alpha / 2. Every unmarked segment adds its share of one segment per RTT, also in RTTs with
//! marks. Segments are ECT(1) and paced at one window per RTT, or two while cwnd is below half of ssthresh.
//! In congestion avoidance the rate is 3 % higher in the first half of an RTT and lower in the second half.
//! The halves are halves of the target RTT if it is longer. After some RTTs, a flow with an RTT below the target has the same
//! increase and decrease per second as with the target RTT. A loss halves the window.
//!
//! # References
//! draft-briscoe-iccrg-prague-congestion-control-04 section 2; requirements of RFC 9331 section 4.
//! Behaviour of Linux's `tcp_prague` 0.7 (L4S team): target of 25 ms, transition after 4 RTTs, steps of cwnd,
//! pacing, and behaviour before the first mark. The additive increase scales with the square of the RTT.
//!
//! # Parameters
//! `prague_rtt_scaling`, `prague_rtt_target`, `prague_rtt_transition`, `slow_start`, `ack_counting`,
//! `reduction_basis`, `timeout_basis`; `pacing = "rate"`.
//!
//! # Limitations
//! - Below a window of four segments, Linux adapts a rate instead of the window, and smaller segments keep the
//!   window at two. Neither is implemented.
//! - Of the heuristics for short RTTs in older versions of Linux's code, only `rate` is implemented. The detection
//!   of classic queues from RTT variation is not.
//! - Alpha and the window are fractions; in Linux they have 24 and 20 bits.
//! - Bursts have `pacing_burst` segments instead of 250 microseconds: one segment in the profile, as in Linux below
//!   98 Mb/s.
//! - With a receiver that does not count marks, Prague is Reno with ECT(0), as in Linux without negotiated
//!   feedback.

use optcp_units::{Duration, Time, registry};

use super::controller::{Controller, NeedsEcn, Start, keys};
use super::event::AckEvent;
use super::reno::{Increase, Reno, RenoKeys};
use super::slow_start::SlowStart;
use crate::ecn::Feedback;
use crate::pacing::UNMEASURED;
use crate::seq::Seq;
use crate::window::Window;

registry! {
    /// Prague's compensation for short RTTs.
    pub enum PragueRttScaling ("prague_rtt_scaling") {
        "unscaled" => Unscaled: "one segment per RTT, for any RTT", "RFC 8257";
        "rate" => Rate: "below the target RTT, growth is scaled so that rates match those at the target RTT", "draft-briscoe-iccrg-prague-congestion-control-04 section 2.4; Linux's tcp_prague";
    }
}

keys! {
    /// Parameters of Prague.
    pub struct PragueKeys {
        /// Compensation for short RTTs.
        prague_rtt_scaling: PragueRttScaling = PragueRttScaling::Rate,
            "RFC 9331 section 4.3 asks that rates depend little on short round trips; the default of tcp_prague";
        /// RTT to which shorter ones are scaled.
        prague_rtt_target: Duration = Duration::from_ms(25), "the default of tcp_prague";
        /// Number of RTTs in congestion avoidance before scaling starts.
        prague_rtt_transition: u16 = 4, "the default of tcp_prague 0.7; 500 in earlier versions";
    }
}

/// Gain of a new RTT in alpha (section 2.3.2).
const GAIN: f64 = 1.0 / 16.0;
/// Maximum RTT that is scaled, for any target.
const LONGEST_SCALED: Duration = Duration::from_ms(100);
/// Change of the pacing rate in the first half of an RTT; the second half has the opposite (`prague_rate_offset`).
const RATE_OFFSET: f64 = 4.0 / 128.0;
/// Minimum of cwnd in segments (`MIN_CWND_RTT`).
const LEAST_WINDOW: u32 = 2;

/// State of Prague.
#[derive(Clone, Debug)]
pub struct Prague {
    keys: PragueKeys,
    slow_start: SlowStart,
    /// Reno state, used if marks are not counted.
    classic: Option<Reno>,
    reno: Reno,
    alpha: f64,
    /// Alpha before the current ACK.
    former_alpha: f64,
    /// `true`: a mark has arrived.
    marked_once: bool,
    round: Round,
    /// Times of the last update of alpha and of the last reduction by a mark.
    updated: Option<Time>,
    reduced: Option<Time>,
    now: Time,
    srtt: Option<Duration>,
    /// Window in segments, with its fraction, after the first ACK.
    fraction: Option<f64>,
    /// `true`: cwnd is below half of ssthresh.
    doubles: bool,
    /// `true`: a loss is being repaired.
    in_loss: bool,
    in_slow_start: bool,
}

/// Counters of the current RTT.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    until: Seq,
    delivered: u32,
    marked: u32,
    /// Number of RTTs in congestion avoidance so far.
    count: u16,
}

impl Prague {
    /// Returns the target RTT if scaling is active.
    fn target(&self) -> Option<Duration> {
        let scales = self.keys.prague_rtt_scaling == PragueRttScaling::Rate
            && self.round.count >= self.keys.prague_rtt_transition;
        Some(self.keys.prague_rtt_target).filter(|_| scales)
    }

    /// Returns the window increase per RTT, in segments.
    fn increase(&self) -> f64 {
        let Some((target, srtt)) = self.target().zip(self.srtt) else { return 1.0 };
        if srtt >= target || srtt > LONGEST_SCALED {
            return 1.0;
        }
        let share = srtt.as_ps() as f64 / target.as_ps() as f64;
        share * share
    }

    /// Returns whether a target RTT has passed since `then`, or scaling is off.
    fn has_passed(&self, then: Time) -> bool {
        self.target().is_none_or(|target| self.now.saturating_since(then) >= target)
    }

    fn end_slow_start(&mut self) {
        self.slow_start.on_loss();
        (self.in_slow_start, self.doubles) = (false, false);
    }

    /// Moves cwnd by at most one segment towards the window, rounded up.
    fn follow(&self, window: &mut Window, mss: f64) {
        let Some(fraction) = self.fraction else { return };
        let target = fraction.ceil().max(f64::from(LEAST_WINDOW));
        let cwnd = f64::from(window.segments(mss));
        if cwnd > target {
            window.cwnd = (cwnd - 1.0) * mss;
            window.ssthresh = window.cwnd;
        } else if cwnd < target {
            window.cwnd = (cwnd + 1.0) * mss;
        }
    }

    /// Returns the factor of the pacing rate: an RTT, or the target RTT if longer, has two halves.
    fn offset(&self) -> f64 {
        let round_trip = self.keys.prague_rtt_target.max(self.srtt.unwrap_or_default());
        let since = self.updated.map_or(Duration::ZERO, |then| self.now.saturating_since(then));
        if since + since >= round_trip { 1.0 - RATE_OFFSET } else { 1.0 + RATE_OFFSET }
    }
}

impl Controller for Prague {
    type Keys = PragueKeys;

    const PACES: bool = true;
    const ECN: NeedsEcn = NeedsEcn::Accurate;
    const L4S: bool = true;
    const MARKS_ARE_LOSSES: bool = false;
    const GROWS_WITH_MARKS: bool = true;
    const MARKS_EXACT: bool = true;
    const PACES_HEADERS: bool = true;

    fn new(keys: &PragueKeys, start: Start) -> Self {
        Prague {
            keys: *keys,
            slow_start: start.slow_start.clone(),
            classic: None,
            reno: Reno::new(&RenoKeys { increase: Increase::WholeSegments }, start),
            alpha: 1.0,
            former_alpha: 1.0,
            marked_once: false,
            round: Round::default(),
            updated: None,
            reduced: None,
            now: Time::ZERO,
            srtt: None,
            fraction: None,
            doubles: true,
            in_loss: false,
            in_slow_start: true,
        }
    }

    fn on_open(&mut self) {
        self.slow_start.on_open();
        self.reno.on_open();
    }

    fn on_feedback(&mut self, feedback: Feedback) {
        self.classic = (feedback != Feedback::Accurate).then(|| self.reno.clone());
    }

    fn observe(&mut self, ack: &AckEvent) {
        (self.now, self.srtt) = (ack.now, ack.srtt);
        self.round.delivered += ack.delivered;
        self.round.marked += ack.marked;
        self.marked_once |= ack.marked > 0;
        self.former_alpha = self.alpha;
        let updated = *self.updated.get_or_insert(ack.now);
        if ack.una >= self.round.until && self.has_passed(updated) {
            if self.marked_once {
                let share = f64::from(self.round.marked) / f64::from(self.round.delivered.max(1));
                self.alpha += (share.min(1.0) - self.alpha) * GAIN;
                self.updated = Some(ack.now);
            }
            let count = self.round.count.saturating_add(u16::from(!self.in_slow_start));
            self.round = Round { until: ack.max, count, ..Round::default() };
        }
    }

    fn on_ack(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        if let Some(reno) = &mut self.classic {
            if ack.marked == 0 {
                reno.on_ack(window, mss, ack);
            }
        } else {
            let unmarked = ack.delivered.saturating_sub(ack.marked);
            if unmarked > 0 && !self.in_loss {
                let acked = ack.acked.min(unmarked);
                let ack = AckEvent { delivered: unmarked, acked, ..*ack };
                let begun = window.in_slow_start();
                let count = self.slow_start.on_ack(window, mss, &ack);
                let before = self.fraction.filter(|_| !begun).unwrap_or(window.cwnd / mss);
                self.fraction = Some(before + count * self.increase() / before);
            }
            self.follow(window, mss);
        }
        self.in_slow_start = window.in_slow_start();
        self.doubles = window.cwnd < window.ssthresh / 2.0;
    }

    fn on_loss(&mut self, window: &Window, mss: f64, amount: f64) -> Option<f64> {
        self.end_slow_start();
        let half = match &mut self.classic {
            Some(reno) => reno.on_loss(window, mss, amount)?,
            None => self.fraction.map_or(amount / 2.0, |fraction| fraction * mss / 2.0),
        };
        self.in_loss = true;
        self.fraction = self.classic.is_none().then_some(half / mss);
        Some(half)
    }

    fn on_mark(&mut self, window: &Window, mss: f64, amount: f64) -> Option<f64> {
        if self.classic.is_some() {
            return self.on_loss(window, mss, amount);
        }
        if !self.reduced.is_none_or(|then| self.has_passed(then)) {
            return None;
        }
        self.reduced = Some(self.now);
        self.end_slow_start();
        let present = self.fraction.unwrap_or(window.cwnd / mss);
        self.fraction = Some(present * (1.0 - self.former_alpha / 2.0));
        // cwnd follows with the ACKs.
        Some(window.cwnd)
    }

    fn on_timeout(&mut self, window: &mut Window, mss: f64) {
        self.slow_start.on_timeout();
        if let Some(reno) = &mut self.classic {
            reno.on_timeout(window, mss);
        }
        self.fraction = None;
        self.in_loss = false;
    }

    fn on_recovered(&mut self, window: &mut Window, mss: f64) {
        if std::mem::take(&mut self.in_loss) && self.classic.is_none() {
            self.fraction = Some(window.cwnd / mss);
        }
    }

    fn on_undo(&mut self, window: &mut Window, before: Window) {
        window.restore(before);
        self.in_loss = false;
        self.fraction = None;
    }

    fn on_idle(&mut self, window: &mut Window, mss: f64, restart: f64) {
        window.cwnd = window.cwnd.min(restart);
        self.fraction = self.classic.is_none().then_some(window.cwnd / mss);
    }

    /// One window per RTT, or two.
    fn interval(&self, window: u32, srtt: Option<Duration>) -> Option<Duration> {
        let segments = self.fraction.unwrap_or(f64::from(window)).max(1.0);
        let speed = if self.doubles { 2.0 } else { self.offset() };
        let round_trip = srtt.unwrap_or(UNMEASURED).as_secs_f64();
        Duration::from_secs_f64(round_trip / (segments * speed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{AckCounting, SlowStartKind};

    const MSS: f64 = 1000.0;

    fn prague(keys: PragueKeys) -> Prague {
        let slow_start = SlowStart::new(SlowStartKind::Standard, AckCounting::Segments, false);
        Prague::new(&keys, Start { slow_start, clock_phase: Duration::ZERO })
    }

    fn unscaled() -> Prague {
        prague(PragueKeys {
            prague_rtt_scaling: PragueRttScaling::Unscaled,
            ..PragueKeys::default()
        })
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    /// An RTT of 10 segments, `marked` of them marked.
    fn round(prague: &mut Prague, marked: u32) -> f64 {
        let una = prague.round.until + 1;
        let srtt = Some(Duration::from_ms(10));
        prague.observe(&AckEvent {
            delivered: 10,
            marked,
            una,
            max: una,
            srtt,
            ..AckEvent::default()
        });
        prague.alpha
    }

    /// Draft section 2.3.2 with g = 1/16, computed by hand. Alpha is 1 until the first mark, whose share counts as in
    /// Linux. Then 1 + (3/10 - 1)/16 = 0.95625; 0.95625 - 0.95625/16 = 0.896484375;
    /// 0.896484375 + (1/2 - 0.896484375)/16 = 0.8717041015625; 0.8717041015625 + (1 - 0.8717041015625)/16 =
    /// 0.87972259521484375.
    #[test]
    fn alpha_follows_marked_share_after_first_mark() {
        let mut prague = unscaled();
        let alphas = [0, 3, 0, 5, 10].map(|marked| round(&mut prague, marked));
        let want = [1.0_f64, 0.956_25, 0.896_484_375, 0.871_704_101_562_5, 0.879_722_595_214_843_8];
        let exact = alphas.iter().zip(want).all(|(alpha, want)| (alpha - want).abs() < 1e-15);
        assert!(exact, "{alphas:?}");
    }

    /// Section 2.3.3: alpha / 2 of the window. Alpha is 1, so 40.5 segments become 20.25. As in Linux, cwnd follows by
    /// one segment per ACK, to 21, and ssthresh with it.
    #[test]
    fn mark_reduces_the_window_and_cwnd_follows_by_one_segment_per_ack() {
        let mut prague = unscaled();
        prague.fraction = Some(40.5);
        let mut window = Window { cwnd: 41.0 * MSS, ssthresh: f64::INFINITY };
        assert_eq!(prague.on_mark(&window, MSS, window.cwnd), Some(window.cwnd));
        assert_eq!(prague.fraction, Some(20.25));
        let marked = AckEvent { delivered: 1, acked: 1, marked: 1, ..AckEvent::default() };
        let windows = [(); 22].map(|()| {
            prague.on_ack(&mut window, MSS, &marked);
            window.segments(MSS)
        });
        assert_eq!(windows[..3], [40, 39, 38]);
        assert_eq!(windows[18..], [22, 21, 21, 21]);
        assert_eq!(window.ssthresh.to_bits(), f64::to_bits(21.0 * MSS));
    }

    /// As in Linux: 3.125 % more until half of an RTT after the last update of alpha, then as much less. 33 segments
    /// in 33 ms, at 1.03125 and 0.96875: 32/33 ms and 32/31 ms.
    #[test]
    fn rate_differs_between_the_halves_of_a_round_trip() {
        let mut prague = unscaled();
        let mut window = Window { cwnd: 33.0 * MSS, ssthresh: 33.0 * MSS };
        let srtt = Some(Duration::from_ms(33));
        let mut interval = |at| {
            let ack = AckEvent { now: ms(at), srtt, delivered: 1, acked: 1, ..AckEvent::default() };
            prague.observe(&AckEvent { max: Seq::ZERO + 100, ..ack });
            prague.on_ack(&mut window, MSS, &AckEvent { marked: 1, ..ack });
            prague.fraction = Some(33.0);
            prague.interval(33, srtt).unwrap().as_secs_f64() * 1e3
        };
        for (at, want) in [(100, 32.0 / 33.0), (116, 32.0 / 33.0), (117, 32.0 / 31.0)] {
            assert!((interval(at) - want).abs() < 1e-6, "at {at} ms");
        }
    }

    /// Section 2.4: with a target of 25 ms, each RTT of 5 ms adds 1/25 of a segment. Alpha is
    /// updated and the window reduced once in 25 ms. From the target on nothing is scaled.
    #[test]
    fn short_round_trips_are_scaled_to_the_target() {
        let keys = PragueKeys { prague_rtt_transition: 0, ..PragueKeys::default() };
        let mut window = Window { cwnd: 50.0 * MSS, ssthresh: 2.0 * MSS };
        for (rtt, want) in [(5, 50.04), (25, 51.0), (50, 51.0)] {
            let mut prague = prague(keys);
            window.cwnd = 50.0 * MSS;
            let srtt = Some(Duration::from_ms(rtt));
            let ack =
                AckEvent { delivered: 1, acked: 1, srtt, limited: true, ..AckEvent::default() };
            for _ in 0..50 {
                prague.observe(&ack);
                prague.on_ack(&mut window, MSS, &ack);
            }
            let got = prague.fraction.unwrap();
            assert!((got - want).abs() < 0.02, "{rtt}: {got}");
        }
        let mut prague = prague(keys);
        let mut mark = |at| {
            let (now, srtt) = (ms(at), Some(Duration::from_ms(5)));
            prague.observe(&AckEvent { now, srtt, delivered: 1, marked: 1, ..AckEvent::default() });
            prague.on_mark(&window, MSS, window.cwnd).is_some()
        };
        assert_eq!(
            [100, 105, 120, 124, 125, 130].map(&mut mark),
            [true, false, false, false, true, false]
        );
    }

    /// Unmarked segments increase the window, also in an ACK that reports marks. 3 of 4 segments at a window
    /// of 30 add 3/30. cwnd is rounded up.
    #[test]
    fn unmarked_segments_grow_the_window_despite_marks() {
        let mut prague = unscaled();
        let mut window = Window { cwnd: 30.0 * MSS, ssthresh: 2.0 * MSS };
        let ack =
            AckEvent { delivered: 4, acked: 4, marked: 1, limited: true, ..AckEvent::default() };
        prague.on_ack(&mut window, MSS, &ack);
        assert_eq!((prague.fraction, window.segments(MSS)), (Some(30.1), 31));
        let all = AckEvent { marked: 4, ..ack };
        prague.on_ack(&mut window, MSS, &all);
        assert_eq!((prague.fraction, window.segments(MSS)), (Some(30.1), 31));
    }

    /// Steady state, computed by hand: an RTT adds 1 - p. If each RTT has a mark, it removes p / 2
    /// of the window: W = 2 (1 - p) / p. With every tenth segment marked that is 18 segments, with their fraction.
    #[test]
    fn steady_window_is_two_over_marking_share() {
        let mut prague = unscaled();
        let mut window = Window { cwnd: 40.0 * MSS, ssthresh: 2.0 * MSS };
        let (mut una, mut until, mut number, mut sum, mut count) =
            (Seq::ZERO, Seq::ZERO, 0_u32, 0.0, 0.0);
        for step in 0..40_000 {
            number += 1;
            una += 1;
            let marked = u32::from(number % 10 == 0);
            let segments = prague.fraction.unwrap_or(40.0);
            let max = una + Window { cwnd: segments, ssthresh: 0.0 }.segments(1.0);
            let ack = AckEvent {
                delivered: 1,
                acked: 1,
                marked,
                una,
                max,
                limited: true,
                ..AckEvent::default()
            };
            prague.observe(&ack);
            if marked > 0 && una > until {
                window.cwnd = prague.on_mark(&window, MSS, window.cwnd).unwrap();
                until = max;
            }
            prague.on_ack(&mut window, MSS, &ack);
            if step > 10_000 {
                (sum, count) = (sum + segments, count + 1.0);
            }
        }
        let mean: f64 = sum / count;
        assert!((mean / 18.0 - 1.0).abs() < 0.1, "{mean}");
    }

    /// Draft section 2.2: pacing at one window per RTT, or two while the window is below half of ssthresh. With 20
    /// segments and 100 ms, the interval is 2.5 ms. In congestion avoidance it is 5 ms, but the rate is 33/32 at first.
    #[test]
    fn segments_leave_spread_over_the_round_trip() {
        let mut prague = unscaled();
        let srtt = Some(Duration::from_ms(100));
        assert_eq!(prague.interval(20, srtt), Some(Duration::from_us(2500)));
        let mut window = Window { cwnd: 20.0 * MSS, ssthresh: 30.0 * MSS };
        prague.on_ack(&mut window, MSS, &AckEvent::default());
        let interval = prague.interval(20, srtt).unwrap().as_secs_f64();
        assert!((interval - 0.005 * 32.0 / 33.0).abs() < 1e-9, "{interval}");
    }

    /// RFC 9331 section 4.3: without feedback about every mark, the sender reacts like Reno.
    #[test]
    fn without_counts_it_is_reno() {
        let mut prague = unscaled();
        prague.on_feedback(Feedback::Classic);
        (0..50).for_each(|_| {
            round(&mut prague, 1);
        });
        let window = Window { cwnd: 40.0 * MSS, ssthresh: f64::INFINITY };
        assert_eq!(prague.on_mark(&window, MSS, window.cwnd), Some(20.0 * MSS));
    }
}
