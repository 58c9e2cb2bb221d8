//! Hand-calculated cases of QUIC's recovery.

use std::sync::Arc;

use optcp_units::{Duration, Time};

use crate::config::{CongestionKind, Pacing};
use crate::{Ack, Config, Profile, SackBlocks, Sender, Seq};

fn ms(milliseconds: u64) -> Time {
    Time::ZERO + Duration::from_ms(milliseconds)
}

/// A sender of so many segments with NewReno, an initial window of ten packets and no pacing.
fn sender(segments: Option<u32>) -> Sender {
    let config = Profile::Quic.config_with(CongestionKind::Reno);
    let config = Config { pacing: Pacing::None, ..config };
    let mut sender = Sender::new(Arc::new(config), segments, Duration::ZERO);
    sender.start();
    sender
}

/// Returns packet numbers and segments of everything that may be sent now.
fn sent(sender: &mut Sender, now: u64) -> Vec<(u32, u32)> {
    let packets = std::iter::from_fn(|| sender.poll_transmit(ms(now)));
    packets.map(|packet| (packet.stamp, packet.seq.number())).collect()
}

fn acknowledge(sender: &mut Sender, now: u64, numbers: &[(u32, u32)]) {
    let mut ranges = SackBlocks::new();
    numbers.iter().for_each(|&(low, high)| ranges.push((Seq::new(low), Seq::new(high))));
    sender.handle_ack(ms(now), &Ack::of_packets(Seq::ZERO, ranges, Duration::ZERO));
}

fn window(sender: &Sender) -> f64 {
    sender.window().cwnd / sender.config().mss.count() as f64
}

/// RFC 9002 sections 6.1.1 and 7.3.2: the ACK of packet 3 declares packet 0 lost, and the window halves to five packets. It
/// has room for none while nine are in flight. ACKs of packets sent before the loss do not grow it, and later ones do.
#[test]
fn lost_packet_halves_the_window_and_is_sent_first() {
    let mut sender = sender(None);
    assert_eq!(sent(&mut sender, 0).len(), 10);
    acknowledge(&mut sender, 100, &[(3, 4)]);
    assert!((window(&sender) - 5.0).abs() < 1e-9);
    assert!(sender.in_recovery());
    assert_eq!(sent(&mut sender, 100), []);
    // Packets 1 and 2 are lost, too: 4 of 10 are left, and one fits.
    acknowledge(&mut sender, 101, &[(3, 6)]);
    assert!((window(&sender) - 5.0).abs() < 1e-9);
    assert_eq!(sent(&mut sender, 101), [(10, 0)]);
    acknowledge(&mut sender, 102, &[(3, 10)]);
    assert_eq!(sent(&mut sender, 102), [(11, 1), (12, 2), (13, 10), (14, 11)]);
    // The ACK of packet 10 ends the recovery and adds a fifth of a packet.
    acknowledge(&mut sender, 201, &[(3, 11)]);
    assert!(!sender.in_recovery());
    assert!((window(&sender) - 5.2).abs() < 1e-9);
    assert_eq!(sender.una(), Seq::new(1));
}

/// RFC 9002 section 6.1.2: the RTT is 80 ms. A packet is lost 90 ms after it was sent once a later one has arrived.
#[test]
fn packet_is_lost_after_nine_eighths_of_an_rtt() {
    let mut sender = sender(Some(3));
    assert_eq!(sent(&mut sender, 0), [(0, 0), (1, 1), (2, 2)]);
    acknowledge(&mut sender, 80, &[(1, 2)]);
    assert_eq!(sender.deadline(), Some(ms(90)));
    sender.handle_timer(ms(90));
    assert_eq!(sent(&mut sender, 90), [(3, 0)]);
    assert_eq!(sender.counts().timeouts, 0);
    // Packet 2 was sent after packet 1, and no later packet has arrived. PTO: 80 + 4 * 40 + 25 ms after packet 3.
    assert_eq!(sender.deadline(), Some(ms(90 + 265)));
}

/// RFC 9002 sections 6.2.1, 6.2.4 and 6.2.2: 999 ms and the maximum ACK delay without a sample. Each probe timeout sends two
/// packets beyond the window and doubles the next, which starts at the probes.
#[test]
fn probe_timeout_sends_two_packets_and_backs_off() {
    let mut sender = sender(Some(12));
    assert_eq!(sent(&mut sender, 0).len(), 10);
    assert_eq!(sender.deadline(), Some(ms(1024)));
    sender.handle_timer(ms(1024));
    // New data first, then the oldest packets.
    assert_eq!(sent(&mut sender, 1024), [(10, 10), (11, 11)]);
    assert_eq!(sender.deadline(), Some(ms(1024 + 2048)));
    sender.handle_timer(ms(3072));
    assert_eq!(sent(&mut sender, 3072), [(12, 0), (13, 1)]);
    assert_eq!(sender.counts().timeouts, 2);
    assert!((window(&sender) - 10.0).abs() < 1e-9);
    // Without a sample before, nothing is persistent. The ACK of packet 12 declares all older ones lost, and packet 13 is in
    // flight. The data of packet 12 have arrived, and the data of packet 1 wait.
    acknowledge(&mut sender, 3172, &[(12, 13)]);
    assert!((window(&sender) - 5.0).abs() < 1e-9);
    assert_eq!(sent(&mut sender, 3172), [(14, 1), (15, 2), (16, 3), (17, 4)]);
}

/// RFC 9002 section 7.6 and appendix B. With an RTT of 100 ms, the probe timeout is 325 ms after one sample, and probes leave
/// at 425, 1075 and 2375 ms. The ACK of a probe is the second sample: mean 100 and variation 37.5 ms. The period is then
/// 3 * (100 + 150 + 25) = 825 ms. If the second probe arrives, packets of 100 to 425 ms are lost, and the window halves. If
/// the third does, packets of 100 to 1075 ms are lost: the window falls to two packets.
#[test]
fn window_collapses_if_everything_is_lost_for_three_probe_timeouts() {
    for (probed, want) in [(vec![425, 1075], 10.0), (vec![425, 1075, 2375], 2.0)] {
        let mut sender = sender(None);
        sent(&mut sender, 0);
        acknowledge(&mut sender, 100, &[(0, 10)]);
        assert_eq!(sent(&mut sender, 100).len(), 20);
        let mut first = 0;
        for &at in &probed {
            assert_eq!(sender.deadline(), Some(ms(at)));
            sender.handle_timer(ms(at));
            let probes = sent(&mut sender, at);
            assert_eq!(probes.len(), 2);
            first = probes[0].0;
        }
        acknowledge(&mut sender, probed[probed.len() - 1] + 100, &[(first, first + 1)]);
        assert!((window(&sender) - want).abs() < 1e-9, "{}", window(&sender));
    }
}

/// RFC 9002 section 7.8: the window does not grow while the application limits sending.
#[test]
fn unused_window_does_not_grow() {
    let mut sender = sender(Some(4));
    assert_eq!(sent(&mut sender, 0).len(), 4);
    acknowledge(&mut sender, 100, &[(0, 4)]);
    assert!((window(&sender) - 10.0).abs() < 1e-9);
    assert!(sender.finished());
    assert_eq!(sender.deadline(), None);
}

/// A packet that comes twice, or whose data came in another packet, counts once.
#[test]
fn data_in_two_packets_arrive_once() {
    let mut sender = sender(Some(2));
    sent(&mut sender, 0);
    sender.handle_timer(ms(1024));
    assert_eq!(sent(&mut sender, 1024), [(2, 0), (3, 1)]);
    acknowledge(&mut sender, 1100, &[(2, 3)]);
    acknowledge(&mut sender, 1101, &[(0, 4)]);
    assert!(sender.finished());
    assert_eq!(sent(&mut sender, 1101), []);
}

/// RFC 9002 section 6.2.1: the loss timer replaces the probe timeout. If that has passed meanwhile, it fires at once. With an
/// RTT of 300 s, a packet is lost after 337.5 s, and the probe timeout is at most 60 s.
#[test]
fn probe_timeout_that_has_passed_is_due_at_once() {
    let mut sender = sender(Some(3));
    sent(&mut sender, 0);
    acknowledge(&mut sender, 300_000, &[(1, 2)]);
    assert_eq!(sender.deadline(), Some(ms(337_500)));
    sender.handle_timer(ms(337_500));
    assert_eq!(sender.deadline(), Some(ms(337_500)));
    assert_eq!(sent(&mut sender, 337_500), [(3, 0)]);
    assert_eq!(sender.deadline(), Some(ms(337_500 + 60_000)));
}
