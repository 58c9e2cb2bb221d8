//! H-TCP.
//!
//! # Model
//! Growth increases with the time t since the last loss, in seconds. It is one segment per RTT in
//! the first second, then alpha = 1 + 10 t + t^2 / 4, scaled to an RTT of 100 ms. A loss reduces
//! the window by the factor beta = minimum RTT / maximum RTT, limited to 1/2 to 4/5, which empties
//! the queue. Beta is 1/2 if the rate changed by more than a fifth since the previous loss. Growth
//! is 2 (1 - beta) alpha, which matches the reduction.
//!
//! # References
//! D. Leith, R. Shorten, *H-TCP: TCP for high-speed and long-distance networks*, PFLDnet 2004, section 3;
//! draft-leith-tcp-htcp-06 section 2. Behaviour of Linux 6: fixed point, ticks, RTT scaling, the bandwidth
//! switch and the decaying maximum RTT.
//!
//! # Parameters
//! `slow_start`, `ack_counting` (slow start), `reduction_basis`, `timeout_basis`.
//!
//! # Limitations
//! - Linux's clock has ticks of 4 ms (250 Hz, its default), and RTTs are rounded up to ticks.
//! - Growth is rounded down to whole units of alpha's integer part, and takes effect one ACK late.
//! - Below an RTT of 10 ms, a loss halves the window. Reductions are rounded down to whole segments.
//! - Segments that slow start does not need are not counted. An RTO counts from the previous ACK.

use optcp_units::{Duration, Time};

use super::clock::Clock;
use super::controller::{Controller, Start};
use super::event::AckEvent;
use super::growth::{Growth, segments};
use super::phase::Phase;
use crate::window::Window;

/// One, in the unit of alpha and beta.
const ONE: u64 = 128;
const BETA_MIN: u64 = ONE / 2;
/// 0.8
const BETA_MAX: u64 = 102;
/// A maximum RTT is believed if it is longer by this at most.
const CREDIBLE: Duration = Duration::from_ms(20);
/// Below such a minimum RTT beta is a half.
const SHORT: Duration = Duration::from_ms(10);
/// Number of RTTs after a loss in which the rate is not smoothed.
const FRESH: u64 = 3;

/// State of H-TCP. Times are in ticks.
#[derive(Clone, Debug)]
pub struct HTcp {
    growth: Growth,
    phase: Phase,
    clock: Clock,
    /// Arrival of the latest ACK.
    now: u64,
    /// The window after it.
    cwnd: u64,
    alpha: u64,
    beta: u64,
    /// A loss was seen at the present rate: beta may follow from RTTs.
    adapts: bool,
    /// Segments that the latest ACK acknowledged.
    acked: u32,
    trips: Trips,
    /// Time at which the last loss was repaired, or the connection started; `None` before the first ACK.
    since: Option<u64>,
    /// That, before a reduction that may be undone.
    before: Option<u64>,
    rate: Rate,
}

/// Minimum and maximum RTT, in ticks; 0 before the first sample.
#[derive(Clone, Copy, Debug, Default)]
struct Trips {
    least: u64,
    greatest: u64,
}

/// The rate at which segments are acknowledged, in segments a second.
#[derive(Clone, Copy, Debug, Default)]
struct Rate {
    /// Current measurement: segments and start. Without a start, as initially, it measures nothing.
    segments: u64,
    begin: Option<u64>,
    smooth: u64,
    greatest: u64,
    /// The maximum before the last loss.
    old: u64,
}

impl Trips {
    fn add(&mut self, rtt: u64, all_well: bool) {
        if self.least == 0 || rtt < self.least {
            self.least = rtt;
        }
        if all_well {
            self.greatest = self.greatest.max(self.least);
            if rtt <= self.greatest + Clock::ticks_up(CREDIBLE) {
                self.greatest = self.greatest.max(rtt);
            }
        }
    }

    /// Reduces the maximum RTT after a loss, because routes may change.
    fn fade(&mut self) {
        if self.least > 0 && self.greatest > self.least {
            self.greatest = self.least + (self.greatest - self.least) * 95 / 100;
        }
    }
}

impl Rate {
    /// A window has been acknowledged; `fresh` if a loss was shortly before.
    fn measure(&mut self, now: u64, fresh: bool) {
        let took = self.begin.map(|begin| now - begin);
        let present =
            took.map_or(0, |took| (self.segments * Clock::HZ).checked_div(took).unwrap_or(0));
        if fresh {
            (self.smooth, self.greatest) = (present, present);
        } else {
            self.smooth = (3 * self.smooth + present) / 4;
            self.greatest = self.greatest.max(self.smooth);
        }
        (self.segments, self.begin) = (0, Some(now));
    }

    /// A loss: whether the maximum rate is about what it was at the loss before.
    fn steady(&mut self) -> bool {
        let steady = (4 * self.old..=6 * self.old).contains(&(5 * self.greatest));
        self.old = self.greatest;
        steady
    }
}

/// Returns the window growth per RTT, in segments, at a time after the last loss, for a minimum RTT.
fn segments_a_round_trip(since: u64, least: u64) -> u64 {
    let hz = Clock::HZ;
    let mut factor = 1;
    if since > hz {
        let beyond = since - hz;
        factor = 1 + (10 * beyond + (beyond / 2) * (beyond / 2) / hz) / hz;
    }
    if let Some(scale) = (8 * hz).checked_div(10 * least) {
        factor = (8 * factor / scale.clamp(4, 80)).max(1);
    }
    factor
}

impl HTcp {
    fn update_alpha(&mut self, now: u64) {
        let since = now.saturating_sub(self.since.unwrap_or(now));
        let factor = segments_a_round_trip(since, self.trips.least);
        self.alpha = 2 * factor * (ONE - self.beta);
    }

    fn update_beta(&mut self) {
        self.beta = BETA_MIN;
        if !self.rate.steady() {
            self.adapts = false;
        } else if self.adapts && self.trips.least > Clock::ticks_up(SHORT) {
            let share = (ONE * self.trips.least).checked_div(self.trips.greatest);
            self.beta = share.unwrap_or(BETA_MIN).clamp(BETA_MIN, BETA_MAX);
        } else {
            self.adapts = true;
        }
    }

    /// All is repaired: growth begins anew.
    fn repaired(&mut self) {
        self.since = Some(self.now);
        self.before = None;
    }
}

impl Controller for HTcp {
    type Keys = ();

    fn new((): &(), start: Start) -> Self {
        HTcp {
            growth: Growth::new(start.slow_start),
            phase: Phase::default(),
            clock: Clock::new(start.clock_phase),
            now: 0,
            cwnd: 0,
            alpha: ONE,
            beta: BETA_MIN,
            adapts: false,
            acked: 1,
            trips: Trips::default(),
            since: None,
            before: None,
            rate: Rate::default(),
        }
    }

    fn on_handshake(&mut self, window: &mut Window, mss: f64, now: Time, _rtt: Duration) {
        (self.since, self.cwnd) = (Some(self.clock.at(now)), u64::from(window.segments(mss)));
    }

    fn on_open(&mut self) {
        (self.trips, self.rate) = (Trips::default(), Rate::default());
        self.growth.on_open();
    }

    fn observe(&mut self, ack: &AckEvent) {
        let before = self.phase.observe(ack);
        self.now = self.clock.at(ack.now);
        let rtt = ack.rtt.map(Clock::ticks_up);
        // The connection began when this segment was sent.
        self.since.get_or_insert(self.now.saturating_sub(rtt.unwrap_or(0)));
        if before.open() {
            self.acked = ack.acked;
        }
        if let Some(rtt) = rtt {
            self.trips.add(rtt, before.open());
        }
        if before.repairing() {
            (self.rate.segments, self.rate.begin) = (0, Some(self.now));
            if !self.phase.repairing() {
                self.repaired();
            }
            return;
        }
        self.rate.segments += u64::from(ack.acked);
        let least = self.trips.least;
        let whole = self.rate.segments >= self.cwnd.saturating_sub((self.alpha / ONE).max(1));
        let long = self.rate.begin.is_none_or(|begin| self.now - begin >= least);
        if whole && long && least > 0 {
            let since = self.now.saturating_sub(self.since.unwrap_or(self.now));
            self.rate.measure(self.now, since / least <= FRESH);
        }
    }

    fn on_ack(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        self.phase.on_ack();
        if window.in_slow_start() {
            self.growth.slow_start(window, mss, ack);
        } else if ack.limited {
            // Update the slow start state, which ends it.
            self.growth.slow_start(window, mss, ack);
            let cwnd = u64::from(window.segments(mss));
            if segments(self.growth.counted * self.alpha as f64, ONE as f64) >= cwnd {
                window.cwnd += mss;
                self.growth.counted = 0.0;
                self.update_alpha(self.now);
            } else {
                self.growth.counted += f64::from(self.acked);
            }
            self.acked = 1;
        }
        self.cwnd = u64::from(window.segments(mss));
    }

    fn on_loss(&mut self, _window: &Window, mss: f64, amount: f64) -> Option<f64> {
        self.phase.on_loss();
        self.growth.on_loss();
        self.update_beta();
        self.update_alpha(self.now);
        self.trips.fade();
        self.before = self.since.replace(self.now);
        Some((segments(amount, mss) * self.beta / ONE) as f64 * mss)
    }

    fn on_timeout(&mut self, _window: &mut Window, _mss: f64) {
        self.phase.on_timeout();
        self.growth.on_timeout();
    }

    fn on_recovered(&mut self, window: &mut Window, mss: f64) {
        self.phase.on_recovered();
        self.repaired();
        self.cwnd = u64::from(window.segments(mss));
    }

    fn on_undo(&mut self, window: &mut Window, before: Window) {
        self.phase.on_recovered();
        window.restore(before);
        if let Some(since) = self.before.take() {
            self.since = Some(since);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{AckCounting, SlowStartKind};
    use crate::congestion::SlowStart;
    use crate::seq::Seq;

    const MSS: f64 = 1000.0;

    fn htcp() -> HTcp {
        let slow_start = SlowStart::new(SlowStartKind::Standard, AckCounting::Segments, false);
        HTcp::new(&(), Start { slow_start, clock_phase: Duration::ZERO })
    }

    /// draft-leith-tcp-htcp-06, section 2.1: growth is 1 + 10 (D - 1) + (D - 1)^2 / 4 after the
    /// first second, for an RTT of 100 ms. It is 1 at 1 s, 11.25 at 2 s, 45 at 5 s. 100 ms are 25
    /// ticks: 8 * 250 / 250 = 8, a factor of one. Longer RTTs scale by at most two, even 400 ms.
    /// For 12 ms the factor in eighths is 8 * 250 / 30 = 66, so growth is 8 * 45 / 66 = 5.
    #[test]
    fn growth_rises_with_the_time_since_the_last_loss() {
        for (ms, least, want) in [
            (1_000, 25, 1),
            (2_000, 25, 11),
            (5_000, 25, 45),
            (2_000, 100, 22),
            (2_000, 3, 1),
            (5_000, 3, 5),
            (500, 200, 2),
        ] {
            assert_eq!(segments_a_round_trip(ms / 4, least), want, "{ms} ms, {least} ticks");
        }
    }

    /// A connection whose RTTs were 100 to `greatest_ms`, and whose rate is `rate` after having been `old`.
    fn before_a_loss(greatest_ms: u64, old: u64, rate: u64) -> HTcp {
        let trips = Trips { least: 25, greatest: greatest_ms / 4 };
        let rate = Rate { old, greatest: rate, ..Rate::default() };
        HTcp { trips, rate, adapts: true, ..htcp() }
    }

    /// Section 2.2: RTTmin / RTTmax, between 0.5 and 0.8, and 0.5 where the rate has changed by more than 20 %. In 128ths 100/140
    /// is 25 * 128 / 35 = 91, so that 100 segments leave 71.
    #[test]
    fn loss_reduces_window_to_empty_the_queue() {
        for (greatest_ms, old, rate, want) in [
            (140, 1000, 1000, 71),
            (140, 1000, 1200, 71),
            (140, 1000, 1201, 50),
            (140, 1000, 799, 50),
            (104, 1000, 1000, 79),
            (300, 1000, 1000, 50),
        ] {
            let mut htcp = before_a_loss(greatest_ms, old, rate);
            let window = Window { cwnd: 100.0 * MSS, ssthresh: 50.0 * MSS };
            let left = htcp.on_loss(&window, MSS, window.cwnd).unwrap();
            assert_eq!(left.to_bits(), f64::to_bits(f64::from(want) * MSS), "{greatest_ms} {rate}");
        }
    }

    /// Linux: the first loss, and the first after a rate change, halve the window; only the next
    /// uses beta. The maximum RTT loses a twentieth of its excess over the minimum: 25 + 95 * 15 /
    /// 100 = 39.
    #[test]
    fn the_first_loss_leaves_a_half() {
        let mut htcp = HTcp { adapts: false, ..before_a_loss(160, 1000, 1000) };
        let window = Window { cwnd: 100.0 * MSS, ssthresh: 50.0 * MSS };
        let mut left = || htcp.on_loss(&window, MSS, window.cwnd).unwrap() / MSS;
        assert_eq!(left().to_bits(), 50_f64.to_bits());
        // 25 * 128 / 39 = 82
        assert_eq!(left().to_bits(), 64_f64.to_bits());
        assert_eq!(htcp.trips.greatest, 38);
    }

    /// In the first second alpha is 2 (1 - 1/2) = 1: at 10 segments the eleventh ACK finds ten counted, as Linux does.
    #[test]
    fn growth_takes_effect_one_ack_late() {
        let mut htcp = htcp();
        let mut window = Window { cwnd: 10.0 * MSS, ssthresh: 10.0 * MSS };
        let mut windows = Vec::new();
        for at in 1..=11 {
            let now = Time::ZERO + Duration::from_ms(100 + at);
            let (rtt, acked, delivered) = (Some(Duration::from_ms(100)), 1, 1);
            let (una, max, limited) = (Seq::new(1), Seq::new(2), true);
            let ack =
                AckEvent { now, rtt, acked, delivered, una, max, limited, ..AckEvent::default() };
            htcp.observe(&ack);
            htcp.on_ack(&mut window, MSS, &ack);
            windows.push(window.segments(MSS));
        }
        assert_eq!(windows[9..], [10, 11]);
    }

    /// Ten segments in each RTT of 100 ms, 25 ticks, are 100 per second. Up to three RTTs after the
    /// last loss, this value is used unchanged. After that, new samples have weight 1/4: 20
    /// segments give (3 * 100 + 200) / 4 = 125.
    #[test]
    fn the_rate_is_smoothed_when_the_loss_is_over() {
        let mut rate = Rate { begin: Some(0), ..Rate::default() };
        for (segments, now, fresh, want) in
            [(10, 25, true, 100), (10, 50, true, 100), (20, 75, false, 125)]
        {
            rate.segments = segments;
            rate.measure(now, fresh);
            assert_eq!((rate.smooth, rate.greatest), (want, want));
        }
    }
}
