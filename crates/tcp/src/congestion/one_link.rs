//! One flow on one link, for tests of congestion controls.

use std::collections::VecDeque;
use std::sync::Arc;

use super::CongestionControl;
use crate::config::{Config, CongestionKind, LossDetectionKind, Pacing, RecoveryKind};
use crate::{Profile, Receiver, Sender, Seq};
use optcp_units::{Duration, Marking, Time};

/// Time that a flow spends in a state, with the flight at its end and the maximum flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interval<S> {
    pub(super) state: S,
    pub(super) from: Time,
    pub(super) until: Time,
    pub(super) flight: u32,
    pub(super) max_flight: u32,
}

impl<S> Interval<S> {
    /// Returns the duration in ms.
    pub(super) fn duration_ms(&self) -> f64 {
        (self.until - self.from).as_secs_f64() * 1e3
    }
}

/// A link that transmits a segment in `service`, with a round-trip propagation delay of `propagation`.
pub(super) struct OneLink {
    pub(super) sender: Sender,
    receiver: Receiver,
    pub(super) service: Duration,
    pub(super) propagation: Duration,
    /// Queue limit, in segments; later arrivals are lost.
    pub(super) queue_limit: u32,
    /// Further transmissions that are lost, counted from the next one.
    pub(super) lose: VecDeque<u64>,
    transmissions: u64,
    /// Segments and the arrival times of their ACKs.
    in_flight: VecDeque<(Time, Seq)>,
    /// Time at which the link has sent everything queued.
    free: Time,
    pub(super) now: Time,
    pub(super) delivered: u32,
}

/// Returns the configuration for a rate-based controller.
pub(super) fn config(congestion: CongestionKind) -> Config {
    Config {
        congestion,
        pacing: Pacing::Rate,
        recovery: RecoveryKind::Sack,
        loss_detection: LossDetectionKind::Rack,
        initial_window: 10,
        ..Profile::Rfc.config()
    }
}

impl OneLink {
    /// Returns a link with 1 ms per segment and 39 ms of propagation: the minimum RTT is 40 ms, the
    /// bandwidth-delay product 40 segments.
    pub(super) fn new(config: Config, queue_limit: u32, clock_phase: Duration) -> Self {
        let config = Arc::new(config);
        OneLink {
            sender: Sender::new(Arc::clone(&config), None, clock_phase),
            receiver: Receiver::new(&config, Duration::ZERO),
            service: Duration::from_ms(1),
            propagation: Duration::from_ms(39),
            queue_limit,
            lose: VecDeque::new(),
            transmissions: 0,
            in_flight: VecDeque::new(),
            free: Time::ZERO,
            now: Time::ZERO,
            delivered: 0,
        }
    }

    /// Loses transmissions, counted from the next one.
    pub(super) fn lose(&mut self, which: impl IntoIterator<Item = u64>) {
        let next = self.transmissions;
        self.lose.extend(which.into_iter().map(|one| next + one));
    }

    fn send(&mut self) {
        while let Some(segment) = self.sender.poll_transmit(self.now) {
            let number = self.transmissions;
            self.transmissions += 1;
            if self.lose.front() == Some(&number) {
                self.lose.pop_front();
            } else if self.free.saturating_since(self.now)
                < self.service * u64::from(self.queue_limit)
            {
                self.free = self.free.max(self.now) + self.service;
                self.in_flight.push_back((self.free + self.propagation, segment.seq));
            }
        }
    }

    pub(super) fn step(&mut self) {
        if self.transmissions == 0 {
            self.sender.start();
            self.send();
        }
        let timer = self.sender.deadline().unwrap_or(Time::MAX);
        let arrival = self.in_flight.front().map_or(Time::MAX, |&(at, _)| at);
        self.now = timer.min(arrival);
        if timer <= arrival {
            self.sender.handle_timer(self.now);
        } else if let Some((_, seq)) = self.in_flight.pop_front() {
            self.delivered += 1;
            let ack = self.receiver.handle_segment(self.now, seq, 0, 64, Marking::NONE).ack;
            self.sender.handle_ack(self.now, &ack.expect("every segment is acknowledged"));
        }
        self.send();
    }

    pub(super) fn control(&self) -> &CongestionControl {
        self.sender.congestion()
    }

    pub(super) fn flight(&self) -> u32 {
        self.sender.snapshot().flight
    }

    /// Runs until `end` and returns the intervals that are over by then.
    pub(super) fn run<S: Copy + PartialEq>(
        &mut self,
        end: Time,
        state: impl Fn(&CongestionControl) -> S,
    ) -> Vec<Interval<S>> {
        let mut intervals = Vec::new();
        let begin = |link: &OneLink| Interval {
            state: state(link.control()),
            from: link.now,
            until: link.now,
            flight: 0,
            max_flight: 0,
        };
        let mut interval = begin(self);
        while self.now < end {
            let flight = self.flight();
            self.step();
            interval.max_flight = interval.max_flight.max(flight);
            if state(self.control()) != interval.state {
                (interval.until, interval.flight) = (self.now, self.flight());
                intervals.push(interval);
                interval = begin(self);
            }
        }
        intervals
    }
}
