//! CUBIC as in Linux 6.
//!
//! # Model
//! The curve of RFC 9438 in whole segments. It is evaluated when the window has changed or 1/32 s has passed,
//! and gives the number of acknowledged segments per window increase. That number is at least two. Before the
//! first loss (after HyStart or an RTO) it is at most 20. The curve is evaluated one minimum RTT ahead. RTT
//! samples in the first second of a congestion avoidance period count neither for the minimum nor for
//! HyStart. An undo restores the window, not the curve.
//!
//! # References
//! Behaviour of Linux 6, recorded (see the page on evidence); RFC 9438 for the common parts.
//!
//! # Parameters
//! `cubic_version = "linux"`, `fast_convergence`, `slow_start`, `ack_counting`.
//!
//! # Limitations
//! Linux's clock ticks every 1 to 10 ms, and its cube root has errors up to 0.2 %; both are exact here.

use optcp_units::{Duration, Time};

use super::super::controller::{Controller, Start};
use super::super::event::AckEvent;
use super::super::slow_start::SlowStart;
use super::keys::CubicKeys;
use crate::window::Window;

/// Window factor after a reduction, in 1/1024.
const BETA: u64 = 717;
/// Segments acknowledged for a segment of Reno with the same reduction, in eighths of a window.
const RENO_EIGHTHS: u64 = 8 * (1024 + BETA) / 3 / (1024 - BETA);
/// 1024 times C, in segments a cubic second.
const C: u64 = 410;
/// The unit of time, 1/1024 s, in picoseconds.
const UNIT: u64 = 1_000_000_000_000 / 1024;
/// A second cubed is 2^30 units cubed, and C is in 1024ths.
const CUBED: u32 = 40;
/// The most segments that the window waits for while no loss is known.
const WITHOUT_LOSS: u64 = 20;
/// Time after which the curve is looked up again although the window has not changed.
const LOOK_AGAIN: Duration = Duration::from_ps(1_000_000_000_000 / 32);
/// The beginning of congestion avoidance in which RTTs are not believed.
const UNBELIEVED: Duration = Duration::from_secs(1);

/// State of CUBIC.
#[derive(Clone, Debug)]
pub struct Linux {
    fast_convergence: bool,
    slow_start: SlowStart,
    /// The window before the last loss, or less by fast convergence; 0 if no loss is known.
    w_max: u64,
    epoch: Option<Epoch>,
    least_rtt: Option<Duration>,
    /// Time and window of the last evaluation of the curve.
    looked_up: Option<(Time, u64)>,
    /// Segments that the window waits for until it grows by one.
    wait: u64,
    /// Segments counted towards that.
    counted: u64,
}

/// One stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Time,
    /// Plateau of the curve: window in segments, and time in units.
    origin: u64,
    k: u64,
    /// Segments acknowledged that Reno's window has not yet grown by.
    acked: u64,
    /// Estimated window of Reno.
    reno: u64,
}

impl Epoch {
    fn new(now: Time, cwnd: u64, w_max: u64, acked: u64) -> Self {
        let above = u128::from(w_max.saturating_sub(cwnd));
        let k = cube_root((above << CUBED) / u128::from(C));
        Epoch { start: now, origin: w_max.max(cwnd), k, acked, reno: cwnd }
    }

    /// The curve at `t` units after the start.
    fn target(&self, t: u64) -> u64 {
        let away = u128::from(t.abs_diff(self.k));
        let rise = u64::try_from((u128::from(C) * away * away * away) >> CUBED).unwrap_or(u64::MAX);
        if t < self.k { self.origin.saturating_sub(rise) } else { self.origin.saturating_add(rise) }
    }

    /// By how much Reno's window is greater than `cwnd`, if it is.
    fn reno_above(&mut self, cwnd: u64) -> Option<u64> {
        let each = (cwnd * RENO_EIGHTHS / 8).max(1);
        // As many whole windows as are more than reached.
        let grown = self.acked.saturating_sub(1) / each;
        self.acked -= grown * each;
        self.reno += grown;
        self.reno.checked_sub(cwnd).filter(|&above| above > 0)
    }
}

impl Controller for Linux {
    type Keys = CubicKeys;

    fn new(keys: &CubicKeys, start: Start) -> Self {
        Linux {
            fast_convergence: keys.fast_convergence,
            slow_start: start.slow_start,
            w_max: 0,
            epoch: None,
            least_rtt: None,
            looked_up: None,
            wait: 0,
            counted: 0,
        }
    }

    fn on_open(&mut self) {
        self.slow_start.on_open();
    }

    fn on_ack(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        let believed = self.epoch.is_none_or(|epoch| ack.now - epoch.start >= UNBELIEVED);
        let unmeasured;
        let ack = if believed {
            ack
        } else {
            unmeasured = AckEvent { rtt: None, ..*ack };
            &unmeasured
        };
        if let Some(rtt) = ack.rtt {
            self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        let left = self.slow_start.on_ack(window, mss, ack);
        if left <= 0.0 {
            return;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole segments"
        )]
        let left = left as u64;
        let cwnd = u64::from(window.segments(mss));
        self.look_up(ack.now, cwnd, left);
        window.cwnd += self.growth(left) as f64 * mss;
    }

    fn on_loss(&mut self, window: &Window, mss: f64, _amount: f64) -> Option<f64> {
        let cwnd = u64::from(window.segments(mss));
        let falls = self.fast_convergence && cwnd < self.w_max;
        self.w_max = if falls { cwnd * (1024 + BETA) / 2048 } else { cwnd };
        (self.epoch, self.counted) = (None, 0);
        self.slow_start.on_loss();
        Some((cwnd * BETA / 1024) as f64 * mss)
    }

    /// Nothing is known any more.
    fn on_timeout(&mut self, _window: &mut Window, _mss: f64) {
        self.slow_start.on_timeout();
        (self.w_max, self.epoch, self.least_rtt) = (0, None, None);
        (self.looked_up, self.counted) = (None, 0);
    }

    /// The time in which nothing was outstanding is no time of the curve.
    fn on_resume(&mut self, now: Time, idle: Duration) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start = (epoch.start + idle).min(now);
        }
    }
}

impl Linux {
    /// Finds what the window waits for, `acked` segments being acknowledged.
    fn look_up(&mut self, now: Time, cwnd: u64, acked: u64) {
        if let Some(epoch) = &mut self.epoch {
            epoch.acked += acked;
        }
        if let Some((at, before)) = self.looked_up
            && before == cwnd
            && now - at <= LOOK_AGAIN
        {
            return;
        }
        self.looked_up = Some((now, cwnd));
        let w_max = self.w_max;
        let epoch = self.epoch.get_or_insert_with(|| Epoch::new(now, cwnd, w_max, acked));
        let ahead = (now - epoch.start) + self.least_rtt.unwrap_or(Duration::ZERO);
        let target = epoch.target(ahead.as_ps() / UNIT);
        self.wait = match target.saturating_sub(cwnd) {
            0 => 100 * cwnd,
            above => cwnd / above,
        };
        if self.w_max == 0 {
            self.wait = self.wait.min(WITHOUT_LOSS);
        }
        if let Some(above) = epoch.reno_above(cwnd) {
            self.wait = self.wait.min(cwnd / above);
        }
        self.wait = self.wait.max(2);
    }

    /// Counts `acked` segments; how many the window grows by.
    fn growth(&mut self, acked: u64) -> u64 {
        // More was counted than is waited for now: that is a segment, and the rest is lost.
        let over = self.counted >= self.wait;
        if over {
            self.counted = 0;
        }
        self.counted += acked;
        let grown = self.counted / self.wait;
        self.counted %= self.wait;
        grown + u64::from(over)
    }
}

/// The cube root of a whole number, rounded down.
fn cube_root(x: u128) -> u64 {
    let (mut root, mut bit) = (0_u64, 1_u64 << 41);
    while bit > 0 {
        let it = u128::from(root + bit);
        if it * it * it <= x {
            root += bit;
        }
        bit /= 2;
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{AckCounting, SlowStartKind};

    const MSS: f64 = 1000.0;

    fn cubic(kind: SlowStartKind) -> Linux {
        let slow_start = SlowStart::new(kind, AckCounting::Segments, false);
        Linux::new(&CubicKeys::default(), Start { slow_start, clock_phase: Duration::ZERO })
    }

    fn segments(window: f64, ssthresh: f64) -> Window {
        Window { cwnd: window * MSS, ssthresh: ssthresh * MSS }
    }

    /// An ACK of one segment, with the RTT that it measures.
    fn ack(at_ms: u64, rtt_ms: u64) -> AckEvent {
        AckEvent {
            now: Time::ZERO + Duration::from_ms(at_ms),
            acked: 1,
            delivered: 1,
            rtt: Some(Duration::from_ms(rtt_ms)),
            limited: true,
            ..AckEvent::default()
        }
    }

    /// ACKs of single segments, one a millisecond from `from_ms` on, until the window has grown by one: how many.
    fn until_grown(cubic: &mut Linux, window: &mut Window, from_ms: u64) -> u64 {
        let before = window.cwnd;
        let grows = |number: &u64| {
            cubic.on_ack(window, MSS, &ack(from_ms + number, 100));
            window.cwnd > before
        };
        (1..10_000).find(grows).unwrap()
    }

    /// Behaviour of Linux: the window waits for 20 segments while no loss is known. This is so
    /// after slow start ended without a loss, and after an RTO discarded it. The curve alone, flat
    /// at 100 segments, would wait for 10 000.
    #[test]
    fn without_a_loss_the_window_grows_by_one_in_twenty() {
        let mut cubic = cubic(SlowStartKind::Standard);
        let mut window = segments(100.0, 100.0);
        assert_eq!(until_grown(&mut cubic, &mut window, 0), 20);
        assert_eq!(cubic.on_loss(&window, MSS, window.cwnd), Some(70.0 * MSS));
        cubic.on_timeout(&mut window, MSS);
        let mut window = segments(70.0, 70.0);
        assert_eq!(until_grown(&mut cubic, &mut window, 1000), 20);
    }

    /// 1000 segments lost: 1000 * 717 / 1024 = 700.2 are left, rounded down to 700. RFC 9438 figure
    /// 2: K = cbrt(300 / 0.4) = 9.086 s. In 1024ths of a second with C = 410/1024, K is 9300. In
    /// 100 ms the curve is 410/1024 (9300 - 102)^3 / 1024^3 = 290.2 segments below 1000, rounded to
    /// 290. It is 10 above the window: one segment in 70.
    #[test]
    fn after_a_loss_the_window_follows_the_curve() {
        let mut cubic = cubic(SlowStartKind::Standard);
        let ssthresh = cubic.on_loss(&segments(1000.0, 1.0), MSS, 0.0).unwrap() / MSS;
        assert_eq!(ssthresh.to_bits(), 700_f64.to_bits());
        let mut window = segments(ssthresh, ssthresh);
        cubic.on_ack(&mut window, MSS, &ack(0, 100));
        assert_eq!(cubic.epoch.unwrap().k, 9300);
        assert_eq!(cubic.wait, 70);
    }

    /// Behaviour of Linux: the window comes back, the curve begins anew below the loss that was none.
    #[test]
    fn an_undone_reduction_leaves_the_curve() {
        let mut cubic = cubic(SlowStartKind::Standard);
        let before = segments(100.0, f64::INFINITY);
        cubic.save();
        let ssthresh = cubic.on_loss(&before, MSS, 0.0).unwrap();
        let mut window = Window { cwnd: ssthresh, ssthresh };
        cubic.on_undo(&mut window, before);
        assert_eq!(window, before);
        assert_eq!((cubic.w_max, cubic.epoch.is_none()), (100, true));
    }

    /// Behaviour of Linux: in the first second of congestion avoidance RTTs are ignored. The
    /// minimum RTT, which HyStart and the curve use, stays 100 ms.
    #[test]
    fn round_trips_of_the_first_second_do_not_count() {
        let mut cubic = cubic(SlowStartKind::HyStart);
        let mut window = segments(100.0, 100.0);
        for (at_ms, rtt_ms, least_ms) in
            [(0, 100, 100), (500, 50, 100), (999, 50, 100), (1000, 50, 50)]
        {
            cubic.on_ack(&mut window, MSS, &ack(at_ms, rtt_ms));
            assert_eq!(cubic.least_rtt, Some(Duration::from_ms(least_ms)), "at {at_ms} ms");
        }
    }

    /// Behaviour of Linux: ten seconds with nothing outstanding do not move the curve.
    #[test]
    fn idle_time_does_not_count() {
        let mut cubic = cubic(SlowStartKind::Standard);
        let mut window = segments(100.0, 100.0);
        cubic.on_ack(&mut window, MSS, &ack(0, 100));
        let later = Time::ZERO + Duration::from_secs(10);
        cubic.on_resume(later, Duration::from_ms(9_900));
        assert_eq!(cubic.epoch.unwrap().start, Time::ZERO + Duration::from_ms(9_900));
    }

    #[test]
    fn the_cube_root_is_rounded_down() {
        for (x, root) in [(0, 0), (1, 1), (7, 1), (8, 2), (26, 2), (27, 3), (1 << 120, 1 << 40)] {
            assert_eq!(cube_root(x), root, "{x}");
        }
    }
}
