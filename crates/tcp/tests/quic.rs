//! Transfers of QUIC over networks that lose, delay, reorder and duplicate packets.

use std::collections::BTreeMap;
use std::sync::Arc;

use optcp_tcp::config::{AckKind, CongestionKind, Ecn};
use optcp_tcp::{Ack, Config, Profile, Receiver, Sender, Seq};
use optcp_units::{Duration, Marking, Time};
use proptest::prelude::*;

/// Network in both directions, until `trouble_ends`; later packets take `delay_us` and none is lost. It marks and clears packets
/// of the sender at any time.
#[derive(Clone, Debug)]
struct Weather {
    loss_percent: u64,
    duplicate_percent: u64,
    delay_us: u64,
    jitter_us: u64,
    mark_percent: u64,
    /// Probability that a codepoint, or a mark, is cleared.
    clear_percent: u64,
    trouble_ends_ms: u64,
}

#[derive(Clone, Copy, Debug)]
enum Content {
    Packet { seq: Seq, number: u32, marking: Marking },
    Ack(Ack),
}

struct World {
    sender: Sender,
    receiver: Receiver,
    weather: Weather,
    underway: BTreeMap<(Time, u64), Content>,
    count: u64,
    now: Time,
    state: u64,
}

impl World {
    fn draw(&mut self, below: u64) -> u64 {
        // xorshift64: only variety matters here.
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state % below.max(1)
    }

    fn put(&mut self, content: Content) {
        let troubled = self.now < Time::ZERO + Duration::from_ms(self.weather.trouble_ends_ms);
        let copies = if troubled && self.draw(100) < self.weather.loss_percent {
            0
        } else {
            1 + u64::from(troubled && self.draw(100) < self.weather.duplicate_percent)
        };
        for _ in 0..copies {
            let jitter = if troubled { self.draw(self.weather.jitter_us) } else { 0 };
            let at = self.now + Duration::from_us(self.weather.delay_us + jitter);
            self.count += 1;
            self.underway.insert((at, self.count), content);
        }
    }

    fn send(&mut self) {
        while let Some(packet) = self.sender.poll_transmit(self.now) {
            let (marks, clears) = (self.weather.mark_percent, self.weather.clear_percent);
            let mut marking = packet.marking;
            if marking.takes_marks() && self.draw(100) < marks {
                marking = marking.with_ce();
            }
            if self.draw(100) < clears {
                marking = Marking::NONE;
            }
            self.put(Content::Packet { seq: packet.seq, number: packet.stamp, marking });
        }
    }

    /// Runs the transfer of `segments`. Returns its end, and the packet numbers in order.
    fn run(&mut self, segments: u32) -> Time {
        self.sender.start();
        self.send();
        let mut steps = 0;
        while !self.sender.finished() {
            steps += 1;
            assert!(steps < 200_000, "the transfer does not end");
            let arrival = self.underway.keys().next().map(|&(at, _)| at);
            let timers = [self.sender.deadline(), self.receiver.deadline()];
            let next = timers.into_iter().flatten().chain(arrival).min();
            let next = next.expect("a timer runs while data are outstanding");
            assert!(next >= self.now, "time runs backwards");
            self.now = next;
            if self.sender.deadline().is_some_and(|at| at <= next) {
                self.sender.handle_timer(next);
                self.send();
            } else if self.receiver.deadline().is_some_and(|at| at <= next) {
                let ack = self.receiver.handle_timer(next);
                self.put(Content::Ack(ack));
            } else {
                let (_, content) = self.underway.pop_first().expect("it arrives");
                self.arrive(content);
            }
            let (una, next) = (self.sender.una(), self.receiver.next());
            assert!(una <= next, "the sender cannot know more than has arrived");
            let config = self.sender.config();
            let halves = matches!(config.congestion, CongestionKind::Reno | CongestionKind::Cubic);
            let least = 2.0 * config.mss.count() as f64;
            assert!(!halves || self.sender.window().cwnd >= least, "kMinimumWindow");
        }
        assert_eq!(
            self.receiver.next().number(),
            segments + u32::from(self.sender.config().handshake)
        );
        assert_eq!(self.sender.deadline(), None, "a timer runs for nothing");
        self.now
    }

    fn arrive(&mut self, content: Content) {
        match content {
            Content::Packet { seq, number, marking } => {
                let arrival = self.receiver.handle_segment(self.now, seq, number, 64, marking);
                if let Some(ack) = arrival.ack {
                    self.put(Content::Ack(ack));
                }
            }
            Content::Ack(ack) => {
                self.sender.handle_ack(self.now, &ack);
                self.send();
            }
        }
    }
}

fn world(config: Config, segments: u32, weather: Weather, seed: u64) -> World {
    let config = Arc::new(config);
    World {
        sender: Sender::new(Arc::clone(&config), Some(segments), Duration::ZERO),
        receiver: Receiver::new(&config, Duration::ZERO),
        weather,
        underway: BTreeMap::new(),
        count: 0,
        now: Time::ZERO,
        state: seed | 1,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Every transfer ends after a period of losses, duplicates and reordering, and no timer is in the past.
    #[test]
    fn transfers_end_on_bad_networks(
        seed in any::<u64>(),
        segments in 1_u32..300,
        handshake in any::<bool>(),
        congestion in prop::sample::select(vec![
            CongestionKind::Reno, CongestionKind::Cubic, CongestionKind::Bbr, CongestionKind::Vegas,
        ]),
        ack in prop::sample::select(vec![AckKind::Delayed, AckKind::EveryPacket]),
        loss_percent in prop::sample::select(vec![0_u64, 1, 10, 50, 100]),
        duplicate_percent in prop::sample::select(vec![0_u64, 5, 50]),
        delay_us in prop::sample::select(vec![0_u64, 100, 5_000, 200_000]),
        jitter_us in prop::sample::select(vec![0_u64, 10, 3_000, 300_000]),
        ecn in prop::sample::select(vec![Ecn::Off, Ecn::Accurate]),
        mark_percent in prop::sample::select(vec![0_u64, 3, 50]),
        clear_percent in prop::sample::select(vec![0_u64, 3, 100]),
        trouble_ends_ms in prop::sample::select(vec![0_u64, 100, 2_000, 30_000]),
    ) {
        let config = Config { handshake, ack, ecn, ..Profile::Quic.config_with(congestion) };
        let weather = Weather {
            loss_percent, duplicate_percent, delay_us, jitter_us, mark_percent, clear_percent, trouble_ends_ms,
        };
        let mut world = world(config, segments, weather, seed);
        let end = world.run(segments);
        let counts = world.sender.counts();
        prop_assert!(counts.delivered_ce <= counts.sent);
        prop_assert!(counts.ecn_reductions <= counts.delivered_ce);
        prop_assert!(ecn == Ecn::Accurate && mark_percent > 0 || counts.delivered_ce == 0);
        // After the trouble, one probe timeout of at most 60 s, and round trips.
        let round_trip = Duration::from_us(2 * (delay_us + jitter_us)) + Duration::from_ms(25);
        let allowed = Duration::from_secs(61) + round_trip * (u64::from(segments) + 10) * 8;
        prop_assert!(end <= Time::ZERO + Duration::from_ms(trouble_ends_ms) + allowed, "{end:?}");
    }
}
