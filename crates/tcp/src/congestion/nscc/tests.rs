//! Each branch of NSCC, by hand in the reference network.

use super::*;
use crate::config::{AckCounting, SlowStartKind};
use crate::congestion::SlowStart;

const MSS: f64 = 1000.0;
/// Window before each case, in bytes.
const BEFORE: f64 = 100_000.0;
const RTT: u64 = 12;

/// NSCC in the reference network: scaling factors of 1 and 0.75, target delay 9 us, maximum window 225 kB.
struct Run {
    nscc: Nscc,
    window: Window,
    now: Time,
}

/// A window of 100 segments, between two adjustments and two periods of Quick Adapt.
fn run() -> Run {
    let slow_start = SlowStart::new(SlowStartKind::Standard, AckCounting::Segments, false);
    let start = Start { slow_start, clock_phase: Duration::ZERO };
    let mut nscc = Nscc::new(&NsccKeys::default(), start);
    let now = Time::ZERO + Duration::from_us(100);
    nscc.adjusted = Some(now);
    nscc.adapt.until = Some(now + Duration::from_us(21));
    Run { nscc, window: Window { cwnd: BEFORE, ssthresh: f64::INFINITY }, now }
}

impl Run {
    /// Processes an ACK of `delivered` segments, of which one is marked if `marked`, with this queueing delay.
    fn ack(&mut self, delivered: u32, marked: bool, delay_us: u64) -> f64 {
        self.nscc.observe(&AckEvent { marked: u32::from(marked), ..AckEvent::default() });
        let rtt = Some(Duration::from_us(RTT + delay_us));
        let in_flight = 50;
        let ack =
            DeliveryEvent { now: self.now, delivered, rtt, in_flight, ..DeliveryEvent::default() };
        self.nscc.on_delivery(&mut self.window, MSS, &ack, &mut DeliveryRate::default());
        self.window.cwnd
    }

    /// Processes an ACK that reports trimmed segments only.
    fn trim(&mut self, segments: u32) -> f64 {
        let rate = DeliveryRate::default();
        (0..segments).for_each(|_| {
            self.nscc.on_lost(&self.window, MSS, Seq::ZERO, self.now, &rate);
        });
        let ack = DeliveryEvent { now: self.now, in_flight: 50, ..DeliveryEvent::default() };
        self.nscc.on_delivery(&mut self.window, MSS, &ack, &mut DeliveryRate::default());
        self.window.cwnd
    }

    fn wait(&mut self, us: u64) {
        self.now = self.now + Duration::from_us(us);
    }
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6, "{found}, expected {expected}");
}

/// Delay 5 us of 9: alpha = 4 * 1000 B * 0.75 / 9 us. Nine segments add 4000 / 12 us * 9000 * 4 us / 100000 = 120 B, because
/// more than 8 segments take effect at once. Eight do not.
#[test]
fn unmarked_ack_below_target_increases_by_the_distance() {
    close(run().ack(8, false, 5), BEFORE);
    close(run().ack(9, false, 5), BEFORE + 120.0);
    // Without distance from the target it is the fair increase.
    close(run().ack(9, false, 8), BEFORE + 30.0);
}

/// 5 * 1000 B * 9000 / 100000 = 450 B, for any delay from the target on.
#[test]
fn unmarked_ack_above_target_increases_steadily() {
    close(run().ack(9, false, 9), BEFORE + 450.0);
    close(run().ack(9, false, 30), BEFORE + 450.0);
}

/// Average 15 us, the first sample: 1 - 0.8 * 6 / 15 = 0.68. 90 us: 1 - 0.8 * 81 / 90 = 0.28, at least 0.5.
#[test]
fn marked_ack_above_target_decreases_by_the_excess_once_per_rtt() {
    let mut run = run();
    close(run.ack(1, true, 15), 0.68 * BEFORE);
    // The second sample comes 12 us later, with weight 1. Until then, nothing changes.
    run.wait(6);
    close(run.ack(1, true, 15), 0.68 * BEFORE);
    run.wait(7);
    // 13 us after the last adjustment, 0.15 segments are added.
    close(run.ack(1, true, 15), 0.68 * 0.68 * BEFORE + 150.0);
    close(self::run().ack(1, true, 90), 0.5 * BEFORE);
}

/// 6 us after a sample of 30 us, half of the base RTT, a sample of 10 us has weight 1/2.
#[test]
fn average_delay_weights_samples_by_time() {
    let mut average = AverageDelay::default();
    let base_rtt = Duration::from_us(12);
    average.add(Time::ZERO, 30.0, base_rtt);
    close(average.delay_ps, 30.0);
    average.add(Time::ZERO + Duration::from_us(6), 10.0, base_rtt);
    close(average.delay_ps, 20.0);
    average.add(Time::ZERO + Duration::from_us(66), 5.0, base_rtt);
    close(average.delay_ps, 5.0);
}

#[test]
fn marked_ack_below_target_changes_nothing() {
    let mut run = run();
    close(run.ack(9, true, 8), BEFORE);
    close(run.nscc.increase, 0.0);
}

/// 101 segments without queueing exceed the window of 100: from then on, a quarter of the bytes is added.
#[test]
fn window_of_acks_without_queueing_increases_fast() {
    let mut run = run();
    close(run.ack(100, false, 0), BEFORE + 4000.0 / 12.0 * 100_000.0 * 9.0 / BEFORE);
    let before = run.window.cwnd;
    close(run.ack(10, false, 0), before + 2500.0);
    close(run.ack(10, false, 0), before + 5000.0);
    // A delay of 1 us ends it: 333.33 B/us * 10000 B * 8 us / window.
    let before = run.window.cwnd;
    close(run.ack(10, false, 1), before + 4000.0 / 12.0 * 10_000.0 * 8.0 / before);
}

/// Within the period: two segments. At its end: 27 segments of 225 / 8 = 28.125 have arrived, which become the window.
#[test]
fn trimmed_segment_shrinks_the_window_and_triggers_quick_adapt() {
    let mut run = run();
    close(run.trim(2), BEFORE - 2.0 * MSS);
    close(run.ack(27, true, 8), BEFORE - 2.0 * MSS);
    run.wait(21);
    close(run.trim(1), 27.0 * MSS);
    // Marks and trims of the first 49 of 50 segments in flight are ignored; the count includes the current one.
    close(run.trim(20), 27.0 * MSS);
    close(run.ack(29, true, 90), 27.0 * MSS);
    close(run.trim(1), 26.0 * MSS);
}

/// 29 segments are more than an eighth of the maximum window: only the trimmed segment counts.
#[test]
fn quick_adapt_needs_less_than_an_eighth_of_the_maximum_window() {
    let mut run = run();
    run.ack(29, true, 8);
    run.wait(21);
    close(run.trim(1), BEFORE - MSS);
}

/// Delay alone is no trigger in networks that trim: ten targets give the fair increase of 5000 * 1000 / 100000 B, and 150 B.
#[test]
fn delay_does_not_trigger_quick_adapt() {
    let mut run = run();
    run.wait(21);
    close(run.ack(1, false, 90), BEFORE + 50.0 + 150.0);
}

/// A base RTT of 6 us halves the maximum window, and so the window: 1.5 * 150 kB / 2.
#[test]
fn lower_rtt_lowers_the_maximum_window() {
    let mut run = run();
    run.window.cwnd = 1e9;
    close(run.ack(1, true, 0), 225_000.0);
    let ack = DeliveryEvent {
        now: run.now + Duration::from_us(13),
        delivered: 1,
        rtt: Some(Duration::from_us(6)),
        ..DeliveryEvent::default()
    };
    run.nscc.on_delivery(&mut run.window, MSS, &ack, &mut DeliveryRate::default());
    close(run.window.cwnd, 112_500.0);
}

/// Segments that the timer declares lost shrink the window by their sizes, without Quick Adapt.
#[test]
fn rto_shrinks_by_the_lost_segments() {
    let mut run = run();
    run.ack(1, true, 0);
    let rate = DeliveryRate::default();
    (0..30).for_each(|_| run.nscc.on_lost(&run.window, MSS, Seq::ZERO, run.now, &rate));
    run.nscc.on_timeout(&mut run.window, MSS);
    close(run.nscc.cwnd.unwrap(), 70_000.0);
    assert!(!run.nscc.adapt.triggered);
}
