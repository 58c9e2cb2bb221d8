//! Tests of the state machine of draft-ietf-ccwg-bbr-06, with one flow on one link.
//!
//! The link sends a segment in 1 ms and has a propagation delay of 39 ms in both directions together. The
//! minimum RTT is 40 ms, and the BDP is 40 segments. One millisecond holds less than two segments: the budget
//! of three quanta is six segments, less than the BDP.

use super::state::{Phase, State};
use super::{Bandwidth, Bbr3, Gain};
use crate::config::{AckCounting, CongestionKind, SlowStartKind};
use crate::congestion::controller::{Controller, Start};
use crate::congestion::event::{DeliveryEvent, Repair};
use crate::congestion::one_link::{self, OneLink};
use crate::congestion::{CongestionControl, SlowStart};
use crate::delivery::DeliveryRate;
use optcp_units::{Duration, Time};

type Interval = one_link::Interval<State>;

const DOWN: State = State::ProbeBw(Phase::Down);
const CRUISE: State = State::ProbeBw(Phase::Cruise);
const REFILL: State = State::ProbeBw(Phase::Refill);
const MSS: f64 = 1460.0;

fn bbr(control: &CongestionControl) -> &Bbr3 {
    match control {
        CongestionControl::Bbr3(bbr) => bbr,
        _ => unreachable!("the flow is one of BBR"),
    }
}

fn ms(milliseconds: u64) -> Time {
    Time::ZERO + Duration::from_ms(milliseconds)
}

/// `segments` a millisecond.
fn per_ms(segments: u64) -> Bandwidth {
    Bandwidth::of(segments, Duration::from_ms(1))
}

struct Path(OneLink);

impl Path {
    fn new(queue_limit: u32) -> Self {
        let config = one_link::config(CongestionKind::Bbr3);
        Path(OneLink::new(config, queue_limit, Duration::ZERO))
    }

    fn bbr(&self) -> &Bbr3 {
        bbr(self.0.control())
    }

    fn run(&mut self, end: Time) -> Vec<Interval> {
        self.0.run(end, |control| match bbr(control).state {
            State::ProbeRtt { .. } => State::ProbeRtt { until: None, round: false },
            State::Drain { .. } => State::Drain { since: 0 },
            state => state,
        })
    }

    /// Runs until the controller is in a state after the given time.
    fn reach(&mut self, state: State, after: Time) {
        while self.0.now < after || self.bbr().state != state {
            self.0.step();
        }
    }
}

/// Section 5.3.1: the pipe is full in a few RTTs. Three more RTTs, each at most 88 ms, show it.
/// Section 5.6.4.2: the window is 2 * 40 segments plus some of the first ten. These arrived in
/// bursts while the rate was below the link rate. Section 5.3.2: DRAIN's window is 80 + 1, because
/// each ACK counts as one segment of excess. Nothing is sent until the flight is down to that. Then
/// the rate is 0.5 * 0.99 of the link rate, and one BDP is in flight after (81 - 40) / (1 - 0.495)
/// = 81.2 ms.
#[test]
fn startup_fills_the_pipe_and_drain_empties_the_queue() {
    let intervals = Path::new(1000).run(ms(1_000));
    let [startup, drain, ..] = intervals[..] else { panic!("two states are over") };
    assert_eq!((startup.state, drain.state), (State::Startup, State::Drain { since: 0 }));
    assert!((80..=90).contains(&startup.max_flight), "{startup:?}");
    assert!(startup.duration_ms() > 4.0 * 40.0 && startup.duration_ms() < 6.0 * 40.0 + 3.0 * 88.0);
    let unsent = f64::from(startup.flight - 81);
    assert_eq!(drain.flight, 40);
    assert!((drain.duration_ms() - unsent - 81.2).abs() < 2.0, "{drain:?}");
}

/// Section 5.3.1.2: the first RTT's ten segments at 2.77 times their rate, without the margin (section 5.6.2):
/// 40 ms / 27.7. DRAIN and the phases: 1 ms over the gain and 0.99.
#[test]
fn the_rate_is_the_bandwidth_times_the_gain_of_the_state() {
    let mut path = Path::new(1000);
    path.reach(State::Startup, ms(40));
    assert_eq!(path.bbr().interval, Some(Duration::from_ps(1_444_043_322)));
    for (state, ps) in [
        (DOWN, 1_122_334_456),
        (CRUISE, 1_010_101_011),
        (REFILL, 1_010_101_011),
        (State::UP, 808_080_809),
        (DOWN, 1_122_334_456),
        (CRUISE, 1_010_101_011),
    ] {
        if path.0.now > ms(1_000) || state != DOWN {
            path.reach(state, ms(1_000));
            assert_eq!(path.bbr().interval, Some(Duration::from_ps(ps)), "{state:?}");
        }
    }
    let gains = [State::Startup, State::Drain { since: 0 }, DOWN, CRUISE, REFILL, State::UP]
        .map(|state| (state.pacing_gain(), state.window_gain()));
    let two = Gain(2, 1);
    let want = [(277, 100), (1, 2), (90, 100), (1, 1), (1, 1), (5, 4)];
    let windows = [two, two, two, two, two, Gain(9, 4)];
    for ((gain, want), window) in gains.into_iter().zip(want).zip(windows) {
        assert_eq!(gain, (Gain(want.0, want.1), window));
    }
    let probe = State::ProbeRtt { until: None, round: false };
    assert_eq!((probe.pacing_gain(), probe.window_gain()), (Gain::ONE, Gain(1, 2)));
}

/// Section 5.3.3, appendices A.5 and A.8. UP increases the flight from 40 by 1.25 * 0.99 - 1 =
/// 0.2375 segments per millisecond until three RTTs have shown no growth by a quarter. The RTTs
/// take 41 ms, 40 + 0.2375 * 41 = 49.7 ms and 40 + 0.2375 * 90.7 = 61.5 ms, or 152.2 ms in all. The
/// flight is then 40 + 0.2375 * 152.2 = 76.1. DOWN returns it to 40 at 1 - 0.90 * 0.99 = 0.109 per
/// millisecond. REFILL lasts an RTT. Section 5.3.3.8.2: probes are 40 RTTs apart, the BDP in
/// segments, or 39 by the random draw. The RTTs of DOWN take 40 ms to 76 ms.
#[test]
fn bandwidth_is_probed_for_in_cycles() {
    let intervals = Path::new(1000).run(ms(5_000));
    let intervals: Vec<Interval> =
        intervals.into_iter().filter(|interval| interval.from > ms(600)).collect();
    assert!(intervals.len() >= 7, "{} phases", intervals.len());
    let next = |state| match state {
        DOWN => CRUISE,
        CRUISE => REFILL,
        REFILL => State::UP,
        _ => DOWN,
    };
    for pair in intervals.windows(2) {
        assert_eq!(pair[1].state, next(pair[0].state));
        let (interval, duration_ms) = (pair[1], pair[1].duration_ms());
        match interval.state {
            DOWN => {
                let want = f64::from(pair[0].flight - 40) / 0.109;
                assert!((duration_ms - want).abs() < 1.0 / 0.109, "{interval:?}, {want}");
                assert_eq!(interval.flight, 40);
            }
            CRUISE => {
                let wait = pair[0].duration_ms() + duration_ms;
                assert!((1_640.0..1_745.0).contains(&wait), "{wait} ms from DOWN to REFILL");
                assert!(interval.max_flight <= 41);
            }
            REFILL => assert!((duration_ms - 41.0).abs() < 1.0, "{interval:?}"),
            _ => {
                assert!((duration_ms - 152.2).abs() < 2.0, "{interval:?}");
                assert!((76..=78).contains(&interval.max_flight), "{interval:?}");
            }
        }
    }
}

/// The same section: where 63 RTTs are longer, probes are two to three seconds apart.
#[test]
fn with_a_long_rtt_probes_follow_the_clock() {
    let mut path = Path::new(2000);
    path.0.propagation = Duration::from_ms(199);
    let intervals = path.run(ms(20_000));
    let mut waits = 0;
    for three in intervals
        .windows(3)
        .filter(|three| three[1..].iter().map(|interval| interval.state).eq([CRUISE, REFILL]))
    {
        // Behind DRAIN and PROBE_RTT the flight is small enough for CRUISE at once.
        let begin = if three[0].state == DOWN { three[0].from } else { three[1].from };
        let wait = (three[1].until - begin).as_secs_f64();
        assert!(wait > 2.0 && wait < 3.0 + 0.002, "{wait}");
        waits += 1;
    }
    assert!(waits >= 2, "{waits} waits");
}

/// Section 5.3.3.8.2: each of both RTTs and each tenth of the second is drawn.
#[test]
fn probe_waits_depend_on_clock_phase() {
    let (mut rounds, mut tenths) = ([0; 2], [0; 10]);
    for microseconds in 0..200 {
        let slow_start = SlowStart::new(SlowStartKind::Standard, AckCounting::Once, false);
        let clock_phase = Duration::from_us(microseconds);
        let mut bbr = Bbr3::new(&(), Start { slow_start, clock_phase });
        bbr.start_down(Time::ZERO, 0);
        let (drawn, wait) = bbr.cycle.waits();
        rounds[drawn as usize] += 1;
        let tenth = (wait - Duration::from_secs(2)).as_ps() / 100_000_000_000;
        tenths[usize::try_from(tenth).unwrap()] += 1;
    }
    assert!(rounds.iter().all(|&count| count > 70), "{rounds:?}");
    assert!(tenths.iter().all(|&count| count > 5), "{tenths:?}");
}

/// Section 5.3.4, appendix A.10: five seconds after the minimum RTT was measured, the window falls
/// to 0.5 * 40 segments. The flight reaches it after 20 ACKs, one every 1 ms, and stays there for
/// 200 ms. The next probe follows five seconds later.
#[test]
fn minimum_rtt_is_probed_every_five_seconds() {
    let mut path = Path::new(1000);
    let intervals = path.run(ms(31_000));
    let is_probe = |interval: &&Interval| matches!(interval.state, State::ProbeRtt { .. });
    let probes: Vec<&Interval> = intervals.iter().filter(is_probe).collect();
    assert_eq!(probes.len(), 5);
    assert!((probes[0].from.as_secs_f64() - 5.04).abs() < 0.002, "{:?}", probes[0]);
    for pair in probes.windows(2) {
        let between = (pair[1].from - pair[0].until).as_secs_f64();
        assert!((5.0..5.002).contains(&between), "{between}");
    }
    for probe in probes {
        assert!(probe.duration_ms() >= 219.0 && probe.duration_ms() < 222.0, "{probe:?}");
        assert_eq!(probe.flight, 20);
    }
    // Each probe leaves out 20 of 40 segments for 200 ms, and the shortfall of the flight: 0.1 s of
    // 5.22 s.
    assert!(path.0.delivered > 31_000 * 96 / 100, "{} segments in 31 s", path.0.delivered);
}

/// Sections 5.3.1.3 and 5.3.3.6. The path holds 40 segments and a queue of 20. STARTUP overflows it
/// and ends after an RTT of recovery. Probes stop at the second loss, because each loss of about 60
/// segments is more than 1 %. The limit is the flight at that time. Section 3.1: the link stays
/// busy, with a loss rate of less than 1 %.
#[test]
fn losses_bound_the_flight() {
    let mut path = Path::new(20);
    while path.bbr().state == State::Startup {
        path.0.step();
    }
    // No plateau was detected: the limit is the delivery of an RTT, at least the BDP.
    assert!(!path.bbr().full.now && path.bbr().full.reached);
    assert!((40..=61).contains(&path.bbr().long.limit.unwrap()), "{:?}", path.bbr().long.limit);
    path.run(ms(3_000));
    let retransmissions = path.0.sender.counts().retransmissions;
    let bbr = path.bbr();
    assert!((60..=62).contains(&bbr.long.limit.unwrap()), "{:?}", bbr.long.limit);
    let delivered = path.0.delivered;
    path.run(ms(33_000));
    let again = path.0.sender.counts().retransmissions - retransmissions;
    assert!(again > 0 && again < 300, "{again} of 30000");
    assert_eq!(path.0.sender.counts().timeouts, 0);
    assert!(path.0.delivered - delivered > 30_000 * 96 / 100, "{}", path.0.delivered - delivered);
}

/// Section 5.5.10.3: a loss in CRUISE reduces the window from 81 segments to 0.7 of that, 56,
/// because the RTT delivers less. The bandwidth falls to the delivery of the RTT, all but one of 40
/// segments. REFILL removes both bounds.
#[test]
fn a_loss_between_probes_bounds_rate_and_window_until_the_next() {
    let mut path = Path::new(1000);
    path.reach(CRUISE, ms(1_000));
    assert_eq!(path.0.sender.window().segments(MSS), 81);
    path.0.lose([0]);
    path.run(ms(1_300));
    let bbr = path.bbr();
    assert_eq!((bbr.state, bbr.short.in_flight), (CRUISE, Some(56)));
    let bandwidth = bbr.short.bandwidth.unwrap();
    assert!(bandwidth > per_ms(1).times(Gain(95, 100)) && bandwidth < per_ms(1), "{bandwidth:?}");
    assert!(path.0.sender.window().segments(MSS) <= 56);
    path.reach(REFILL, ms(1_300));
    assert_eq!((path.bbr().short.in_flight, path.bbr().short.bandwidth), (None, None));
}

/// Section 5.5.10.2, appendix A.21: losses of a probe end it, and bound the flight. Section 5.5.11,
/// appendix A.18: if the losses prove spurious, the bound is removed and the probe restarts.
#[test]
fn probe_restarts_after_spurious_losses() {
    let mut path = Path::new(1000);
    path.reach(State::UP, ms(1_000));
    let at = path.0.now + Duration::from_ms(20);
    path.run(at);
    let mut bbr = path.bbr().clone();
    let (mut rate, mut window) = (DeliveryRate::default(), path.0.sender.window());
    let last = path.0.sender.max_sent();
    let mut lose = |back| bbr.on_lost(&window, MSS, last - back, at, &rate);
    lose(9);
    lose(7);
    assert_eq!((bbr.state, bbr.long.limit.is_some()), (DOWN, true));
    assert_eq!(bbr.on_loss(&window, MSS, 0.0), None);
    bbr.on_lost(&window, MSS, last - 5, at, &rate);
    let before = window;
    bbr.on_undo(&mut window, before);
    let ack = DeliveryEvent {
        now: at,
        repair: Repair::Nothing,
        in_flight: 40,
        ..DeliveryEvent::default()
    };
    bbr.on_delivery(&mut window, MSS, &ack, &mut rate);
    assert_eq!((bbr.state, bbr.long.limit), (REFILL, None));
}

/// Section 5.4.1, appendix A.11: after a pause of seven seconds there is no probe for the minimum
/// RTT. The rate equals the bandwidth, and the window does not shrink.
#[test]
fn pause_replaces_rtt_probe() {
    let mut path = Path::new(1000);
    path.reach(State::UP, ms(2_000));
    let (mut bbr, mut window, now) = (path.bbr().clone(), path.0.sender.window(), path.0.now);
    let (mut rate, before, now) = (DeliveryRate::default(), window, now + Duration::from_secs(7));
    bbr.on_restart(&mut window, MSS, now, &rate);
    assert_eq!(bbr.interval, Some(Duration::from_ps(1_010_101_011)));
    let rtt = Some(Duration::from_ms(40));
    let ack = DeliveryEvent { now, delivered: 1, rtt, ..DeliveryEvent::default() };
    bbr.on_delivery(&mut window, MSS, &ack, &mut rate);
    assert!(matches!(bbr.state, State::ProbeBw(_)) && window.cwnd >= before.cwnd);
    let ack = DeliveryEvent { now: now + Duration::from_secs(6), ..ack };
    bbr.on_delivery(&mut window, MSS, &ack, &mut rate);
    assert!(bbr.state.is_probe_rtt());
}

/// Appendix A.15: the next probe finds ten times the bandwidth. Appendix A.16: a tenth of it counts
/// after two cycles.
#[test]
fn the_bandwidth_follows_the_path() {
    let mut path = Path::new(1000);
    path.reach(CRUISE, ms(1_000));
    path.0.service = Duration::from_us(100);
    path.reach(DOWN, ms(2_000));
    assert!(path.bbr().max.get() > per_ms(10).times(Gain(95, 100)), "{:?}", path.bbr().max);
    path.reach(CRUISE, path.0.now);
    path.0.service = Duration::from_ms(1);
    path.0.queue_limit = 100;
    let now = path.0.now;
    path.run(now + Duration::from_secs(9));
    assert!(path.bbr().max.get() < per_ms(1).times(Gain(105, 100)), "{:?}", path.bbr().max);
}

/// Appendix A.14: a path of less than a segment keeps four in flight.
#[test]
fn four_segments_are_in_flight_at_least() {
    let mut path = Path::new(1000);
    path.0.propagation = Duration::from_us(10);
    path.0.service = Duration::from_ms(20);
    path.run(ms(4_000));
    assert_eq!(path.bbr().product(Gain::ONE), 2);
    assert!((4..=8).contains(&path.0.sender.window().segments(MSS)));
    let delivered = path.0.delivered;
    path.run(ms(5_000));
    assert!(path.0.delivered - delivered >= 48, "{}", path.0.delivered - delivered);
}
