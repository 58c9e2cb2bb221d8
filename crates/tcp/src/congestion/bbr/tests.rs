//! Tests of the BBR state machine of the draft, with one flow on one link.
//!
//! The link sends a segment in 1 ms and has a propagation delay of 39 ms in both directions
//! together. The minimum RTT is 40 ms, and the BDP is 40 segments. The rate is 1.46 MB/s, less than
//! two segments per 1/1024 s. A burst therefore counts as two segments, and the window has space
//! for three bursts.

use super::{Bbr, State};
use crate::config::{AckCounting, CongestionKind, SlowStartKind};
use crate::congestion::controller::{Controller, Start};
use crate::congestion::one_link::{self, OneLink};
use crate::congestion::{CongestionControl, SlowStart};
use optcp_units::{Duration, Time};

type Interval = one_link::Interval<State>;

fn phase(interval: &Interval) -> Option<usize> {
    match interval.state {
        State::ProbeBw { phase, .. } => Some(phase),
        _ => None,
    }
}

struct Path(OneLink);

impl Path {
    fn new(queue_limit: u32, clock_phase: Duration) -> Self {
        Path(OneLink::new(one_link::config(CongestionKind::Bbr), queue_limit, clock_phase))
    }

    fn run(&mut self, end: Time) -> Vec<Interval> {
        self.0.run(end, |control| match control {
            CongestionControl::Bbr(bbr) => match bbr.state {
                State::ProbeRtt { .. } => State::ProbeRtt { until: None, round: false },
                state => state,
            },
            _ => unreachable!("the flow is one of BBR"),
        })
    }
}

/// Section 4.3.2: STARTUP fills the pipe in a few RTTs. Three more RTTs, each at most 122 ms, show
/// that it is full. The window is 2.885 * 40 segments, rounded up to 116, plus 6 for bursts. DRAIN sends a segment per 2.91 ms,
/// during which two arrive. It ends with two segments more in flight than 40 and 6 for bursts. At 1 - 0.99 / 2.885 = 0.657
/// fewer per millisecond, 74 fewer take 112.6 ms.
#[test]
fn startup_fills_the_pipe_and_drain_empties_the_queue() {
    let intervals = Path::new(1000, Duration::ZERO).run(Time::ZERO + Duration::from_secs(1));
    let [startup, drain, ..] = intervals[..] else { panic!("two states are over") };
    assert_eq!((startup.state, startup.max_flight), (State::Startup, 122));
    assert!(startup.duration_ms() > 3.0 * 40.0 && startup.duration_ms() < 4.0 * 40.0 + 3.0 * 122.0);
    assert_eq!((drain.state, drain.flight), (State::Drain, 48));
    assert!((drain.duration_ms() - 112.6).abs() < 1.5, "{}", drain.duration_ms());
}

/// Section 4.3.4: a phase ends with the first ACK after 40 ms; ACKs arrive every 1 ms. The probing phase lasts until 1.25 * 40
/// segments, 6 for bursts and 2 are in flight, including the burst of 2 that leaves next. At 1.25 * 0.99 the flight grows to 56
/// by 0.2375 segments per millisecond. The next phase removes 0.2575. It ends with 46 segments when the next one leaves, and
/// at most one arrives until then: after 9 / 0.2575 to 10 / 0.2575 ms. The six others remove 0.01 * 6 * 41 = 2.5, and leave 44
/// or 45. The probing phase then takes 11 / 0.2375 to 12 / 0.2375 ms.
#[test]
fn bandwidth_is_probed_for_in_cycles_of_eight_phases() {
    let intervals = Path::new(1000, Duration::ZERO).run(Time::ZERO + Duration::from_secs(10));
    let steady = |interval: &&Interval| {
        phase(interval).is_some() && interval.from > Time::ZERO + Duration::from_secs(1)
    };
    let phases: Vec<&Interval> = intervals.iter().filter(steady).collect();
    assert!(phases.len() > 180, "{} phases in 9 s", phases.len());
    for pair in phases.windows(2) {
        assert_eq!(phase(pair[1]), phase(pair[0]).map(|phase| (phase + 1) % 8));
    }
    for interval in phases {
        let (least, most, max_flight) = match phase(interval) {
            Some(0) => (46.3, 50.5, 56),
            Some(1) => (35.0, 38.8, 56),
            _ => (41.0, 41.0, 47),
        };
        let duration = interval.duration_ms();
        assert!((least - 1.1..=most + 1.1).contains(&duration), "{interval:?}");
        assert!(interval.max_flight <= max_flight && interval.flight >= 40, "{interval:?}");
    }
}

/// Section 4.3.5: ten seconds after the minimum RTT was measured, the flight falls to four segments
/// for 200 ms and an RTT. From 46 segments this takes 42 ACKs, one every 1 ms. Four segments return
/// every 40 ms, which bounds the delay until the end is detected. The next probe follows ten
/// seconds later.
#[test]
fn minimum_rtt_is_probed_every_ten_seconds() {
    let mut path = Path::new(1000, Duration::ZERO);
    let intervals = path.run(Time::ZERO + Duration::from_secs(31));
    let probes: Vec<&Interval> = intervals
        .iter()
        .filter(|interval| matches!(interval.state, State::ProbeRtt { .. }))
        .collect();
    let [first, second, third] = probes[..] else { panic!("{} probes", probes.len()) };
    assert!((first.from.as_secs_f64() - 10.04).abs() < 0.002, "{first:?}");
    for (probe, next) in [(first, second), (second, third)] {
        assert!((next.from - probe.until).as_secs_f64() - 10.0 < 0.042, "{next:?}");
        assert!(
            probe.duration_ms() > 236.0 && probe.duration_ms() < 242.0 + 54.0 - 46.0 + 40.0,
            "{probe:?}"
        );
    }
    // A probe costs what it does not send: about 0.23 of 10.25 s; the rest of the time a queue waits.
    assert!(path.0.delivered > 31_000 * 97 / 100, "{} segments in 31 s", path.0.delivered);
}

/// Section 4.3.4.2: flows do not begin their cycles together, and none with the phase that drains.
#[test]
fn cycles_never_begin_with_the_draining_phase() {
    let mut seen = [0; 8];
    for microseconds in 0..100 {
        let slow_start = SlowStart::new(SlowStartKind::Standard, AckCounting::Once, false);
        let clock_phase = Duration::from_us(microseconds);
        let mut bbr = Bbr::new(&(), Start { slow_start, clock_phase });
        bbr.probe_bandwidth(Time::ZERO);
        let State::ProbeBw { phase, .. } = bbr.state else { unreachable!() };
        seen[phase] += 1;
    }
    assert_eq!(seen[1], 0);
    assert!(seen.iter().enumerate().all(|(phase, &count)| phase == 1 || count > 3), "{seen:?}");
}

/// Section 4.2.3.4: a queue of 20 segments overflows while STARTUP requests 122. The rate does not
/// change. In the end the link is as busy as without losses. The window follows the model: 2 * 40
/// segments and at most 8 for bursts.
#[test]
fn losses_do_not_reduce_the_rate() {
    let mut path = Path::new(20, Duration::ZERO);
    path.run(Time::ZERO + Duration::from_secs(9));
    let delivered = path.0.delivered;
    assert!(path.0.sender.counts().retransmissions > 20);
    assert_eq!(path.0.sender.counts().timeouts, 0);
    path.run(Time::ZERO + Duration::from_secs(10));
    assert!(path.0.delivered - delivered > 985, "{}", path.0.delivered - delivered);
    let window = path.0.sender.window().segments(1460.0);
    assert!((80..=88).contains(&window), "{window}");
}
