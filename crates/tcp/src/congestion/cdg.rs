//! CDG (CAIA delay gradient).
//!
//! # Model
//! CDG backs off before losses with probability 1 - exp(-g / G). The gradient g is the growth of the minimum
//! RTT per round, or else of the maximum RTT, summed over eight rounds. A backoff reduces the window by the
//! factor 0.71; five ineffective backoffs in a row are the last. A shadow window grows like Reno's, and a
//! loss halves the shadow window. HyStart ends slow start. Growth is Reno's.
//!
//! # References
//! D. A. Hayes, G. Armitage, *Revisiting TCP congestion control using delay gradients*, IFIP
//! Networking 2011, section 3. Behaviour of Linux 6: sums, exponential in fixed point, inputs of
//! HyStart, bounds of the shadow window and the filter of delayed ACKs.
//!
//! # Parameters
//! `slow_start`, `ack_counting`, `reduction_basis`, `timeout_basis`.
//!
//! # Limitations
//! - The constants are Linux's defaults: eight gradients, exp(-42 g) with g in seconds, no tolerance of
//!   non-congestion losses.
//! - CDG has its own HyStart, which cannot be disabled and leaves at least two segments; `slow_start` may add
//!   another.
//! - A backoff spreads the reduction over an RTT as in Linux, but only counts deliveries of ACKs of new data.
//!   A loss during a backoff keeps its ssthresh.
//! - Random decisions are drawn from the flow's clock phase. RTTs are in whole microseconds. A pause resets
//!   state only with `idle_restart` or `restart_after_idle`, like `tcp_slow_start_after_idle`.

use optcp_units::{Duration, Time};

use super::controller::{Controller, Start};
use super::draw::Draw;
use super::event::AckEvent;
use super::growth::{Growth, segments};
use super::phase::Phase;
use crate::seq::Seq;
use crate::window::Window;

/// Gradients that count.
const GRADIENTS: usize = 8;
/// Window factor after a backoff, in 1/1024: the square root of 1/2.
const BETA: u64 = 724;
const BETA_ONE: u64 = 1024;
/// By how much the exponent grows with a microsecond, in millionths.
const FACTOR: u64 = 42;
/// Back-offs in a row that did not help.
const INEFFECTUAL: u32 = 5;
/// A sum of gradients that shows that one did, in microseconds.
const EFFECTUAL: i64 = -32;
/// Samples in a round before HyStart looks at their least.
const SAMPLES: u32 = 8;
/// ACKs that follow each other closer are a train.
const TRAIN: Duration = Duration::from_us(3000);
/// The least threshold of HyStart, in microseconds.
const LEAST_THRESHOLD: u64 = 125;
/// ACKs for more than one segment that are remembered.
const DELAYED: u32 = 5;

/// State of CDG. RTTs are in microseconds.
#[derive(Clone, Debug)]
pub struct Cdg {
    growth: Growth,
    phase: Phase,
    draw: Draw,
    /// The RTTs of this RTT, and of the one before.
    trips: Option<Trips>,
    before: Option<Trips>,
    /// The round ends when more than this is acknowledged; `None` before its start.
    until: Option<Seq>,
    gradients: Gradients,
    back_offs: u32,
    /// A back-off has set ssthresh, and nothing has completed since.
    backed_off: bool,
    /// The reduction in progress.
    reduction: Option<Reduction>,
    /// In segments; none before the first ACK.
    shadow: Option<u64>,
    /// ACKs for more than one segment, less those for one since.
    delayed: u32,
    hystart: HyStart,
}

/// The least and the maximum of an RTT.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Trips {
    least: u64,
    greatest: u64,
}

/// By how much the least and the maximum RTT have grown, in a ring, and the sums.
#[derive(Clone, Copy, Debug, Default)]
struct Gradients {
    ring: [(i64, i64); GRADIENTS],
    sum: (i64, i64),
    next: usize,
    filled: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct HyStart {
    /// The minimum RTT of all rounds.
    least: Option<u64>,
    samples: u32,
    /// Start of the ACK train, and its last ACK.
    train: Option<(Time, Time)>,
}

/// A reduction in proportion to the delivered data (RFC 6937).
#[derive(Clone, Copy, Debug)]
struct Reduction {
    /// It ends when more than this is acknowledged.
    until: Seq,
    /// The window at its start.
    prior: u64,
    delivered: u64,
}

/// Times 2^32: e to the power of -x, x in millionths. Each bit of x from the ninth on multiplies by its power in 65536ths, the
/// eight lowest take off their share.
fn exponential(x: u64) -> u64 {
    /// In 65536ths, of 256, 512, 1024 and so on millionths.
    const POWERS: [u64; 16] = [
        65_519, 65_502, 65_469, 65_402, 65_268, 65_002, 64_471, 63_423, 61_379, 57_485, 50_424,
        38_796, 22_966, 8_048, 988, 15,
    ];
    let high = x >> 8;
    if high >> 16 > 0 {
        return 0;
    }
    let one = u64::from(u32::MAX);
    let low = one - (x & 0xff) * (one / 1_000_000);
    let bits = POWERS.iter().enumerate().filter(|(bit, _)| high >> bit & 1 == 1);
    bits.fold(low, |product, (_, power)| (product * power) >> 16)
}

impl Gradients {
    /// A round is over: by how much RTTs grow, if they do, and whether they have fallen.
    fn add(&mut self, now: Trips, before: Trips) -> (u64, bool) {
        let difference = |now: u64, before: u64| now.cast_signed() - before.cast_signed();
        let least = difference(now.least, before.least);
        let greatest = difference(now.greatest, before.greatest);
        let old = std::mem::replace(&mut self.ring[self.next], (least, greatest));
        self.sum.0 += least - old.0;
        self.sum.1 += greatest - old.1;
        self.next = (self.next + 1) % GRADIENTS;
        let (least, greatest) = self.sum;
        let mut grows = if least > 0 { least } else { greatest };
        if !self.filled {
            if self.next == 0 {
                self.filled = true;
            } else {
                // Those that are missing are held to be like these.
                grows = grows * GRADIENTS as i64 / self.next as i64;
            }
        }
        (u64::try_from(grows).unwrap_or(0), least <= EFFECTUAL || greatest <= EFFECTUAL)
    }
}

impl HyStart {
    /// An ACK in slow start: whether that ends.
    fn ends(&mut self, trips: Option<Trips>, ack: &AckEvent) -> bool {
        let present = trips.map(|trips| trips.least);
        self.least = [self.least, present].into_iter().flatten().min();
        let (Some(least), Some(present)) = (self.least, present.or(self.least)) else {
            return false;
        };
        match &mut self.train {
            Some((begin, last)) if ack.limited => {
                if ack.now < *last + TRAIN {
                    *last = ack.now;
                    let long = Duration::from_us((least / 2).max(LEAST_THRESHOLD));
                    if ack.now > *begin + long {
                        return true;
                    }
                }
            }
            train => *train = Some((ack.now, ack.now)),
        }
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        present > (least + least / 8).max(LEAST_THRESHOLD)
    }

    fn next_round(&mut self) {
        (self.samples, self.train) = (0, None);
    }
}

impl Cdg {
    /// An RTT is over: whether to back off.
    fn round(&mut self) -> bool {
        let (grows, fell) = match (self.trips, self.before) {
            (Some(now), Some(before)) => self.gradients.add(now, before),
            _ => (0, false),
        };
        if fell {
            self.back_offs = 0;
        }
        self.hystart.next_round();
        self.next_round();
        if grows == 0 || self.draw.next() >> 32 <= exponential(grows * FACTOR) {
            return false;
        }
        self.back_offs = self.back_offs.saturating_add(1);
        self.back_offs <= INEFFECTUAL
    }

    fn next_round(&mut self) {
        self.before = self.trips.take();
        self.until = None;
    }

    /// Begins to back off, unless a timeout is being repaired.
    fn back_off(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        let cwnd = u64::from(window.segments(mss));
        self.shadow = self.shadow.max(Some(cwnd));
        self.backed_off = true;
        if !self.phase.repairing() {
            self.growth.on_loss();
            window.ssthresh = (cwnd * BETA / BETA_ONE).max(2) as f64 * mss;
            self.reduction = Some(Reduction { until: ack.max, prior: cwnd, delivered: 0 });
        }
    }

    /// A reduction is complete.
    fn complete(&mut self) {
        self.backed_off = false;
        self.reduction = None;
        self.next_round();
    }

    /// An ACK within a reduction. Gives whether that is over.
    fn reduce(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) -> bool {
        let Some(reduction) = &mut self.reduction else { return true };
        if ack.una > reduction.until {
            window.cwnd = window.ssthresh;
            self.complete();
            return true;
        }
        reduction.delivered += u64::from(ack.delivered);
        let sent = u64::from(ack.max.max(reduction.until) - reduction.until);
        let under_way = u64::from((ack.max - ack.una).saturating_sub(self.phase.beyond()));
        let aim = segments(window.ssthresh, mss);
        let may = if under_way > aim {
            (aim * reduction.delivered).div_ceil(reduction.prior.max(1)).saturating_sub(sent)
        } else {
            let behind = reduction.delivered.saturating_sub(sent);
            (behind.max(u64::from(ack.delivered)) + 1).min(aim - under_way)
        };
        let may = may.max(u64::from(sent == 0));
        window.cwnd = (under_way + may).max(1) as f64 * mss;
        false
    }
}

impl Controller for Cdg {
    type Keys = ();

    fn new((): &(), start: Start) -> Self {
        Cdg {
            growth: Growth::new(start.slow_start),
            phase: Phase::default(),
            draw: Draw::new(start.clock_phase),
            trips: None,
            before: None,
            until: Some(Seq::ZERO),
            gradients: Gradients::default(),
            back_offs: 0,
            backed_off: false,
            reduction: None,
            shadow: None,
            delayed: 0,
            hystart: HyStart::default(),
        }
    }

    fn on_open(&mut self) {
        self.trips = None;
        self.delayed = 0;
        self.growth.on_open();
    }

    fn observe(&mut self, ack: &AckEvent) {
        self.phase.observe(ack);
        let rtt = ack.rtt.map_or(0, |rtt| rtt.as_ps() / 1_000_000);
        if rtt == 0 {
            return;
        }
        let mut greatest = rtt;
        if self.phase.in_order() {
            if ack.acked == 1 && self.delayed > 0 {
                // It may be of a delayed ACK: believed only where it is the least.
                self.delayed -= 1;
                let Some(trips) = self.trips else { return };
                greatest = trips.greatest;
            } else if ack.acked > 1 && self.delayed < DELAYED {
                self.delayed += 1;
            }
        }
        let trips = self.trips.get_or_insert(Trips { least: rtt, greatest });
        trips.least = trips.least.min(rtt);
        trips.greatest = trips.greatest.max(greatest);
    }

    fn on_ack(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        self.phase.on_ack();
        if !self.reduce(window, mss, ack) {
            return;
        }
        let cwnd = u64::from(window.segments(mss));
        let shadow = *self.shadow.get_or_insert(cwnd);
        if window.in_slow_start() && self.hystart.ends(self.trips, ack) {
            window.ssthresh = window.cwnd.max(2.0 * mss);
        }
        if self.until.is_some_and(|until| ack.una > until) && self.trips.is_some() {
            let backs_off = self.round();
            self.until = Some(ack.max);
            if backs_off {
                self.back_off(window, mss, ack);
                return;
            }
        }
        self.until.get_or_insert(ack.max);
        if !ack.limited {
            self.shadow = Some(shadow.min(cwnd));
            return;
        }
        self.growth.reno(window, mss, ack);
        self.shadow = Some(shadow + (u64::from(window.segments(mss)) - cwnd));
    }

    fn on_loss(&mut self, window: &Window, mss: f64, amount: f64) -> Option<f64> {
        self.phase.on_loss();
        self.growth.on_loss();
        if self.reduction.take().is_some() {
            return Some(window.ssthresh);
        }
        let cwnd = segments(amount, mss);
        if self.backed_off {
            return Some((cwnd * BETA / BETA_ONE) as f64 * mss);
        }
        let shadow = (self.shadow.unwrap_or(cwnd) / 2).min(cwnd);
        self.shadow = Some(shadow);
        Some(shadow.max(cwnd / 2) as f64 * mss)
    }

    fn on_timeout(&mut self, _window: &mut Window, _mss: f64) {
        self.phase.on_timeout();
        self.reduction = None;
        self.growth.on_timeout();
    }

    fn on_recovered(&mut self, _window: &mut Window, _mss: f64) {
        self.phase.on_recovered();
        self.complete();
    }

    fn on_undo(&mut self, window: &mut Window, before: Window) {
        self.phase.on_recovered();
        self.complete();
        window.restore(before);
    }

    /// Linux forgets everything but the window before.
    fn on_idle(&mut self, window: &mut Window, mss: f64, restart: f64) {
        (self.trips, self.before, self.until) = (None, None, Some(Seq::ZERO));
        (self.gradients, self.hystart) = (Gradients::default(), HyStart::default());
        (self.back_offs, self.delayed) = (0, 0);
        (self.backed_off, self.reduction) = (false, None);
        self.shadow = Some(u64::from(window.segments(mss)));
        window.cwnd = window.cwnd.min(restart);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{AckCounting, SlowStartKind};
    use crate::congestion::SlowStart;

    const MSS: f64 = 1000.0;

    fn cdg() -> Cdg {
        let slow_start = SlowStart::new(SlowStartKind::Standard, AckCounting::Segments, false);
        Cdg::new(&(), Start { slow_start, clock_phase: Duration::ZERO })
    }

    /// Hayes and Armitage 2011, equation 5: exp(-g / G). Fixed point is off by less than 1 %, or by 2^-16.
    #[test]
    fn exponential_matches_reference() {
        for x in [0_u64, 1, 255, 256, 1_000, 42_000, 100_000, 693_147, 1_000_000, 5_000_000] {
            let want = (-(x as f64) / 1e6).exp();
            let got = exponential(x) as f64 / 4_294_967_296.0;
            assert!((got - want).abs() <= (0.01 * want).max(1.0 / 65_536.0), "{x}: {got}, {want}");
        }
        assert_eq!(exponential(1 << 24), 0);
    }

    fn trips(least: u64, greatest: u64) -> Trips {
        Trips { least, greatest }
    }

    /// Linux: the sum of eight gradients of the minimum RTT, or of the maximum where that does not grow. Of the first one
    /// eight are held to be there, of two four times the sum. After nine the first is forgotten.
    #[test]
    fn gradients_of_eight_round_trips_are_added_up() {
        let mut gradients = Gradients::default();
        assert_eq!(gradients.add(trips(1_010, 1_100), trips(1_000, 1_000)), (80, false));
        assert_eq!(gradients.add(trips(1_030, 1_100), trips(1_010, 1_100)), (120, false));
        for _ in 0..5 {
            gradients.add(trips(1_030, 1_100), trips(1_030, 1_100));
        }
        assert_eq!(gradients.add(trips(1_030, 1_100), trips(1_030, 1_100)), (30, false));
        assert_eq!(gradients.add(trips(1_030, 1_100), trips(1_030, 1_100)), (20, false));
        // The second is forgotten: the sums are -10 and 7, then -32.
        assert_eq!(gradients.add(trips(1_020, 1_107), trips(1_030, 1_100)), (7, false));
        assert_eq!(gradients.add(trips(1_020, 1_068), trips(1_020, 1_107)), (0, true));
    }

    /// A connection in congestion avoidance whose RTTs have been 100 ms.
    fn steady(cwnd: f64) -> (Cdg, Window) {
        let mut cdg = cdg();
        cdg.before = Some(trips(100_000, 100_000));
        (cdg, Window { cwnd: cwnd * MSS, ssthresh: 2.0 * MSS })
    }

    /// An ACK for one segment that ends an RTT.
    fn ack(cdg: &mut Cdg, window: &mut Window, una: u32, max: u32, rtt_ms: u64) {
        let rtt = Some(Duration::from_ms(rtt_ms));
        let (una, max) = (Seq::new(una), Seq::new(max));
        let (acked, delivered, limited) = (1, 1, true);
        let ack = AckEvent { acked, delivered, rtt, una, max, limited, ..AckEvent::default() };
        cdg.observe(&ack);
        cdg.on_ack(window, MSS, &ack);
    }

    /// An RTT longer by 200 ms counts as eight such increases: exp(-67), below every draw. 100 *
    /// 724 / 1024 = 70. In the RTT of the reduction the window follows the delivered data, 70 for
    /// 100: seven of ten ACKs release a segment. Then the window is 70.
    #[test]
    fn a_growing_delay_backs_off_to_seven_tenths() {
        let (mut cdg, mut window) = steady(100.0);
        ack(&mut cdg, &mut window, 1, 101, 300);
        assert_eq!((window.cwnd / MSS, window.ssthresh / MSS), (100.0, 70.0));
        assert_eq!(cdg.shadow, Some(100));
        let mut max = 101;
        for una in 2..=11 {
            ack(&mut cdg, &mut window, una, max, 300);
            max = max.max(una + window.segments(MSS));
        }
        assert_eq!(max, 108);
        ack(&mut cdg, &mut window, 102, 171, 300);
        assert_eq!(window.segments(MSS), 70);
        assert!(cdg.reduction.is_none() && !cdg.backed_off);
    }

    /// Section 3.3: a sixth consecutive back-off without effect is omitted. An effective one resets
    /// the count.
    #[test]
    fn five_ineffective_backoffs_are_the_last() {
        let (mut cdg, _) = steady(100.0);
        let mut rtt = 100_000;
        let mut round = |cdg: &mut Cdg, change: i64| {
            rtt += change;
            let rtt = rtt.cast_unsigned();
            cdg.trips = Some(trips(rtt, rtt));
            cdg.round()
        };
        for count in 1..=6 {
            assert_eq!(round(&mut cdg, 500_000), count <= 5, "{count}");
        }
        round(&mut cdg, -3_500_000);
        assert_eq!(cdg.back_offs, 0);
    }

    /// Section 3.4: a loss halves the window that Reno would have had. After a back-off from 100 to
    /// 70 with a shadow of 104, 52 segments are left, not 35. At least half of the window is left.
    #[test]
    fn a_loss_halves_the_shadow_window() {
        for (shadow, cwnd, want) in [(104, 70, 52), (300, 70, 70), (60, 70, 35)] {
            let mut cdg = Cdg { shadow: Some(shadow), ..cdg() };
            let window = Window { cwnd: f64::from(cwnd) * MSS, ssthresh: 2.0 * MSS };
            let left = cdg.on_loss(&window, MSS, window.cwnd).unwrap();
            assert_eq!(left.to_bits(), f64::to_bits(f64::from(want) * MSS), "{shadow}");
        }
    }

    /// Linux: an ACK train of half the minimum RTT of 100 ms ends slow start, at any window. From
    /// the ninth ACK on, a minimum RTT of this round that is longer by an eighth also ends it.
    #[test]
    fn slow_start_ends_with_a_train_or_a_longer_round_trip() {
        let at = |us| Time::ZERO + Duration::from_us(us);
        let ack = |us| AckEvent { now: at(us), limited: true, ..AckEvent::default() };
        let least = Some(trips(100_000, 100_000));
        let mut hystart = HyStart::default();
        let ends = (0..26).map(|n| hystart.ends(least, &ack(n * 2_000)));
        assert_eq!(ends.filter(|&ends| ends).count(), 0);
        assert!(hystart.ends(least, &ack(52_000)));
        for (us, want) in [(112_500, false), (112_501, true)] {
            let mut hystart = HyStart { least: Some(100_000), ..HyStart::default() };
            let trips = Some(trips(us, us));
            let ends: Vec<bool> = (0..9).map(|n| hystart.ends(trips, &ack(n * 5_000))).collect();
            assert_eq!(ends[7..], [false, want], "{us}");
        }
    }
}
