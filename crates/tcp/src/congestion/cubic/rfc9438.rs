//! CUBIC according to RFC 9438.
//!
//! # Model
//! In congestion avoidance, the window is a cubic function of the time since its last reduction, with its
//! plateau at the window before that reduction. If Reno with the same reduction would have a larger window,
//! that window applies. A loss leaves 7/10 of the reduction basis.
//!
//! # References
//! RFC 9438: figures 1 and 2 (W_cubic, K), section 4.2 (target), 4.3 (Reno-friendly region), 4.4
//! and 4.5 (concave and convex region), 4.6 (multiplicative decrease). Also sections 4.7 (fast
//! convergence), 4.8 (timeout), 4.9 (spurious congestion events), 4.10 (slow start), 5.8
//! (application-limited time).
//!
//! # Parameters
//! `cubic_version = "rfc9438"`, `fast_convergence`, `slow_start`, `ack_counting`, `reduction_basis`,
//! `timeout_basis`.
//!
//! # Limitations
//! Fractions of a segment are kept. In the Reno-friendly region the window never shrinks to W_est. Congestion
//! avoidance that starts at or above W_max starts in the convex region, K = 0. ECN is ignored.

use optcp_units::{Duration, Time};

use super::super::controller::{Controller, Start};
use super::super::event::AckEvent;
use super::super::slow_start::SlowStart;
use super::keys::CubicKeys;
use crate::window::Window;

/// C in segments a cubic second (RFC 9438 section 5).
const C: f64 = 0.4;
/// Window factor after a reduction (section 4.6).
const BETA: f64 = 0.7;
/// Reno's increase that makes up for BETA: 3 (1 - BETA) / (1 + BETA) (section 4.3).
const ALPHA: f64 = 9.0 / 17.0;

/// State of CUBIC.
#[derive(Clone, Debug)]
pub struct Rfc9438 {
    fast_convergence: bool,
    slow_start: SlowStart,
    state: State,
    /// The state before a reduction that may yet be undone.
    before: Option<State>,
}

/// State that the undo of a spurious congestion event restores, in segments.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// `cwnd_prior`: the window before the last reduction.
    prior: Option<f64>,
    /// `W_max`; none if there was no loss yet, or a timeout since.
    w_max: Option<f64>,
    /// The present congestion avoidance.
    epoch: Option<Epoch>,
}

/// One stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// `t_epoch`.
    start: Time,
    /// The last ACK that let the window grow, or might have.
    last: Time,
    /// `W_max` of the cubic.
    w_max: f64,
    /// K in seconds.
    k: f64,
    /// `W_est`.
    w_est: f64,
}

impl Epoch {
    fn new(now: Time, cwnd: f64, w_max: Option<f64>) -> Self {
        let w_max = w_max.unwrap_or(cwnd).max(cwnd);
        let k = cube_root((w_max - cwnd) / C);
        Epoch { start: now, last: now, w_max, k, w_est: cwnd }
    }

    /// The time up to `now` does not count, as far as no ACK let the window grow and it is no more than `idle`.
    fn skip(&mut self, now: Time, idle: Duration) {
        self.start = self.start + (now - self.last).min(idle);
        self.last = now;
    }

    /// Figure 1, `t` seconds after the start.
    fn w_cubic(&self, t: f64) -> f64 {
        let t = t - self.k;
        C * (t * t * t) + self.w_max
    }

    /// Figure 4, for `share` of a window acknowledged.
    fn grow_estimate(&mut self, share: f64, prior: f64) {
        let alpha = if self.w_est >= prior { 1.0 } else { ALPHA };
        self.w_est += alpha * share;
    }
}

impl Controller for Rfc9438 {
    type Keys = CubicKeys;

    fn new(keys: &CubicKeys, start: Start) -> Self {
        Rfc9438 {
            fast_convergence: keys.fast_convergence,
            slow_start: start.slow_start,
            state: State::default(),
            before: None,
        }
    }

    fn on_open(&mut self) {
        self.slow_start.on_open();
    }

    fn on_ack(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        let count = self.slow_start.on_ack(window, mss, ack);
        if window.in_slow_start() {
            // A pause may have taken the window below ssthresh: the next congestion avoidance is another stage (section 4.2).
            self.state.epoch = None;
            return;
        }
        let State { prior, w_max, epoch } = &mut self.state;
        let cwnd = window.cwnd / mss;
        if !ack.limited {
            // Section 5.8: the time in which the window does not limit is no time of the cubic.
            if let Some(epoch) = epoch {
                epoch.skip(ack.now, ack.now - epoch.last);
            }
            return;
        }
        let epoch = epoch.get_or_insert_with(|| Epoch::new(ack.now, cwnd, *w_max));
        epoch.last = ack.now;
        let share = (count / cwnd).min(1.0);
        epoch.grow_estimate(share, *prior.get_or_insert(cwnd));
        let t = (ack.now - epoch.start).as_secs_f64();
        let grown = if epoch.w_cubic(t) < epoch.w_est {
            epoch.w_est
        } else {
            let srtt = ack.srtt.unwrap_or(Duration::ZERO).as_secs_f64();
            let target = epoch.w_cubic(t + srtt).clamp(cwnd, 1.5 * cwnd);
            cwnd + (target - cwnd) * share
        };
        // Never below: a window that rounding took below ssthresh would be in slow start again.
        window.cwnd = window.cwnd.max(grown * mss);
    }

    fn on_loss(&mut self, window: &Window, mss: f64, amount: f64) -> Option<f64> {
        let cwnd = window.cwnd / mss;
        let falls = self.fast_convergence && self.state.w_max.is_some_and(|w_max| cwnd < w_max);
        let w_max = if falls { cwnd * ((1.0 + BETA) / 2.0) } else { cwnd };
        self.state = State { prior: Some(cwnd), w_max: Some(w_max), epoch: None };
        self.slow_start.on_loss();
        Some(amount * BETA)
    }

    /// Section 4.8: the next congestion avoidance begins with K = 0.
    fn on_timeout(&mut self, _window: &mut Window, _mss: f64) {
        self.state.w_max = None;
        self.state.epoch = None;
        self.slow_start.on_timeout();
    }

    /// Sections 4.2 and 5.8: the time since the last ACK, in which nothing was outstanding, is no time of the cubic.
    fn on_resume(&mut self, now: Time, idle: Duration) {
        for state in [Some(&mut self.state), self.before.as_mut()].into_iter().flatten() {
            if let Some(epoch) = &mut state.epoch {
                epoch.skip(now, idle);
            }
        }
    }

    fn save(&mut self) {
        self.before = Some(self.state);
    }

    fn on_undo(&mut self, window: &mut Window, before: Window) {
        window.restore(before);
        if let Some(before) = self.before.take() {
            self.state = before;
        }
    }
}

/// Returns the cube root of a non-negative number. It uses only IEEE sums, products and quotients,
/// so that every machine gives the same bits. The standard library's result may differ between
/// machines.
fn cube_root(x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    // A third of the exponent is within an eighth of the root. Each of Newton's steps then doubles
    // the number of correct digits: 3, 6, 12, 24, 48, all.
    const BIAS: u64 = 1023 << 52;
    let mut root = f64::from_bits(x.to_bits() / 3 + BIAS / 3 * 2);
    for _ in 0..6 {
        root = (2.0 * root + x / (root * root)) / 3.0;
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{AckCounting, SlowStartKind};

    const MSS: f64 = 1000.0;

    fn vectors() -> Vec<serde_json::Value> {
        let text = include_str!("../../../../../tests/reference/tcp/analytic.json");
        let file: serde_json::Value = serde_json::from_str(text).unwrap();
        file["rfc9438"]["vectors"].as_array().unwrap().clone()
    }

    fn number(value: &serde_json::Value) -> f64 {
        value.as_f64().unwrap()
    }

    /// A sender in congestion avoidance at a window of `cwnd` segments that lost one.
    fn after_loss(cwnd: f64, w_max: Option<f64>) -> (Rfc9438, Window) {
        let slow_start = SlowStart::new(SlowStartKind::Standard, AckCounting::Once, false);
        let start = Start { slow_start, clock_phase: Duration::ZERO };
        let mut cubic = Rfc9438::new(&CubicKeys::default(), start);
        cubic.state.w_max = w_max;
        let before = Window { cwnd: cwnd * MSS, ssthresh: MSS };
        let ssthresh = cubic.on_loss(&before, MSS, before.cwnd).unwrap();
        (cubic, Window { cwnd: ssthresh, ssthresh })
    }

    fn ack(at: Duration, srtt: Duration) -> AckEvent {
        AckEvent {
            now: Time::ZERO + at,
            acked: 1,
            delivered: 1,
            srtt: Some(srtt),
            limited: true,
            ..AckEvent::default()
        }
    }

    /// Worked from the text of RFC 9438 outside this code: tests/reference/tcp/analytic.json. The vector
    /// whose W_max is below the window that was lost comes after a greater one (fast convergence).
    #[test]
    fn rfc_vectors_are_reproduced() {
        let vectors = vectors();
        assert_eq!(vectors.len(), 4);
        for vector in &vectors {
            let lost = number(&vector["w_max"]);
            let used = number(&vector["W_max_used"]);
            let (mut cubic, window) = after_loss(lost, (used < lost).then_some(lost + 1.0));
            let rtt = number(&vector["rtt_s"]);
            let close = |got: f64, want: f64, what: &str| {
                assert!((got - want).abs() < 6e-5, "{what} of {vector}: {got}, expected {want}");
            };
            close(window.cwnd / MSS, number(&vector["cwnd_after"]), "cwnd");
            close(cubic.state.w_max.unwrap(), used, "W_max");
            let srtt = Duration::from_secs_f64(rtt).unwrap();
            cubic.on_ack(&mut window.clone(), MSS, &ack(Duration::ZERO, srtt));
            let mut epoch = Epoch::new(Time::ZERO, window.cwnd / MSS, cubic.state.w_max);
            let made = cubic.state.epoch.unwrap();
            assert_eq!(
                (made.k.to_bits(), made.w_max.to_bits()),
                (epoch.k.to_bits(), used.to_bits())
            );
            assert!((epoch.k - number(&vector["K_s"])).abs() < 6e-7, "K {}", epoch.k);
            let mut rounds = 0.0;
            for row in vector["rows"].as_array().unwrap() {
                let t = number(&row[0]);
                while rounds * rtt < t - rtt / 2.0 {
                    epoch.grow_estimate(1.0, lost);
                    rounds += 1.0;
                }
                close(epoch.w_cubic(t), number(&row[1]), "W_cubic");
                close(epoch.w_est, number(&row[2]), "W_est");
            }
        }
    }

    /// 100 segments lost, 70 left, K = 4.217163 s. At first W_cubic is still 70 and W_est leads:
    /// 9/17 of a seventieth more. 10 ms later W_cubic leads. In 100 ms the cubic reaches 100 - 0.4
    /// (4.107163)^3 = 72.28685 segments, and the ACK adds its share of the difference.
    #[test]
    fn ack_adds_its_share_of_growth_to_the_target() {
        let (mut cubic, mut window) = after_loss(100.0, None);
        for (at_ms, want) in
            [(0, 70.0 + 9.0 / 17.0 / 70.0), (10, 70.007_563 + 2.279_29 / 70.007_563)]
        {
            cubic.on_ack(&mut window, MSS, &ack(Duration::from_ms(at_ms), Duration::from_ms(100)));
            assert!((window.cwnd / MSS - want).abs() < 1e-6, "{} instead of {want}", window.cwnd);
        }
    }

    /// RFC 9438 section 4.2: the target is never more than half as much again as the window.
    #[test]
    fn the_target_is_bounded() {
        let (mut cubic, mut window) = after_loss(100.0, None);
        cubic.on_ack(&mut window, MSS, &ack(Duration::ZERO, Duration::from_ms(100)));
        let before = window.cwnd;
        cubic.on_ack(&mut window, MSS, &ack(Duration::from_secs(60), Duration::from_ms(100)));
        let want = before + 0.5 * MSS;
        assert!((window.cwnd - want).abs() < 1e-6, "{} instead of {want}", window.cwnd);
    }

    /// RFC 9438 section 4.8: after a timeout K = 0 and W_max is where congestion avoidance begins.
    #[test]
    fn a_timeout_begins_at_the_flat_part() {
        let (mut cubic, mut window) = after_loss(100.0, None);
        cubic.on_timeout(&mut window, MSS);
        cubic.on_ack(&mut window, MSS, &ack(Duration::ZERO, Duration::from_ms(100)));
        let epoch = cubic.state.epoch.unwrap();
        assert_eq!((epoch.k.to_bits(), epoch.w_max.to_bits()), (0, 70_f64.to_bits()));
    }

    /// RFC 9438 section 4.9: a reduction that was none gives the old cubic back.
    #[test]
    fn an_undone_reduction_leaves_no_trace() {
        let (mut cubic, mut window) = after_loss(100.0, None);
        cubic.on_ack(&mut window, MSS, &ack(Duration::ZERO, Duration::from_ms(100)));
        let before = format!("{:?}", cubic.state);
        cubic.save();
        let kept = window;
        let _ = cubic.on_loss(&window, MSS, window.cwnd);
        cubic.on_timeout(&mut window, MSS);
        window.cwnd = MSS;
        assert_ne!(format!("{:?}", cubic.state), before);
        cubic.on_undo(&mut window, kept);
        assert_eq!(window, kept);
        assert_eq!(format!("{:?}", cubic.state), before);
    }

    /// RFC 9438 section 5.8: ten seconds in which the window limited nothing do not move the cubic.
    #[test]
    fn time_without_use_of_the_window_does_not_count() {
        let (mut cubic, mut window) = after_loss(100.0, None);
        let rtt = Duration::from_ms(100);
        cubic.on_ack(&mut window, MSS, &ack(Duration::ZERO, rtt));
        let before = window.cwnd;
        for second in 1..=10 {
            let idle = AckEvent { limited: false, ..ack(Duration::from_secs(second), rtt) };
            cubic.on_ack(&mut window, MSS, &idle);
        }
        assert_eq!(window.cwnd.to_bits(), before.to_bits());
        assert_eq!(cubic.state.epoch.unwrap().start, Time::ZERO + Duration::from_secs(10));
    }

    /// Section 4.2: t counts from the start of the current congestion avoidance. A window that a
    /// pause reduced below ssthresh starts a new one when it reaches ssthresh again. 100 segments
    /// were lost, so K is the cube root of (100 - 70) / 0.4 = 4.217 s from then on.
    #[test]
    fn congestion_avoidance_restarts_after_slow_start() {
        let (mut cubic, mut window) = after_loss(100.0, None);
        let rtt = Duration::from_ms(100);
        cubic.on_ack(&mut window, MSS, &ack(Duration::ZERO, rtt));
        window = Window { cwnd: 10.0 * MSS, ssthresh: 70.0 * MSS };
        cubic.on_ack(&mut window, MSS, &ack(Duration::from_secs(8), rtt));
        assert_eq!(window.cwnd.to_bits(), f64::to_bits(11.0 * MSS));
        window.cwnd = window.ssthresh;
        cubic.on_ack(&mut window, MSS, &ack(Duration::from_secs(9), rtt));
        let epoch = cubic.state.epoch.unwrap();
        assert_eq!(epoch.start, Time::ZERO + Duration::from_secs(9));
        assert!((epoch.k - 75_f64.cbrt()).abs() < 1e-9 && (epoch.w_max - 100.0).abs() < 1e-9);
    }

    #[test]
    fn the_cube_root_is_right_to_the_last_digits() {
        for root in [1e-6, 0.1, 1.0, 3.0, 4.217_163_326_508_746, 100.0, 12_345.678, 1e8] {
            let got = cube_root(root * root * root);
            assert!((got / root - 1.0).abs() < 4e-16, "{got}, expected {root}");
        }
        assert_eq!(cube_root(0.0).to_bits(), 0);
    }
}
