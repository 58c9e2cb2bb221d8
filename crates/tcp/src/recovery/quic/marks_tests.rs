//! Hand-calculated cases of QUIC's reaction to ECN counts.

use std::sync::Arc;

use optcp_units::{Codepoint, Duration, Time};

use crate::config::{CongestionKind, Ecn, EctPackets, Pacing};
use crate::{Ack, Config, EcnCounters, PacketCounts, Profile, SackBlocks, Sender, Seq};

fn ms(milliseconds: u64) -> Time {
    Time::ZERO + Duration::from_ms(milliseconds)
}

fn config(congestion: CongestionKind) -> Config {
    let config = Profile::Quic.config_with(congestion);
    Config { ecn: Ecn::Accurate, ..config }
}

/// A sender of unlimited data with an initial window of ten packets and no pacing.
fn sender(config: Config) -> Sender {
    let config = Config { pacing: Pacing::None, ..config };
    let mut sender = Sender::new(Arc::new(config), None, Duration::ZERO);
    sender.start();
    sender
}

/// Sends everything that may be sent now. Returns packet numbers and codepoints.
fn sent(sender: &mut Sender, now: u64) -> Vec<(u32, Codepoint)> {
    let packets = std::iter::from_fn(|| sender.poll_transmit(ms(now)));
    packets.map(|packet| (packet.stamp, packet.marking.codepoint())).collect()
}

/// Processes an ACK of packets `low` to `high - 1` with counts of ECT(0), ECT(1) and CE.
fn acknowledge(sender: &mut Sender, now: u64, (low, high): (u32, u32), counts: Option<[u32; 3]>) {
    let mut ranges = SackBlocks::new();
    ranges.push((Seq::new(low), Seq::new(high)));
    let counts = counts.map(|[ect0, ect1, ce]| PacketCounts { ect0, ect1, ce });
    let ack = Ack::of_packets(Seq::ZERO, ranges, Duration::ZERO);
    sender.handle_ack(ms(now), &Ack { counters: counts.map(EcnCounters::Packets), ..ack });
}

fn window(sender: &Sender) -> f64 {
    sender.window().cwnd / sender.config().mss.count() as f64
}

fn assert_window(sender: &Sender, want: f64) {
    assert!((window(sender) - want).abs() < 1e-9, "{} {want}", window(sender));
}

/// RFC 9002 sections 7.1 and 7.3.2 and appendix B.7: the first mark halves the window of ten packets. Marks on packets sent
/// before that change nothing, and their ACKs do not grow the window. The mark on a packet sent later halves it again.
#[test]
fn marks_reduce_the_window_once_per_round_trip() {
    let mut sender = sender(config(CongestionKind::Reno));
    let first: Vec<_> = (0..10).map(|number| (number, Codepoint::Ect0)).collect();
    assert_eq!(sent(&mut sender, 0), first);
    acknowledge(&mut sender, 100, (0, 2), Some([1, 0, 1]));
    assert_window(&sender, 5.0);
    assert!(sender.in_recovery());
    acknowledge(&mut sender, 101, (0, 4), Some([1, 0, 3]));
    assert_window(&sender, 5.0);
    assert_eq!(sent(&mut sender, 101), []);
    acknowledge(&mut sender, 102, (0, 10), Some([1, 0, 9]));
    assert_window(&sender, 5.0);
    let second: Vec<_> = (10..15).map(|number| (number, Codepoint::Ect0)).collect();
    assert_eq!(sent(&mut sender, 102), second);
    // Packet 10 has no mark: it ends the recovery period and adds a fifth of a packet.
    acknowledge(&mut sender, 202, (0, 11), Some([2, 0, 9]));
    assert!(!sender.in_recovery());
    assert_window(&sender, 5.2);
    acknowledge(&mut sender, 203, (0, 12), Some([2, 0, 10]));
    assert_window(&sender, 2.6);
    let counts = sender.counts();
    assert_eq!((counts.ecn_reductions, counts.delivered_ce), (2, 10));
}

/// RFC 9438 section 4.6: CUBIC keeps 0.7. RFC 8511 section 3.1, with `abe`: 0.8 with Reno and 0.85 with CUBIC.
#[test]
fn mark_leaves_the_share_of_the_control() {
    for (congestion, abe, want) in [
        (CongestionKind::Reno, false, 5.0),
        (CongestionKind::Cubic, false, 7.0),
        (CongestionKind::Reno, true, 8.0),
        (CongestionKind::Cubic, true, 8.5),
    ] {
        let mut sender = sender(Config { abe, ..config(congestion) });
        sent(&mut sender, 0);
        acknowledge(&mut sender, 100, (0, 1), Some([0, 0, 1]));
        assert_window(&sender, want);
    }
}

/// RFC 9002 appendix B.6: one ACK with a mark declares packets 0 to 2 lost, and both start one recovery period. The loss of a
/// packet sent after it starts another: 10 packets become 5, and 5 become 2.5.
#[test]
fn loss_and_mark_of_one_round_trip_reduce_the_window_once() {
    let mut sender = sender(config(CongestionKind::Reno));
    sent(&mut sender, 0);
    acknowledge(&mut sender, 100, (3, 6), Some([2, 0, 1]));
    assert_window(&sender, 5.0);
    acknowledge(&mut sender, 101, (3, 10), Some([6, 0, 1]));
    assert_window(&sender, 5.0);
    assert_eq!(sent(&mut sender, 101).len(), 5);
    acknowledge(&mut sender, 201, (13, 14), Some([7, 0, 1]));
    assert_window(&sender, 2.5);
    assert_eq!(sender.counts().ecn_reductions, 1);
}

/// RFC 9000 sections 13.4.2.1 and 13.4.2.2. A link that clears the codepoint leaves no counts. One that clears marks leaves too
/// low a sum, and one that writes ECT(1) a count that no packet explains. Each ends ECN, and later marks change nothing. Without
/// such a link, counts are valid, and marks count.
#[test]
fn invalid_counts_end_ecn_without_a_reduction() {
    for (counts, want) in [
        (None, Codepoint::NotEct),
        (Some([1, 0, 0]), Codepoint::NotEct),
        (Some([0, 2, 0]), Codepoint::NotEct),
        (Some([2, 0, 0]), Codepoint::Ect0),
    ] {
        let mut sender = sender(config(CongestionKind::Reno));
        sent(&mut sender, 0);
        acknowledge(&mut sender, 100, (0, 2), counts);
        assert_window(&sender, 12.0);
        let next = sent(&mut sender, 100);
        assert_eq!(next.len(), 4, "{counts:?}");
        assert!(next.iter().all(|&(_, codepoint)| codepoint == want), "{counts:?}");
        acknowledge(&mut sender, 101, (0, 4), Some([2, 0, 2]));
        assert_window(&sender, if want == Codepoint::Ect0 { 6.0 } else { 14.0 });
    }
}

/// RFC 9000 section 13.4.2.1: an ACK that arrives after a later one has lower counts, and ends nothing.
#[test]
fn counts_of_reordered_acks_are_ignored() {
    let mut sender = sender(config(CongestionKind::Reno));
    sent(&mut sender, 0);
    acknowledge(&mut sender, 100, (1, 3), Some([3, 0, 0]));
    acknowledge(&mut sender, 101, (0, 1), Some([1, 0, 0]));
    let next = sent(&mut sender, 101);
    assert!(!next.is_empty() && next.iter().all(|&(_, codepoint)| codepoint == Codepoint::Ect0));
}

/// RFC 9000 section 13.4.2: an outage takes the ten packets of the test. Probes are not ECN-capable, and their ACK declares the ten
/// lost, which ends ECN.
#[test]
fn loss_of_the_first_window_ends_ecn() {
    let mut sender = sender(config(CongestionKind::Reno));
    sent(&mut sender, 0);
    sender.handle_timer(ms(1024));
    let probes = [(10, Codepoint::NotEct), (11, Codepoint::NotEct)];
    assert_eq!(sent(&mut sender, 1024), probes);
    acknowledge(&mut sender, 1124, (10, 12), None);
    let next = sent(&mut sender, 1124);
    assert!(!next.is_empty() && next.iter().all(|&(_, codepoint)| codepoint == Codepoint::NotEct));
}

/// The packet of the handshake is ECN-capable with `ect_packets = "all"`, and then one of the ten of the test.
#[test]
fn handshake_is_ecn_capable_as_configured() {
    for (ect_packets, want) in
        [(EctPackets::Data, Codepoint::NotEct), (EctPackets::All, Codepoint::Ect0)]
    {
        let quic = config(CongestionKind::Reno);
        let mut sender = sender(Config { ect_packets, handshake: true, ..quic });
        assert_eq!(sent(&mut sender, 0), [(0, want)]);
        acknowledge(&mut sender, 100, (0, 1), (want == Codepoint::Ect0).then_some([1, 0, 0]));
        let first: Vec<_> = sent(&mut sender, 100).into_iter().map(|packet| packet.1).collect();
        let tested = if want == Codepoint::Ect0 { 9 } else { 10 };
        assert!(first.len() >= 10);
        assert!(first.iter().take(tested).all(|&codepoint| codepoint == Codepoint::Ect0));
        assert!(first.iter().skip(tested).all(|&codepoint| codepoint == Codepoint::NotEct));
    }
}

/// BBR ignores marks. Without a reduction there is no recovery period either.
#[test]
fn mark_without_a_reaction_starts_no_recovery() {
    let mut sender = sender(config(CongestionKind::Bbr));
    sent(&mut sender, 0);
    acknowledge(&mut sender, 100, (0, 2), Some([1, 0, 1]));
    assert!(!sender.in_recovery());
    assert_eq!((sender.counts().ecn_reductions, sender.counts().delivered_ce), (0, 1));
}
