use optcp_des::{Stream, Streams};
use optcp_units::{Bytes, Codepoint, Duration, Marking, Rate, Time};

use super::*;
use crate::{Admission, DropReason, FlowId, Label, Port, PortConfig, QueueLimit};

/// Bits per byte times picoseconds per second.
const BYTE: u128 = 8_000_000_000_000;

fn at(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

fn rate(bps: u64) -> Rate {
    Rate::from_bps(bps).unwrap()
}

fn packet(size: u16) -> Packet {
    Packet::data(FlowId::new(7), Label(0), 3, size, 0)
}

fn policer(bps: u64, burst: u64, exceeding: Action) -> Policer {
    Policer::new((rate(bps), Bytes::new(burst)), None, exceeding)
}

/// Returns the result of an ingress bucket.
fn enters(bucket: Bucket, now: Time, packet: Packet) -> (Bucket, Option<Packet>) {
    let mut buckets = [bucket];
    let metered = meter(&mut buckets, BucketPlace::Ingress, now, packet);
    let [bucket] = buckets;
    (bucket, metered)
}

/// Arrivals in bursts and with pauses: times and sizes.
fn arrivals(stream: &mut Stream, packets: u64) -> Vec<(Time, u16)> {
    let mut now = 0;
    let mut one = |_| {
        now += match stream.below(4) {
            0 => 0,
            1 => stream.below(5_000_000),
            2 => stream.below(200_000_000),
            _ => stream.below(2_000_000_000),
        };
        let size = u16::try_from(40 + stream.below(1461)).unwrap();
        (Time::from_ps(now), size)
    };
    (0..packets).map(&mut one).collect()
}

/// Returns whether packets in order of time fit an arrival curve: no interval has more than `burst + rate * t`.
fn fits(passed: &[(Time, u16)], bps: u64, burst: u64) -> bool {
    let Some(&(last, _)) = passed.last() else { return true };
    let mut bytes = 0_u128;
    passed.iter().rev().all(|&(first, size)| {
        bytes += u128::from(size);
        let allowed = u128::from(bps) * u128::from((last - first).as_ps());
        bytes * BYTE <= u128::from(burst) * BYTE + allowed
    })
}

/// A packet passes exactly if no interval that ends with it then has more than burst + rate x t.
#[test]
fn policer_passes_exactly_what_the_arrival_curve_allows() {
    let (mut passed_in_all, mut dropped) = (0, 0);
    for seed in 0..300 {
        let mut stream = Streams::new(seed).stream("policer");
        let bps = 1 + stream.below(20_000_000);
        let burst = 1500 + stream.below(20_000);
        let peak = (stream.below(2) == 0).then(|| (bps * 2, 1500 + stream.below(3000)));
        let two = |(bps, burst)| (rate(bps), Bytes::new(burst));
        let mut policer = Policer::new(two((bps, burst)), peak.map(two), Action::Drop);
        let mut passed: Vec<(Time, u16)> = Vec::new();
        for (now, size) in arrivals(&mut stream, 200) {
            passed.push((now, size));
            let curves = std::iter::once((bps, burst)).chain(peak);
            let allowed = curves.into_iter().all(|(bps, burst)| fits(&passed, bps, burst));
            let (_, action) = policer.meter(now, size);
            assert_eq!(action == Action::Pass, allowed, "seed {seed} at {now}: {size} B");
            if !allowed {
                passed.pop();
                dropped += 1;
            }
        }
        passed_in_all += passed.len();
    }
    assert!(
        passed_in_all > 10_000 && dropped > 10_000,
        "{passed_in_all} passed, {dropped} dropped"
    );
}

/// Each packet begins at the first picosecond at which no interval has more than burst + rate x t, after the packet
/// before it.
#[test]
fn shaper_delays_to_the_first_time_that_the_arrival_curve_allows() {
    let mut delayed = 0;
    for seed in 0..100 {
        let mut stream = Streams::new(seed).stream("shaper");
        let bps = 1_000_000 + stream.below(20_000_000);
        let burst = 1500 + stream.below(20_000);
        let mut buckets = [Bucket::Shaper(Shaper::new((rate(bps), Bytes::new(burst)), None))];
        let mut begun: Vec<(Time, u16)> = Vec::new();
        for (now, size) in arrivals(&mut stream, 100) {
            let free = begun.last().map_or(now, |&(last, _)| last.max(now));
            let begins = begin(&mut buckets, free, packet(size));
            begun.push((begins, size));
            assert!(
                begins >= free && fits(&begun, bps, burst),
                "seed {seed}: {size} B at {begins}"
            );
            if begins > free {
                delayed += 1;
                let last = begun.len() - 1;
                begun[last].0 = Time::from_ps(begins.as_ps() - 1);
                assert!(!fits(&begun, bps, burst), "seed {seed}: {size} B could begin earlier");
                begun[last].0 = begins;
            }
        }
    }
    assert!(delayed > 1000, "{delayed}");
}

/// 1000 B every 0.5 ms are 16 Mb/s, twice the rate of 8 Mb/s. The bucket of 4000 B gains 500 B per packet and loses 1000
/// B per packet that passes. Packets 0 to 6 find 4000, 3500, ..., 1000 B. From packet 7 on, which finds 500 B, every
/// other packet passes.
#[test]
fn half_of_constant_bit_rate_at_twice_the_rate_passes_after_the_burst() {
    let mut policer = policer(8_000_000, 4000, Action::Drop);
    let passes = |n: u64| policer.meter(at(500 * n), 1000).1 == Action::Pass;
    let passed: Vec<bool> = (0..1000).map(passes).collect();
    let expected: Vec<bool> = (0..1000).map(|n| n < 7 || n % 2 == 0).collect();
    assert_eq!(passed, expected);
}

/// Rate 8 Mb/s (1 B per us) with 3000 B, peak 80 Mb/s (10 B per us) with 1000 B. At zero the peak bucket has tokens for
/// one packet of 1000 B, and 50 us later for 500 B only. At 100 us it is full again.
#[test]
fn peak_rate_limits_packets_within_the_burst() {
    let (bucket, peak) =
        ((rate(8_000_000), Bytes::new(3000)), (rate(80_000_000), Bytes::new(1000)));
    let mut policer = Policer::new(bucket, Some(peak), Action::Drop);
    let mut passes = |us, size| policer.meter(at(us), size).1 == Action::Pass;
    assert_eq!(
        [passes(0, 1000), passes(0, 1), passes(50, 501), passes(100, 1000)],
        [true, false, false, true]
    );
}

#[test]
fn actions_drop_mark_and_colour() {
    let ect = packet(1000).saying(Marking::new(Codepoint::Ect0, 0));
    for (action, packet, expected) in [
        (Action::Drop, ect, None),
        (Action::Mark, packet(1000), None),
        (Action::Mark, ect, Some((true, Colour::Red))),
        (Action::Pass, ect, Some((false, Colour::Red))),
    ] {
        let bucket = Bucket::Policer(BucketPlace::Ingress, policer(8, 999, action));
        let (_, metered) = enters(bucket, at(0), packet);
        let found = metered.map(|packet| (packet.marking().is_ce(), packet.colour()));
        assert_eq!(found, expected, "{action:?}");
        assert!(metered.is_none_or(|metered| metered.flow() == packet.flow()));
    }
}

#[test]
fn buckets_apply_at_their_position_only() {
    let bucket = Bucket::Policer(BucketPlace::Egress, policer(8, 1, Action::Drop));
    let (mut bucket, metered) = enters(bucket, at(0), packet(1000));
    assert_eq!(metered, Some(packet(1000)));
    assert_eq!(bucket.meter(BucketPlace::Egress, at(0), packet(1000)), None);
}

/// RFC 2698 section 3, by hand. Committed: 1 B per us, 2000 B. Peak: 2 B per us, 3000 B. Packets of 1000 B.
///
/// | time (us) | committed before | peak before | colour |
/// |---|---|---|---|
/// | 0 | 2000 | 3000 | green |
/// | 0 | 1000 | 2000 | green |
/// | 0 | 0 | 1000 | yellow |
/// | 0 | 0 | 0 | red |
/// | 500 | 500 | 1000 | yellow |
/// | 1000 | 1000 | 1000 | green |
/// | 1400 | 400 | 800 | red |
/// | 1500 | 500 | 1000 | yellow |
const RFC_2698: [(u64, Colour); 8] = [
    (0, Colour::Green),
    (0, Colour::Green),
    (0, Colour::Yellow),
    (0, Colour::Red),
    (500, Colour::Yellow),
    (1000, Colour::Green),
    (1400, Colour::Red),
    (1500, Colour::Yellow),
];

fn marker(aware: bool) -> Trtcm {
    let committed = (rate(8_000_000), Bytes::new(2000));
    let peak = (rate(16_000_000), Bytes::new(3000));
    Trtcm::new(committed, peak, aware, [Action::Pass; 3])
}

#[test]
fn colours_follow_rfc_2698() {
    for before in [Colour::Green, Colour::Yellow, Colour::Red] {
        let mut marker = marker(false);
        let found = RFC_2698.map(|(us, _)| (us, marker.meter(at(us), 1000, before).0.unwrap()));
        assert_eq!(found, RFC_2698, "colours before do not matter: {before:?}");
    }
    let mut marker = marker(true);
    let found = RFC_2698.map(|(us, _)| (us, marker.meter(at(us), 1000, Colour::Green).0.unwrap()));
    assert_eq!(found, RFC_2698, "green packets are treated as without colour");
}

/// Colour-aware: a red packet takes no tokens, and a yellow one takes peak tokens only. Both buckets then hold 2000 B:
/// two packets are green, and the next one is red.
#[test]
fn colour_aware_marker_never_improves_a_colour() {
    let mut marker = marker(true);
    let before = [Colour::Red, Colour::Yellow, Colour::Green, Colour::Green, Colour::Green];
    let found = before.map(|before| marker.meter(at(0), 1000, before).0.unwrap());
    let expected = [Colour::Red, Colour::Yellow, Colour::Green, Colour::Green, Colour::Red];
    assert_eq!(found, expected);
}

fn port(buckets: Vec<Bucket>) -> Port {
    let config = PortConfig::new(rate(80_000_000), Duration::ZERO, QueueLimit::Packets(10));
    Port::new(PortConfig { buckets, ..config })
}

/// At 80 Mb/s, 1000 B take 100 us; the shaper sends 8 Mb/s with 2000 B. Four packets arrive at zero. Two have tokens, and
/// end at 200 us, when the bucket holds 200 B. The third begins at 1000 us, the fourth at 2000 us.
#[test]
fn shaped_port_sends_at_the_rate_after_the_burst() {
    let bucket = Bucket::Shaper(Shaper::new((rate(8_000_000), Bytes::new(2000)), None));
    let mut port = port(vec![bucket]);
    let Admission::Sending(first) = port.admit(at(0), packet(1000)) else { panic!("it is free") };
    for _ in 0..3 {
        assert_eq!(port.admit(at(0), packet(1000)), Admission::Queued);
    }
    // Of 4000 B, 2000 B have tokens.
    assert_eq!(port.busy_until(), at(2000));
    let mut next = Some(first);
    let mut sent = Vec::new();
    while let Some(transmission) = next {
        let ended = port.finish_transmission(transmission.until, transmission.ordinal).unwrap();
        sent.push((transmission.until, ended.waited));
        next = ended.next;
    }
    let expected = [(100, 0), (200, 100), (1100, 1000), (2100, 2000)];
    assert_eq!(sent, expected.map(|(end, waited)| (at(end), Duration::from_us(waited))));
}

/// Behind the queue, a packet without tokens is dropped when the transmitter would take it, and takes no transmission
/// time.
#[test]
fn egress_policer_drops_when_the_transmitter_is_free() {
    let bucket = Bucket::Policer(BucketPlace::Egress, policer(8_000_000, 1000, Action::Drop));
    let mut port = port(vec![bucket]);
    let Admission::Sending(first) = port.admit(at(0), packet(1000)) else { panic!("it is free") };
    for size in [200, 50] {
        assert_eq!(port.admit(at(0), packet(size)), Admission::Queued);
    }
    assert_eq!(port.fates().count(), 0);
    // At 100 us, the bucket holds 100 B.
    let sent = port.finish_transmission(first.until, first.ordinal).unwrap();
    let fates: Vec<_> = port.fates().collect();
    let dropped = crate::queue::Fate::Dropped(DropReason::PolicedEgress);
    assert_eq!(fates, [(packet(200), dropped)]);
    assert_eq!(sent.next.map(|next| next.until), Some(at(105)));
    assert_eq!(port.counts(), crate::PortCounts { accepted: 3, dropped: 1 });
}

/// Before the queue, a packet that the queue drops has taken its tokens.
#[test]
fn ingress_policer_drops_before_the_queue() {
    let bucket = Bucket::Policer(BucketPlace::Ingress, policer(8_000_000, 1000, Action::Drop));
    let mut port = port(vec![bucket]);
    assert!(matches!(port.admit(at(0), packet(900)), Admission::Sending(_)));
    assert_eq!(port.admit(at(0), packet(200)), Admission::Dropped(DropReason::Policed));
    assert_eq!(port.admit(at(0), packet(100)), Admission::Queued);
}
