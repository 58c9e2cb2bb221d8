//! Sender and receiver connected by a random network, with invariants checked after every step.

mod draw;

use std::collections::BTreeSet;
use std::sync::Arc;

use optcp_tcp::config::{
    AfterTimeout, CongestionKind, DuplicateAckKind, Ecn, EctPackets, Expiry, Measurement, Pacing,
    ReceiverEcn, RecoveryKind,
};
use optcp_tcp::{Ack, Config, Receiver, Sender, Seq, Timestamp};
use optcp_units::{Bytes, Duration, Marking, Time};

pub use draw::Draw;

/// A packet in flight: arrival time, order of transmission, and content.
type Packet = (Time, u64, Content);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Content {
    /// Its number, its timestamp, the time to live that will be left of it, and the bits of its marking.
    Segment(Seq, Timestamp, u8, u8),
    /// An ACK, by its place in the list of all, and the bits of its marking.
    Ack(usize, u8),
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Arrival(Packet),
    SenderTimer,
    ReceiverTimer,
}

/// How badly the network treats packets until `trouble_ends`; after that it only delays them.
#[derive(Clone, Debug)]
struct Weather {
    loss_percent: u64,
    ack_loss_percent: u64,
    duplicate_percent: u64,
    /// Of what takes marks.
    mark_percent: u64,
    /// One way, without jitter.
    delay: Duration,
    /// Greater than the time between packets: it reorders.
    jitter: Duration,
    /// Length of the alternating periods with and without a circuit, if the sender uses it. If the
    /// sender has per-network state, length of the period of each of three networks.
    circuit: Duration,
    trouble_ends: Time,
}

struct World {
    config: Arc<Config>,
    segments: u32,
    sender: Sender,
    receiver: Receiver,
    /// Segments that have reached the receiver: the model that its `next` is held against.
    arrived: BTreeSet<Seq>,
    /// TS.Recent and Last.ACK.sent of RFC 7323.
    recent: Option<Timestamp>,
    last_acked: Seq,
    /// Segments that ACKs have reported to the sender and that it remembers.
    reported: BTreeSet<Seq>,
    /// Whether no ACK of new data has come since the last timeout.
    after_timeout: bool,
    underway: BTreeSet<Packet>,
    acks: Vec<Ack>,
    sent: u64,
    now: Time,
    draw: Draw,
    weather: Weather,
    /// Duplicate ACKs since the last new ACK; within a recovery since it began.
    duplicates: u32,
    /// In-order segments that no ACK has covered.
    unacknowledged: u32,
    /// ACKs that reached the sender.
    echoed: u64,
    /// Whether a packet was marked.
    marked: bool,
}

/// Runs the transfer that `seed` stands for and checks every step; gives the number of steps.
///
/// # Panics
/// If something does not hold.
pub fn run(seed: u64) -> u64 {
    let mut world = World::new(seed);
    let mut steps = 0;
    world.sender.start();
    world.transmit();
    world.check();
    while !world.sender.finished() {
        let (at, event) = world.next_event();
        assert!(at >= world.now, "time runs backwards");
        world.now = at;
        world.execute(event);
        world.check();
        steps += 1;
        assert!(world.now <= world.latest_end(), "the transfer does not come to its end");
    }
    assert_eq!(world.receiver.next(), world.end());
    assert_eq!(world.sender.deadline(), None, "a timer runs for nothing");
    steps
}

impl World {
    fn new(seed: u64) -> Self {
        let mut draw = Draw::new(seed);
        let config = Arc::new(draw.config());
        let segments = 1 + u32::try_from(draw.below(60)).expect("below 60");
        let phase = Duration::from_us(draw.below(config.tick.as_ps() / 1_000_000));
        let ack_phase = Duration::from_us(draw.below(config.ack_delay.as_ps() / 1_000_000));
        let weather = Weather {
            loss_percent: draw.pick(&[0, 1, 5, 20, 60]),
            ack_loss_percent: draw.pick(&[0, 0, 5, 30, 80]),
            duplicate_percent: draw.pick(&[0, 0, 3, 20]),
            mark_percent: draw.pick(&[0, 1, 10, 50, 100]),
            delay: Duration::from_us(draw.pick(&[0, 100, 5_000, 50_000, 400_000])),
            jitter: Duration::from_us(draw.pick(&[0, 10, 1_000, 30_000, 300_000])),
            trouble_ends: Time::ZERO + Duration::from_ms(draw.pick(&[0, 50, 500, 3_000, 20_000])),
            circuit: Duration::from_ms(draw.pick(&[1, 100, 2_000])),
        };
        let mut sender = Sender::new(Arc::clone(&config), Some(segments), phase);
        sender.enable_per_network_state(3, 0);
        World {
            sender,
            receiver: Receiver::new(&config, ack_phase),
            config,
            segments,
            arrived: BTreeSet::new(),
            recent: None,
            last_acked: Seq::ZERO,
            reported: BTreeSet::new(),
            after_timeout: false,
            underway: BTreeSet::new(),
            acks: Vec::new(),
            sent: 0,
            now: Time::ZERO,
            draw,
            weather,
            duplicates: 0,
            unacknowledged: 0,
            echoed: 0,
            marked: false,
        }
    }

    fn end(&self) -> Seq {
        Seq::new(self.segments) + u32::from(self.config.handshake)
    }

    /// Once nothing is lost any more, each segment costs one timeout at most, and ACKs that wait.
    fn latest_end(&self) -> Time {
        let round_trip = (self.weather.delay + self.weather.jitter) * 2 + self.config.ack_delay;
        // A timer that expires on a tick only is late by a tick at most.
        let mut each = self.config.max_rto + self.config.tick + round_trip;
        let trouble = self.weather.trouble_ends - Time::ZERO;
        // Clocks may have coarse ticks. The measurement of a retransmitted segment may count from
        // its first transmission.
        let mut measured = round_trip + self.config.tick + self.config.timestamp_tick;
        if self.config.measurement == Measurement::UntilTimeout {
            measured += trouble;
        }
        each += match self.config.pacing {
            Pacing::None => Duration::ZERO,
            // One window per RTT, where the window is at least a segment. A burst waits as long as
            // all its segments together.
            Pacing::Window => measured * u64::from(self.config.pacing_burst),
            Pacing::Bucket => unreachable!("it is not drawn"),
            // One delivery in the longest silence, at the least gain of pacing, 0.99 / 2.885.
            Pacing::Rate => {
                (round_trip + self.config.max_rto + trouble)
                    * (3 * u64::from(self.config.pacing_burst))
            }
        };
        self.weather.trouble_ends + each * (u64::from(self.end().number()) + 2)
    }

    fn next_event(&self) -> (Time, Event) {
        let arrival = self.underway.first().map(|&packet| (packet.0, Event::Arrival(packet)));
        let sender = self.sender.deadline().map(|at| (at, Event::SenderTimer));
        let receiver = self.receiver.deadline().map(|at| (at, Event::ReceiverTimer));
        let events = [sender, receiver, arrival].into_iter().flatten();
        // The first of equals: timers before arrivals, as in the engine.
        events.min_by_key(|&(at, _)| at).expect("data outstanding, so a timer runs")
    }

    fn execute(&mut self, event: Event) {
        let network = self.now.as_ps() / self.weather.circuit.as_ps() % 3;
        let network = u8::try_from(network).expect("below 3");
        if self.sender.is_divided() {
            self.sender.change_network(self.now, network);
            self.transmit();
        }
        match event {
            Event::Arrival(packet) => {
                self.underway.remove(&packet);
                match packet.2 {
                    Content::Segment(seq, stamp, ttl, marking) => {
                        self.segment_arrives(seq, stamp, ttl, Marking::from_bits(marking));
                    }
                    Content::Ack(place, marking) => {
                        let marking = Marking::from_bits(marking);
                        self.ack_arrives(Ack { marking, ..self.acks[place] });
                    }
                }
            }
            Event::SenderTimer => {
                let (expired, outstanding) = (self.sender.counts().timeouts, self.outstanding());
                let paced = self.config.pacing != Pacing::None;
                self.sender.handle_timer(self.now);
                let expiries = self.sender.counts().timeouts - expired;
                if self.config.recovery == RecoveryKind::Sack || paced {
                    // A probe, the end of a reordering window or of a wait is no timeout.
                    assert!(expiries <= u64::from(outstanding));
                } else {
                    assert_eq!(expiries, u64::from(outstanding));
                }
                assert!(expiries == 0 || !self.sender.in_recovery(), "a timeout ends a recovery");
                self.after_timeout |= expiries > 0;
                if expiries > 0
                    && (self.sack1() || self.config.after_timeout == AfterTimeout::GoBackN)
                {
                    self.reported.clear();
                }
                if expiries > 0 && !self.config.tahoe_keeps_duplicates {
                    self.duplicates = 0;
                }
                self.transmit();
            }
            Event::ReceiverTimer => {
                let ack = self.receiver.handle_timer(self.now);
                self.acknowledge(ack);
            }
        }
        if self.draw.percent(2) {
            self.lie();
        }
    }

    /// Whether what recovery demands leaves at once.
    fn unspread(&self) -> bool {
        !self.config.sack() && self.config.pacing == Pacing::None
    }

    fn sack1(&self) -> bool {
        self.config.recovery == RecoveryKind::Sack1
    }

    fn outstanding(&self) -> bool {
        self.sender.max_sent() > self.sender.una()
    }

    fn segment_arrives(&mut self, seq: Seq, stamp: Timestamp, ttl: u8, marking: Marking) {
        let before = self.receiver.next();
        let arrival = self.receiver.handle_segment(self.now, seq, stamp, ttl, marking);
        if let Some(earlier) = self.receiver.take_earlier() {
            assert_eq!(earlier.seq, before, "what waited goes in front");
            self.unacknowledged = 0;
            self.put_ack(earlier);
        }
        // RFC 7323 section 5.3: a segment older than TS.Recent is discarded; Linux tolerates one tick.
        let old = self.config.timestamps && self.recent.is_some_and(|recent| recent > stamp + 1);
        if old {
            assert_eq!((arrival.progress, arrival.ack.is_some()), (0, true), "PAWS discards");
        } else {
            if seq <= self.last_acked && seq.next() >= self.last_acked {
                self.recent = self.recent.max(Some(stamp));
            }
            self.arrived.insert(seq);
        }
        let next = self.receiver.next();
        assert_eq!(arrival.progress, next - before, "progress is what came into order");
        self.unacknowledged += arrival.progress;
        match arrival.ack {
            Some(ack) => self.acknowledge(ack),
            None if seq > next => {
                let every = self.config.duplicate_acks == DuplicateAckKind::Every;
                assert!(!every, "a segment above a gap triggers no ACK");
            }
            // RFC 5681 section 4.2: an immediate ACK for an out-of-order segment, one that fills a
            // gap, and the second full segment. RFC 9293: an immediate ACK for earlier data, unless
            // configured otherwise.
            None => {
                let whole = self.arrived.last().is_some_and(|&last| last < next);
                assert!(whole && arrival.progress < 2, "an ACK is delayed despite a gap");
                let again = self.config.delays_duplicates && seq.next() == next;
                assert!(arrival.progress == 1 || again, "the ACK of an old segment waits");
                assert!(self.unacknowledged < 2, "{} segments wait", self.unacknowledged);
                let deadline = self.receiver.deadline().expect("an ACK that waits has a timer");
                // A timer wheel is up to an eighth and a tick late.
                let late = match self.config.expiry {
                    Expiry::TimerWheel => {
                        self.config.tick * 2 + Duration::from_ps(self.config.ack_delay.as_ps() / 7)
                    }
                    Expiry::Exact | Expiry::OnTick => Duration::ZERO,
                };
                assert!(deadline <= self.now + self.config.ack_delay + late);
            }
        }
    }

    fn acknowledge(&mut self, ack: Ack) {
        assert_eq!(ack.seq, self.receiver.next(), "an ACK says what has arrived");
        let blocks = ack.sack.map_or(Vec::new(), |sack| sack.as_slice().to_vec());
        assert!(
            blocks.iter().flat_map(|&(s, e)| s.until(e)).all(|seq| self.arrived.contains(&seq))
        );
        // RFC 2018 section 3: options have 40 bytes, timestamps take 12 of them.
        let room = if self.config.timestamps { 3 } else { 4 };
        assert!(blocks.len() <= usize::from(self.config.sack_blocks).min(room));
        let holes = self.arrived.last().is_some_and(|&last| last > ack.seq);
        let tells = !self.config.sack() || !holes || !blocks.is_empty();
        let bounded = self.config.duplicate_acks == DuplicateAckKind::DasBounded;
        assert!(tells || bounded, "SACK tells of a hole");
        assert!(self.config.sack() || blocks.is_empty());
        self.unacknowledged = 0;
        self.put_ack(ack);
    }

    fn put_ack(&mut self, ack: Ack) {
        self.last_acked = ack.seq;
        assert!(self.agrees() || ack.marking == Marking::NONE, "nothing was agreed upon");
        // RFC 3168 section 6.1.4: pure ACKs take no marks.
        assert!(self.config.ect_packets != EctPackets::Data || !ack.marking.takes_marks());
        let room = self.config.ack_wire_size(&ack) <= self.config.ack_size + Bytes::new(40);
        assert!(room, "options have 40 bytes");
        self.acks.push(ack);
        let marked = self.marked(ack.marking);
        let marking = self.circuit_marking(marked).bits();
        self.put(Content::Ack(self.acks.len() - 1, marking), self.weather.ack_loss_percent);
    }

    /// Whether both ends may come to terms about marks.
    fn agrees(&self) -> bool {
        self.config.ecn != Ecn::Off && self.config.receiver_ecn != ReceiverEcn::Off
    }

    /// Returns the marking after the network.
    fn marked(&mut self, marking: Marking) -> Marking {
        let marks = self.draw.percent(self.weather.mark_percent) && marking.takes_marks();
        self.marked |= marks;
        if marks { marking.with_ce() } else { marking }
    }

    /// Returns the marking of an ACK after a switch.
    fn circuit_marking(&self, marking: Marking) -> Marking {
        let there = self.now.as_ps() / self.weather.circuit.as_ps() % 2 == 1;
        let listens = self.config.congestion == CongestionKind::Retcp;
        if there && listens { marking.with_flag(Marking::ECE) } else { marking }
    }

    fn ack_arrives(&mut self, said: Ack) {
        let ack = said.seq;
        let (una, recovering) = (self.sender.una(), self.sender.in_recovery());
        let duplicate = ack == una && self.outstanding();
        self.echoed += 1;
        self.sender.handle_ack(self.now, &said);
        let blocks = said.sack.unwrap_or_default();
        // Sack1 listens in recovery and to duplicate ACKs; other ACKs of new data wipe its memory.
        let listens = recovering || (ack == una && !self.after_timeout);
        if !self.sack1() || listens {
            self.reported.extend(blocks.as_slice().iter().flat_map(|&(s, e)| s.until(e)));
        }
        self.after_timeout &= ack <= una;
        if self.sack1() && ack > una && !self.sender.in_recovery() {
            self.reported.clear();
        }
        assert_eq!(self.sender.una(), una.max(ack), "an ACK moves una to what it says");
        if ack > una && !(recovering && self.sender.in_recovery()) {
            self.duplicates = 0;
        }
        self.duplicates += u32::from(duplicate);
        let first = self.transmit();
        if recovering && self.sender.in_recovery() && ack > una && self.unspread() {
            assert_eq!(first, Some(ack), "a partial ACK asks for the next hole at once");
        }
    }

    /// An ACK for data never sent must change nothing.
    fn lie(&mut self) {
        let before = (self.sender.una(), self.sender.next(), self.sender.window());
        let never_sent = Ack::cumulative(self.sender.max_sent().next());
        self.sender.handle_ack(self.now, &never_sent);
        let after = (self.sender.una(), self.sender.next(), self.sender.window());
        assert_eq!(before, after, "an ACK for data never sent counts");
        assert_eq!(self.sender.poll_transmit(self.now), None);
    }

    /// Sends what may be sent; gives the first segment.
    fn transmit(&mut self) -> Option<Seq> {
        let mut first = None;
        loop {
            let (una, next, max) = (self.sender.una(), self.sender.next(), self.sender.max_sent());
            let Some(sent) = self.sender.poll_transmit(self.now) else { return first };
            first = first.or(Some(sent.seq));
            assert!(una <= sent.seq && sent.seq < self.end(), "{:?} is sent", sent.seq);
            assert_eq!(sent.retransmission, sent.seq < max);
            assert!(sent.seq <= max, "a segment is left out");
            let in_turn = self.sender.next() != next;
            // Sack1 uses gaps in a recovery only. It retransmits in order also when one has
            // started.
            let by_holes = self.config.sack() && (!self.sack1() || self.sender.in_recovery());
            if by_holes {
                let blind = sent.seq == max || (self.sack1() && in_turn);
                assert!(blind || !self.reported.contains(&sent.seq), "spurious {:?}", sent.seq);
                assert!(sent.seq < max || sent.seq - una < self.config.window_segments());
            } else if !in_turn {
                // Out of turn: only ever the oldest segment, as recovery demands it.
                assert_eq!(sent.seq, una);
            } else {
                assert_eq!((sent.seq, self.sender.next()), (next, next.next()));
                let flight = self.sender.next() - una;
                assert!(flight <= self.allowed(), "flight {flight} of {}", self.allowed());
            }
            // Some come a shorter way than others.
            let ttl = self.draw.pick(&[60, 60, 60, 62]);
            self.check_marking(sent.seq < max, sent.seq, sent.marking);
            let marking = self.marked(sent.marking).bits();
            let content = Content::Segment(sent.seq, sent.stamp, ttl, marking);
            self.put(content, self.weather.loss_percent);
        }
    }

    /// Checks the ECN marking of a segment: nothing without ECN, no codepoint for a retransmission
    /// or a SYN.
    fn check_marking(&self, again: bool, seq: Seq, marking: Marking) {
        assert!(self.config.ecn != Ecn::Off || marking == Marking::NONE);
        let syn = self.config.handshake && seq == Seq::ZERO;
        if again || syn {
            let all = match self.config.ect_packets {
                EctPackets::Data => false,
                EctPackets::Established => !syn,
                EctPackets::All => true,
            };
            assert!(all || !marking.takes_marks(), "{seq:?} takes marks");
        } else if !self.agrees() {
            assert_eq!(marking, Marking::NONE);
        }
        assert!(!marking.is_ce(), "a sender marks");
    }

    /// Maximum flight after the transmission of a new segment.
    ///
    /// Never more than the receiver's window. Outside recovery cwnd, and with limited transmit one
    /// more for each of the first two duplicate ACKs (RFC 3042). Inside, cwnd inflated by the
    /// duplicate ACKs of this recovery, and the one segment that RFC 6582 leaves after a deflation.
    /// A flight that was larger when the window was reduced may stay, but nothing is added to it.
    fn allowed(&self) -> u32 {
        let cwnd = self.sender.window().segments(self.config.mss.count() as f64);
        let extra = if self.sender.in_recovery() {
            self.duplicates + 1
        } else if self.config.limited_transmit {
            self.duplicates.min(2)
        } else {
            0
        };
        (cwnd + extra).min(self.config.window_segments())
    }

    fn put(&mut self, content: Content, loss_percent: u64) {
        let trouble = self.now < self.weather.trouble_ends;
        let copies = if trouble {
            if self.draw.percent(loss_percent) {
                return;
            }
            1 + u64::from(self.draw.percent(self.weather.duplicate_percent))
        } else {
            1
        };
        for _ in 0..copies {
            let jitter = match trouble {
                true => Duration::from_ps(self.draw.below(self.weather.jitter.as_ps() + 1)),
                false => Duration::ZERO,
            };
            self.sent += 1;
            self.underway.insert((self.now + self.weather.delay + jitter, self.sent, content));
        }
    }

    fn check(&self) {
        let (sender, receiver) = (&self.sender, &self.receiver);
        let (una, next, max) = (sender.una(), sender.next(), sender.max_sent());
        assert!(una <= next && next <= max && max <= self.end(), "{una:?} {next:?} {max:?}");
        assert!(una <= receiver.next(), "acknowledged before it arrived");
        assert!(receiver.next() <= max, "arrived before it was sent");
        let in_order = (0..).zip(&self.arrived).take_while(|&(i, seq)| i == seq.number()).count();
        assert_eq!(receiver.next().number() as usize, in_order);

        let (window, mss) = (sender.window(), self.config.mss.count() as f64);
        assert!(window.cwnd >= mss, "cwnd {} of {mss}", window.cwnd);
        let initial = self.config.initial_ssthresh.map_or(f64::INFINITY, |s| f64::from(s) * mss);
        let untouched = window.ssthresh.to_bits() == initial.to_bits();
        // Vegas shrinks it with the window, in Linux too.
        let least = if self.config.congestion == CongestionKind::Vegas { mss } else { 2.0 * mss };
        assert!(untouched || window.ssthresh >= least, "ssthresh {}", window.ssthresh);
        assert!(!self.outstanding() || sender.deadline().is_some(), "data out and no timer");
        assert!(!sender.in_recovery() || self.outstanding(), "nothing to recover");
        let counts = sender.counts();
        assert!(counts.ecn_reductions <= self.echoed, "more reductions than ACKs");
        // Three bits may have gone round: without marks too, to be safe.
        let reductions = (counts.delivered_ce, counts.ecn_reductions);
        assert!(
            self.marked || self.config.ecn == Ecn::Accurate || reductions == (0, 0),
            "{reductions:?}"
        );
    }
}
