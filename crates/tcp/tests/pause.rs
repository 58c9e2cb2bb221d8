//! Growth after an application pause for every congestion control: as without the pause, unless its source
//! says otherwise.

use std::collections::BTreeMap;
use std::sync::Arc;

use optcp_tcp::config::{
    AckKind, CongestionKind, CubicVersion, PathState, SlowStartKind, WindowValidation,
};
use optcp_tcp::{Ack, Config, Profile, Receiver, Sender, Seq, Timestamp};
use optcp_units::{Bytes, Duration, Marking, Time};

/// One way; nothing else takes time.
const DELAY: Duration = Duration::from_ms(50);
const PAUSE: Duration = Duration::from_secs(32);
/// Segments ahead of the pause, about two seconds' worth.
const BEFORE: u32 = 1_500;
/// The segment that is lost, so that the pause falls into congestion avoidance.
const LOST: u32 = 120;
/// Round trips after the pause that are compared.
const ROUND_TRIPS: usize = 12;

#[derive(Clone, Copy)]
enum Packet {
    Segment(Seq, Timestamp, Marking),
    Ack(Ack),
}

/// A connection whose segments and ACKs take `DELAY` each.
struct Connection {
    sender: Sender,
    receiver: Receiver,
    mss: f64,
    now: Time,
    underway: BTreeMap<(Time, u64), Packet>,
    packets: u64,
    lost: bool,
}

impl Connection {
    fn start(config: Config) -> Self {
        let config = Arc::new(config);
        let mut sender = Sender::new(Arc::clone(&config), Some(2 * BEFORE), Duration::ZERO);
        sender.withhold(BEFORE);
        sender.start();
        Connection {
            sender,
            receiver: Receiver::new(&config, Duration::ZERO),
            mss: config.mss.count() as f64,
            now: Time::ZERO,
            underway: BTreeMap::new(),
            packets: 0,
            lost: false,
        }
    }

    fn put(&mut self, packet: Packet) {
        self.packets += 1;
        self.underway.insert((self.now + DELAY, self.packets), packet);
    }

    fn send(&mut self) {
        while let Some(segment) = self.sender.poll_transmit(self.now) {
            if segment.seq != Seq::new(LOST) || std::mem::replace(&mut self.lost, true) {
                self.put(Packet::Segment(segment.seq, segment.stamp, segment.marking));
            }
        }
    }

    /// Does what is due up to `until`.
    fn run(&mut self, until: Time) {
        self.send();
        loop {
            let arrival = self.underway.first_key_value().map(|(&(at, _), _)| at);
            let timer = self.sender.deadline();
            let due = [arrival, timer].into_iter().flatten().min();
            let Some(at) = due.filter(|&at| at <= until) else { break };
            self.now = at;
            if timer == Some(at) {
                self.sender.handle_timer(at);
            } else if let Some((_, packet)) = self.underway.pop_first() {
                match packet {
                    Packet::Segment(seq, stamp, marking) => {
                        let arrival = self.receiver.handle_segment(at, seq, stamp, 64, marking);
                        self.put(Packet::Ack(arrival.ack.expect("every segment is acknowledged")));
                    }
                    Packet::Ack(ack) => self.sender.handle_ack(at, &ack),
                }
            }
            self.send();
        }
        self.now = until;
    }

    /// Goes on until `segments` are acknowledged.
    fn finish(&mut self, segments: u32) {
        while self.sender.una() < Seq::new(segments) {
            self.run(self.now + Duration::from_ms(1));
        }
    }

    /// The application writes `segments` more: the window now, and at the end of each round trip.
    fn round_trips(&mut self, segments: u32) -> Vec<f64> {
        let window = |it: &Connection| (it.sender.window().cwnd / it.mss).floor();
        let mut windows = vec![window(self)];
        self.sender.supply(segments);
        for _ in 0..ROUND_TRIPS {
            self.run(self.now + DELAY * 2);
            windows.push(window(self));
        }
        windows
    }
}

/// The windows at the end of each round trip after a pause, the one at its end in front.
fn windows(config: &Config, pause: Duration) -> Vec<f64> {
    let mut connection = Connection::start(config.clone());
    connection.finish(BEFORE);
    connection.run(connection.now + pause);
    connection.round_trips(BEFORE)
}

/// A control with what Linux has beside it, and every segment acknowledged.
fn config(congestion: CongestionKind) -> Config {
    Config {
        mss: Bytes::new(1000),
        ack: AckKind::EveryPacket,
        window_validation: WindowValidation::None,
        restart_after_idle: false,
        slow_start: SlowStartKind::Standard,
        ..Profile::Linux6.config_with(congestion)
    }
}

/// Every control and version.
fn all() -> Vec<(String, Config)> {
    let mut all = Vec::new();
    for &congestion in CongestionKind::ALL {
        if congestion != CongestionKind::Cubic {
            all.push((congestion.name().to_owned(), config(congestion)));
            continue;
        }
        for &version in CubicVersion::ALL {
            let mut config = config(congestion);
            config.controllers.cubic.cubic_version = version;
            all.push((format!("cubic, {}", version.name()), config));
        }
    }
    all
}

const VALIDATIONS: [WindowValidation; 2] = [WindowValidation::None, WindowValidation::Linux];

/// H-TCP grows with the time since the last loss, and Linux does not subtract pauses. 32 s give 1 +
/// 10 * 31 + 31^2 / 4 = 551 segments per RTT (draft-leith-tcp-htcp-06 section 2.1). The window has
/// fewer segments, so that every second ACK adds one.
fn grows_by_half(windows: &[f64]) -> bool {
    windows[2..5].windows(2).all(|pair| (pair[1] - pair[0] * 1.5).abs() <= 1.0)
}

#[test]
fn a_pause_does_not_change_the_growth_of_any_control() {
    for (name, config) in all() {
        for window_validation in VALIDATIONS {
            let config = Config { window_validation, ..config.clone() };
            let (steady, paused) = (windows(&config, Duration::ZERO), windows(&config, PAUSE));
            if config.congestion == CongestionKind::HTcp {
                assert!(grows_by_half(&paused), "{paused:?}");
            } else {
                assert_eq!(paused, steady, "{name}, {window_validation:?}");
            }
        }
    }
}

/// RFC 5681 section 4.1 and RFC 2861: the window begins with the initial one, and is never greater than without the pause. Controls
/// that find a rate keep their window, but Prague with `idle_restart`, and Reno that a class paces.
#[test]
fn window_reset_after_a_pause_stays_smaller() {
    let others = all().into_iter().filter(|(_, it)| it.congestion != CongestionKind::HTcp);
    for (name, config) in others {
        let steady = windows(&config, Duration::ZERO);
        for idle_restart in [false, true] {
            let config =
                Config { idle_restart, restart_after_idle: !idle_restart, ..config.clone() };
            let finds = config.congestion != CongestionKind::PythonPaced;
            let keeps = finds && config.congestion.wants_rates() && config.congestion.paces();
            let keeps = keeps || (config.congestion.paces() && !idle_restart);
            let paused = windows(&config, PAUSE);
            if keeps {
                assert_eq!(paused, steady, "{name}");
            } else {
                assert!(paused[1] < steady[1], "{name}: {paused:?}, {steady:?}");
                assert!(
                    paused.iter().zip(&steady).all(|(it, most)| it <= most),
                    "{name}: {paused:?}"
                );
            }
        }
    }
}

/// The pause falls into the time in which another network is in use.
#[test]
fn a_pause_on_one_network_is_one_for_all() {
    for &version in CubicVersion::ALL {
        let after = |pause: Duration| {
            let path_state = PathState::PerNetwork;
            let mut config = Config { path_state, ..config(CongestionKind::Cubic) };
            config.controllers.cubic.cubic_version = version;
            let mut connection = Connection::start(config);
            connection.sender.enable_per_network_state(2, 0);
            connection.finish(BEFORE);
            connection.sender.change_network(connection.now, 1);
            for pause in [Duration::ZERO, pause] {
                connection.run(connection.now + pause);
                connection.sender.supply(1);
                connection.finish(connection.sender.max_sent().number() + 1);
            }
            connection.sender.change_network(connection.now, 0);
            connection.round_trips(BEFORE - 2)
        };
        assert_eq!(after(PAUSE), after(Duration::ZERO), "{}", version.name());
    }
}

/// Follows `lsndtime` of Linux: after a retransmission shortly before the application resumes,
/// there is no pause.
#[test]
fn a_retransmission_ends_a_pause() {
    let mut config = config(CongestionKind::Reno);
    (config.timestamps, config.timestamp_undo) = (false, false);
    config.restart_after_idle = true;
    let at = |ms| Time::ZERO + Duration::from_ms(ms);
    let mut sender = Sender::new(Arc::new(config), Some(30), Duration::ZERO);
    sender.withhold(10);
    sender.start();
    let sent =
        |sender: &mut Sender, ms| std::iter::from_fn(|| sender.poll_transmit(at(ms))).count();
    assert_eq!(sent(&mut sender, 0), 10);
    sender.handle_ack(at(100), &Ack::cumulative(Seq::new(10)));
    assert_eq!(sent(&mut sender, 100), 10);
    // The last one is lost. The probe leaves at 300 ms or so, and its ACK 100 ms later.
    sender.handle_ack(at(200), &Ack::cumulative(Seq::new(19)));
    let probe = sender.deadline().expect("a segment is outstanding");
    sender.handle_timer(probe);
    assert!(sender.poll_transmit(probe).is_some());
    let later = probe + Duration::from_ms(250);
    sender.handle_ack(later, &Ack::cumulative(Seq::new(20)));
    let before = sender.window().cwnd;
    sender.supply(10);
    assert!(later - at(100) > sender.info().rto && later - probe < sender.info().rto);
    assert!(sender.poll_transmit(later).is_some());
    assert_eq!(sender.window().cwnd.to_bits(), before.to_bits());
}
