//! One flow on one link, held against the state machine as the draft describes it.
//!
//! The link carries a segment in 1 ms and is 39 ms long there and back: the least round trip is 40 ms, the
//! bandwidth-delay product 40 segments. The rate is 1.46 MB/s, of which 1/1024 s is less than two
//! segments: a burst counts two, and the window has room for three.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{Bbr, State};
use crate::config::{
    AckCounting, Config, CongestionKind, LossDetectionKind, Pacing, RecoveryKind, SlowStartKind,
};
use crate::congestion::controller::{Controller, Start};
use crate::congestion::{CongestionControl, SlowStart};
use crate::{Profile, Receiver, Sender, Seq};
use optcp_units::{Duration, Time};

const SERVICE: Duration = Duration::from_ms(1);
const PROPAGATION: Duration = Duration::from_ms(39);

/// What a flow was in, from when to when, and its flight at the end.
#[derive(Clone, Copy, Debug)]
struct Stay {
    state: State,
    from: Time,
    until: Time,
    flight: u32,
    greatest_flight: u32,
}

impl Stay {
    fn lasts(&self) -> f64 {
        (self.until - self.from).as_secs_f64() * 1e3
    }

    fn phase(&self) -> Option<usize> {
        match self.state {
            State::ProbeBw { phase, .. } => Some(phase),
            _ => None,
        }
    }

    fn probes_rtt(&self) -> bool {
        matches!(self.state, State::ProbeRtt { .. })
    }
}

struct Path {
    sender: Sender,
    receiver: Receiver,
    /// Segments and when their ACKs arrive; those that find the queue longer than `room` are lost.
    underway: VecDeque<(Time, Seq)>,
    /// When the link has sent what is queued.
    free: Time,
    room: Duration,
    now: Time,
    delivered: u32,
}

fn config() -> Config {
    Config {
        congestion: CongestionKind::Bbr,
        pacing: Pacing::Rate,
        recovery: RecoveryKind::Sack,
        loss_detection: LossDetectionKind::Rack,
        initial_window: 10,
        ..Profile::Rfc.config()
    }
}

impl Path {
    fn new(room: u32, clock_phase: Duration) -> Self {
        let config = Arc::new(config());
        let mut path = Path {
            sender: Sender::new(Arc::clone(&config), None, clock_phase),
            receiver: Receiver::new(&config, Duration::ZERO),
            underway: VecDeque::new(),
            free: Time::ZERO,
            room: SERVICE * u64::from(room),
            now: Time::ZERO,
            delivered: 0,
        };
        path.sender.start();
        path.send();
        path
    }

    fn send(&mut self) {
        while let Some(segment) = self.sender.poll_transmit(self.now) {
            if self.free.saturating_since(self.now) < self.room {
                self.free = self.free.max(self.now) + SERVICE;
                self.underway.push_back((self.free + PROPAGATION, segment.seq));
            }
        }
    }

    fn step(&mut self) {
        let timer = self.sender.deadline().unwrap_or(Time::MAX);
        let arrival = self.underway.front().map_or(Time::MAX, |&(at, _)| at);
        self.now = timer.min(arrival);
        if timer <= arrival {
            self.sender.handle_timer(self.now);
        } else if let Some((_, seq)) = self.underway.pop_front() {
            self.delivered += 1;
            let ack = self.receiver.handle_segment(self.now, seq, 0, 64).ack;
            self.sender.handle_ack(self.now, &ack.expect("every segment is acknowledged"));
        }
        self.send();
    }

    fn bbr(&self) -> &Bbr {
        match self.sender.congestion() {
            CongestionControl::Bbr(bbr) => bbr,
            _ => unreachable!("the flow is one of BBR"),
        }
    }

    fn flight(&self) -> u32 {
        self.sender.snapshot().flight
    }

    /// Runs until `end`; every stay in a state or phase that is over by then.
    fn run(&mut self, end: Time) -> Vec<Stay> {
        let mut stays = Vec::new();
        let begin = |path: &Path| Stay {
            state: path.bbr().state,
            from: path.now,
            until: path.now,
            flight: 0,
            greatest_flight: 0,
        };
        let mut stay = begin(self);
        while self.now < end {
            let flight = self.flight();
            self.step();
            let state = self.bbr().state;
            stay.greatest_flight = stay.greatest_flight.max(flight);
            let same = match (stay.state, state) {
                (State::ProbeRtt { .. }, State::ProbeRtt { .. }) => true,
                (before, now) => before == now,
            };
            if !same {
                (stay.until, stay.flight) = (self.now, self.flight());
                stays.push(stay);
                stay = begin(self);
            }
        }
        stays
    }
}

/// Section 4.3.2: STARTUP fills the pipe in a few round trips, and three of at most 122 ms more show that
/// it is full; the window is 2.885 * 40 segments, rounded up to 116, and 6 for bursts.
/// Section 4.3.3: DRAIN sends 0.99 / 2.885 = 0.343 of what the link carries, so the flight falls from 122
/// to 40 + 6 in 76 / 0.657 = 115.7 ms.
#[test]
fn startup_fills_the_pipe_and_drain_takes_its_queue_away() {
    let stays = Path::new(1000, Duration::ZERO).run(Time::ZERO + Duration::from_secs(1));
    let [startup, drain, ..] = stays[..] else { panic!("two states are over") };
    assert_eq!((startup.state, startup.greatest_flight), (State::Startup, 122));
    assert!(startup.lasts() > 3.0 * 40.0 && startup.lasts() < 4.0 * 40.0 + 3.0 * 122.0);
    assert_eq!((drain.state, drain.flight), (State::Drain, 46));
    assert!((drain.lasts() - 115.7).abs() < 1.5, "{}", drain.lasts());
}

/// Section 4.3.4: a phase is over with the first ACK after 40 ms, one each 1 ms. The one that probes
/// goes on until 1.25 * 40 segments, 6 for bursts and 2 are in flight; at 1.25 * 0.99 the flight grows by
/// 0.2375 segments a millisecond from the 45 of before, so for 13 / 0.2375 = 54.7 ms. The next phase takes
/// 0.2575 * 41 = 10.6 segments away, the six others 0.01 * 6 * 41 = 2.5.
#[test]
fn bandwidth_is_probed_for_in_cycles_of_eight_phases() {
    let stays = Path::new(1000, Duration::ZERO).run(Time::ZERO + Duration::from_secs(10));
    let steady =
        |stay: &&Stay| stay.phase().is_some() && stay.from > Time::ZERO + Duration::from_secs(1);
    let phases: Vec<&Stay> = stays.iter().filter(steady).collect();
    assert!(phases.len() > 180, "{} phases in 9 s", phases.len());
    for pair in phases.windows(2) {
        assert_eq!(pair[1].phase(), pair[0].phase().map(|phase| (phase + 1) % 8));
    }
    for stay in phases {
        let (want, greatest) = match stay.phase() {
            Some(0) => (54.7, 58),
            Some(1) => (41.0, 58),
            _ => (41.0, 47),
        };
        assert!((stay.lasts() - want).abs() <= 1.1, "{stay:?}");
        assert!(stay.greatest_flight <= greatest && stay.flight >= 40, "{stay:?}");
    }
}

/// Section 4.3.5: ten seconds after the least round trip was seen the flight goes down to four segments
/// for 200 ms and a round trip; 42 ACKs, one each 1 ms, take it there from 46. Four segments come back
/// each 40 ms, so that the end is seen at most so much later. Ten seconds after that, again.
#[test]
fn the_least_round_trip_is_looked_for_every_ten_seconds() {
    let mut path = Path::new(1000, Duration::ZERO);
    let stays = path.run(Time::ZERO + Duration::from_secs(31));
    let probes: Vec<&Stay> = stays.iter().filter(|stay| stay.probes_rtt()).collect();
    let [first, second, third] = probes[..] else { panic!("{} probes", probes.len()) };
    assert!((first.from.as_secs_f64() - 10.04).abs() < 0.002, "{first:?}");
    for (probe, next) in [(first, second), (second, third)] {
        assert!((next.from - probe.until).as_secs_f64() - 10.0 < 0.042, "{next:?}");
        assert!(probe.lasts() > 236.0 && probe.lasts() < 242.0 + 54.0 - 46.0 + 40.0, "{probe:?}");
    }
    // A probe costs what it does not send: about 0.23 of 10.25 s; the rest of the time a queue waits.
    assert!(path.delivered > 31_000 * 97 / 100, "{} segments in 31 s", path.delivered);
}

/// Section 4.3.4.2: flows do not begin their cycles together, and none with the phase that drains.
#[test]
fn cycles_begin_with_any_phase_but_the_one_that_drains() {
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

/// Section 4.2.3.4: a queue for 20 segments overflows while STARTUP asks for 122. The rate stays what it
/// was: in the end the link is as busy as without losses, and the window is what the model says, 2 * 40
/// segments and at most 8 for bursts.
#[test]
fn losses_do_not_slow_it_down() {
    let mut path = Path::new(20, Duration::ZERO);
    path.run(Time::ZERO + Duration::from_secs(9));
    let delivered = path.delivered;
    assert!(path.sender.counts().retransmissions > 20);
    assert_eq!(path.sender.counts().timeouts, 0);
    path.run(Time::ZERO + Duration::from_secs(10));
    assert!(path.delivered - delivered > 985, "{}", path.delivered - delivered);
    let window = path.sender.window().segments(1460.0);
    assert!((80..=88).contains(&window), "{window}");
}
