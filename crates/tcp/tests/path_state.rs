//! Per-network state, segment by segment, computed by hand from the rules of TDTCP (Chen et al. 2022): data
//! only change the window of their network, and reordering between networks is not loss.

use std::sync::Arc;

use optcp_tcp::config::{
    Config, CongestionKind, LossDetectionKind, Measurement, PathState, RateReduction, RecoveryKind,
};
use optcp_tcp::{Ack, Profile, SackBlocks, Sender, Seq};
use optcp_units::{Bytes, Duration, Time};

const PACKET: u8 = 0;
const CIRCUIT: u8 = 1;

fn ms(milliseconds: u64) -> Time {
    Time::from_ps(milliseconds * 1_000_000_000)
}

/// SACK of RFC 6675 over two networks, ten segments of 1000 bytes at first on each.
fn plain() -> Config {
    Config {
        mss: Bytes::new(1000),
        initial_window: 10,
        recovery: RecoveryKind::Sack,
        path_state: PathState::PerNetwork,
        measurement: Measurement::EveryAck,
        ..Profile::Rfc.config()
    }
}

/// A sender whose segments are collected after every event.
struct Host(Sender);

impl Host {
    /// It begins on the packet network.
    fn start(config: Config) -> (Self, Vec<u32>) {
        let mut host = Host(Sender::new(Arc::new(config), None, Duration::ZERO));
        host.0.enable_per_network_state(2, PACKET);
        host.0.start();
        let sent = host.send(0);
        (host, sent)
    }

    fn send(&mut self, at_ms: u64) -> Vec<u32> {
        let next = || self.0.poll_transmit(ms(at_ms));
        std::iter::from_fn(next).map(|sent| sent.seq.number()).collect()
    }

    fn change(&mut self, at_ms: u64, network: u8) -> Vec<u32> {
        self.0.change_network(ms(at_ms), network);
        self.send(at_ms)
    }

    fn ack(&mut self, at_ms: u64, seq: u32, blocks: &[(u32, u32)]) -> Vec<u32> {
        let mut sack = SackBlocks::new();
        blocks.iter().for_each(|&(start, end)| sack.push((Seq::new(start), Seq::new(end))));
        let sack = (!blocks.is_empty()).then_some(sack);
        self.0.handle_ack(ms(at_ms), &Ack { sack, ..Ack::cumulative(Seq::new(seq)) });
        self.send(at_ms)
    }

    /// cwnd and ssthresh in segments.
    fn window(&self) -> (f64, f64) {
        let window = self.0.window();
        (window.cwnd / 1000.0, window.ssthresh / 1000.0)
    }

    fn rto_ms(&self) -> u64 {
        self.0.info().rto.as_ps() / 1_000_000_000
    }
}

fn same(got: (f64, f64), want: (f64, f64)) -> bool {
    let close = |got: f64, want: f64| got.to_bits() == want.to_bits() || (got - want).abs() < 1e-9;
    close(got.0, want.0) && close(got.1, want.1)
}

/// Segments 0 to 9 use the packet network and fill its window. The circuit has a separate window of
/// ten: 10 to 19. The ACK of five of the first segments releases nothing on the circuit. It has
/// grown the window of the packet network, in slow start by one segment per ACK.
#[test]
fn each_network_has_its_own_window_and_flight() {
    let (mut host, sent) = Host::start(plain());
    assert_eq!(sent, (0..10).collect::<Vec<_>>());
    assert_eq!(host.change(1, CIRCUIT), (10..20).collect::<Vec<_>>());
    for seq in 1..=5 {
        assert_eq!(host.ack(100, seq, &[]), [0; 0]);
    }
    assert!(same(host.window(), (10.0, f64::INFINITY)), "{:?}", host.window());
    // Back on the packet network: a window of 15, five in flight.
    assert_eq!(host.change(101, PACKET), (20..30).collect::<Vec<_>>());
    assert!(same(host.window(), (15.0, f64::INFINITY)), "{:?}", host.window());
}

/// Of 10 to 19 on the circuit, 10 is lost; 11, 12 and 13 show this. The loss halves the circuit's
/// window of ten; the packet network's window is still ten. The lost segment is retransmitted on
/// the active network although the window is full (RFC 6675 section 5 step 4.3).
#[test]
fn a_loss_on_one_network_leaves_the_window_of_the_other() {
    let (mut host, _) = Host::start(plain());
    host.change(1, CIRCUIT);
    host.change(2, PACKET);
    host.ack(50, 0, &[(11, 13)]);
    assert_eq!(host.ack(51, 0, &[(11, 14)]), [10]);
    assert!(same(host.window(), (10.0, f64::INFINITY)), "{:?}", host.window());
    assert!(!host.0.in_recovery());
    // Eleven are in flight. One leaves, and the window grows by one: one may follow.
    assert_eq!(host.ack(100, 1, &[(11, 14)]), [20]);
    host.change(101, CIRCUIT);
    assert!(host.0.in_recovery());
    assert!(same(host.window(), (5.0, 5.0)), "{:?}", host.window());
}

/// Segments 0 to 9 are slow, and 10 to 19 on the circuit overtake them: ten segments above a gap
/// without a loss. With a single state, 0 to 9 would be lost.
#[test]
fn segment_overtaken_on_another_network_is_not_lost() {
    for loss_detection in [LossDetectionKind::Duplicates, LossDetectionKind::Rack] {
        let config = Config { loss_detection, ..plain() };
        let (mut host, _) = Host::start(config.clone());
        host.change(1, CIRCUIT);
        host.ack(20, 0, &[(10, 15)]);
        host.ack(21, 0, &[(10, 20)]);
        assert_eq!((host.0.info().lost, host.0.counts().retransmissions), (0, 0));
        assert!(!host.0.in_recovery());
        host.ack(101, 20, &[]);
        assert_eq!(host.0.counts().retransmissions, 0);

        let (mut host, _) = Host::start(Config { path_state: PathState::One, ..config });
        host.0.handle_ack(ms(1), &Ack::cumulative(Seq::new(0)));
        host.ack(20, 0, &[(7, 10)]);
        assert!(host.0.in_recovery(), "{loss_detection:?}");
    }
}

/// RACK waits for the slower network as long as half of both RTTs. 0 takes 100 ms by packet. 1 to
/// 11 leave at 100 ms by packet, and 12 to 21 at 110 ms by the circuit. The first ACK of the
/// circuit arrives after 20 ms, at 130 ms. The mean of 100 and 100 (the longest RTT) ends at 200
/// ms, and a quarter of the minimum RTT, 25 ms, at 225 ms.
#[test]
fn rack_waits_for_the_slower_network() {
    let rack = Config { loss_detection: LossDetectionKind::Rack, ..plain() };
    let (mut host, _) = Host::start(rack);
    let sent = host.ack(100, 10, &[]);
    assert_eq!(sent, (10..21).collect::<Vec<_>>());
    host.change(110, CIRCUIT);
    host.ack(130, 10, &[(21, 31)]);
    assert_eq!(host.0.info().lost, 0);
    // SACK covers ten segments of the circuit and none of the packet network: a window of a quarter.
    let due = host.0.deadline().unwrap();
    assert_eq!(due, ms(225));
    host.0.handle_timer(due);
    assert_eq!(host.0.info().lost, 11);
}

/// RTTs are 100 ms by packet and 20 ms on the circuit. An ACK on the circuit for packet segments
/// measures neither network. An ACK for segments sent until the previous change of networks does
/// not either.
#[test]
fn rtt_is_measured_per_network() {
    let (mut host, _) = Host::start(plain());
    host.ack(100, 1, &[]);
    assert_eq!(host.0.info().srtt, Some(Duration::from_ms(100)));
    host.change(101, CIRCUIT);
    assert_eq!(host.0.info().srtt, None);
    host.ack(110, 2, &[]);
    assert_eq!(host.0.info().srtt, None);
    host.ack(121, 12, &[]);
    assert_eq!(host.0.info().srtt, None, "sent at 100 ms by packet");
    host.ack(121, 13, &[]);
    assert_eq!(host.0.info().srtt, Some(Duration::from_ms(20)));
    host.change(122, PACKET);
    assert_eq!(host.0.info().srtt, Some(Duration::from_ms(100)));
    host.change(123, CIRCUIT);
    host.ack(131, 14, &[]);
    assert_eq!(
        host.0.info().srtt,
        Some(Duration::from_ms(20)),
        "sent before the circuit came again"
    );
}

/// RFC 6298: 100 + 4 * 50 = 300 ms by packet, 20 + 4 * 10 = 60 ms on the circuit. By packet 300, the slowest both ways; on the
/// circuit the mean of 60 and 300, since the ACK may come by packet.
#[test]
fn rto_assumes_the_slowest_return_path() {
    let (mut host, _) = Host::start(Config { min_rto: Duration::ZERO, ..plain() });
    host.ack(100, 1, &[]);
    assert_eq!(host.rto_ms(), 300);
    host.change(101, CIRCUIT);
    // Not measured yet: RFC 6298's first second, which is more than 300 ms.
    assert_eq!(host.rto_ms(), 1000);
    host.ack(102, 12, &[]);
    host.ack(121, 13, &[]);
    assert_eq!(host.rto_ms(), 180);
    host.change(122, PACKET);
    assert_eq!(host.rto_ms(), 300);
}

/// An RTO belongs to the active network: its window is one segment, and the other window does not
/// change.
#[test]
fn rto_belongs_to_the_active_network() {
    let (mut host, _) = Host::start(plain());
    host.change(1, CIRCUIT);
    let due = host.0.deadline().unwrap();
    host.0.handle_timer(due);
    assert_eq!(std::iter::from_fn(|| host.0.poll_transmit(due)).count(), 1);
    assert!(same(host.window(), (1.0, 5.0)), "{:?}", host.window());
    host.change(1_100, PACKET);
    assert!(same(host.window(), (10.0, f64::INFINITY)), "{:?}", host.window());
}

/// CUBIC with PRR, as in the paper's senders: 7/10 of the ten segments on the circuit. The other
/// window stays.
#[test]
fn cubic_has_a_state_for_each_network() {
    let config =
        Config { congestion: CongestionKind::Cubic, rate_reduction: RateReduction::Prr, ..plain() };
    let (mut host, _) = Host::start(config);
    host.change(1, CIRCUIT);
    host.ack(20, 0, &[(11, 14)]);
    assert!(host.0.in_recovery());
    assert!((host.window().1 - 7.0).abs() < 1e-9, "{:?}", host.window());
    host.change(21, PACKET);
    assert!(!host.0.in_recovery());
    assert!(same(host.window(), (10.0, f64::INFINITY)), "{:?}", host.window());
}

/// A sender that nobody divides, or that keeps one state, is as any other.
#[test]
fn one_network_matches_undivided_state() {
    for path_state in [PathState::One, PathState::PerNetwork] {
        let config = Config { path_state, ..plain() };
        let mut sender = Sender::new(Arc::new(config), None, Duration::ZERO);
        if path_state == PathState::One {
            sender.enable_per_network_state(2, PACKET);
        }
        assert!(!sender.is_divided());
        sender.start();
        sender.change_network(ms(1), CIRCUIT);
        assert_eq!(std::iter::from_fn(|| sender.poll_transmit(ms(1))).count(), 10);
    }
}
