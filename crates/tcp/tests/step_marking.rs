//! DCTCP in steady state, on a link whose queue marks above a threshold.

use std::collections::VecDeque;
use std::sync::Arc;

use optcp_tcp::config::{CongestionKind, Ecn};
use optcp_tcp::{Ack, Config, Profile, Receiver, Sender, Seq};
use optcp_units::{Duration, Marking, Time};

/// A link that sends a segment in `service`, with flows that are all `propagation` long there and back.
struct Link {
    flows: Vec<(Sender, Receiver)>,
    service: Duration,
    propagation: Duration,
    /// A segment that finds more than this is marked.
    threshold: usize,
    now: Time,
    queue: VecDeque<(usize, Seq, Marking)>,
    /// When the segment in front has been sent.
    done: Time,
    /// ACKs by when they arrive.
    underway: VecDeque<(Time, usize, Ack)>,
}

impl Link {
    fn new(config: &Config, flows: usize, bdp: u64, threshold: usize) -> Self {
        let config = Arc::new(config.clone());
        let flow = |_| {
            let sender = Sender::new(Arc::clone(&config), None, Duration::ZERO);
            (sender, Receiver::new(&config, Duration::ZERO))
        };
        let service = Duration::from_us(12);
        Link {
            flows: (0..flows).map(flow).collect(),
            service,
            propagation: service * bdp,
            threshold,
            now: Time::ZERO,
            queue: VecDeque::new(),
            done: Time::MAX,
            underway: VecDeque::new(),
        }
    }

    fn send(&mut self, flow: usize) {
        while let Some(segment) = self.flows[flow].0.poll_transmit(self.now) {
            let full = self.queue.len() > self.threshold && segment.marking.takes_marks();
            let marking = if full { segment.marking.with_ce() } else { segment.marking };
            self.queue.push_back((flow, segment.seq, marking));
            if self.queue.len() == 1 {
                self.done = self.now + self.service;
            }
        }
    }

    fn step(&mut self) {
        let arrival = self.underway.front().map_or(Time::MAX, |&(at, ..)| at);
        self.now = arrival.min(self.done);
        if self.done <= arrival {
            let (flow, seq, marking) = self.queue.pop_front().expect("a segment was being sent");
            let at = self.now + self.propagation;
            let arrival = self.flows[flow].1.handle_segment(self.now, seq, 0, 64, marking);
            self.underway.extend(arrival.ack.map(|ack| (at, flow, ack)));
            self.done = if self.queue.is_empty() { Time::MAX } else { self.now + self.service };
        } else if let Some((_, flow, ack)) = self.underway.pop_front() {
            self.flows[flow].0.handle_ack(self.now, &ack);
            self.send(flow);
        }
    }
}

/// Returns minimum and maximum queue length, on average, between two reductions of the first flow.
/// Also returns the time in RTTs at the threshold that this takes.
fn cycles(flows: usize, bdp: u64, threshold: usize) -> (f64, f64, f64) {
    let config = Config {
        congestion: CongestionKind::Dctcp,
        ecn: Ecn::Dctcp,
        initial_window: 10,
        ..Profile::Rfc.config()
    };
    let mut link = Link::new(&config, flows, bdp, threshold);
    for flow in 0..flows {
        link.flows[flow].0.start();
        link.send(flow);
    }
    let (mut least, mut greatest, mut seen) = (usize::MAX, 0, 0);
    let (mut sums, mut count, mut begun) = ((0.0, 0.0), 0.0, Time::ZERO);
    let end = Time::ZERO + Duration::from_secs(4);
    while link.now < end {
        link.step();
        least = least.min(link.queue.len());
        greatest = greatest.max(link.queue.len());
        let reductions = link.flows[0].0.counts().ecn_reductions;
        if reductions > seen {
            seen = reductions;
            // The first second is no steady state yet.
            if link.now > Time::ZERO + Duration::from_secs(1) {
                if begun > Time::ZERO {
                    sums = (sums.0 + least as f64, sums.1 + greatest as f64);
                    count += 1.0;
                } else {
                    begun = link.now;
                }
            }
            (least, greatest) = (usize::MAX, 0);
        }
    }
    let round_trip = link.service * (bdp + threshold as u64);
    let period = (link.now - begun).as_secs_f64() / count / round_trip.as_secs_f64();
    (sums.0 / count, sums.1 / count, period)
}

/// Alizadeh et al. 2010, section 3.3: the queue of N synchronised flows varies between K + N - A
/// and K + N. Here A = sqrt(2 N (C RTT + K)) / 2, and the period is sqrt(2 (C RTT + K) / N) / 2
/// RTTs. The tolerance is two segments for K + N, and a quarter of A and of the period. The paper's
/// window has fractions of segments, and its marks have an effect one RTT later.
#[test]
fn the_queue_stays_near_the_threshold() {
    for (flows, bdp, threshold) in [(1, 100, 30), (1, 400, 65), (2, 83, 40)] {
        let (n, load) = (flows as f64, bdp as f64 + threshold as f64);
        let greatest = threshold as f64 + n;
        let amplitude = (2.0 * n * load).sqrt() / 2.0;
        let period = (2.0 * load / n).sqrt() / 2.0;
        let got = cycles(flows, bdp, threshold);
        assert!((got.1 - greatest).abs() <= 2.0, "{got:?}");
        assert!((got.1 - got.0 - amplitude).abs() <= 0.25 * amplitude, "{got:?}");
        assert!((got.2 - period).abs() <= 0.25 * period, "{got:?}");
    }
}

/// The same link with Reno, which halves its window: the queue runs empty.
#[test]
fn reno_with_marks_empties_the_queue() {
    let mut config = Config { ecn: Ecn::Rfc3168, initial_window: 10, ..Profile::Rfc.config() };
    config.congestion = CongestionKind::Reno;
    let mut link = Link::new(&config, 1, 100, 30);
    link.flows[0].0.start();
    link.send(0);
    let mut empty = 0;
    while link.now < Time::ZERO + Duration::from_secs(1) {
        link.step();
        empty += u32::from(link.queue.is_empty());
    }
    assert!(empty > 10);
    assert!(link.flows[0].0.counts().ecn_reductions > 3);
    assert_eq!(link.flows[0].0.counts().retransmissions, 0);
}
