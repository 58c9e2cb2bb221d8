use super::*;
use crate::config::{AckKind, RecoveryKind};
use crate::profile::Profile;

fn receiver(change: impl FnOnce(&mut Config)) -> Receiver {
    let mut config = Profile::Rfc.config();
    change(&mut config);
    Receiver::new(&config, Duration::ZERO)
}

fn ms(m: u64) -> Time {
    Time::from_ps(m * 1_000_000_000)
}

/// Returns the arrival of a segment with a timestamp.
fn stamped(receiver: &mut Receiver, seq: u32, stamp: Timestamp) -> Arrival {
    receiver.handle_segment(Time::ZERO, Seq::new(seq), stamp, 64, optcp_units::Marking::NONE)
}

/// Returns the progress of a segment and the number in its ACK.
fn arrive(receiver: &mut Receiver, seq: u32) -> (u32, Option<u32>) {
    let arrival = stamped(receiver, seq, 0);
    (arrival.progress, arrival.ack.map(|ack| ack.seq.number()))
}

/// Returns the SACK blocks of the ACK for a segment.
fn blocks(receiver: &mut Receiver, seq: u32) -> Vec<(u32, u32)> {
    let ack = receiver
        .handle_segment(Time::ZERO, Seq::new(seq), 0, 64, optcp_units::Marking::NONE)
        .ack
        .unwrap();
    let blocks = ack.sack.iter().flat_map(|sack| sack.as_slice());
    blocks.map(|(start, end)| (start.number(), end.number())).collect()
}

#[test]
fn gaps_are_filled_from_either_side() {
    let mut receiver = receiver(|_| {});
    assert_eq!(arrive(&mut receiver, 0), (1, Some(1)));
    assert_eq!(arrive(&mut receiver, 5), (0, Some(1)));
    assert_eq!(arrive(&mut receiver, 3), (0, Some(1)));
    assert_eq!(arrive(&mut receiver, 4), (0, Some(1)));
    assert_eq!(arrive(&mut receiver, 4), (0, Some(1)));
    assert_eq!(arrive(&mut receiver, 7), (0, Some(1)));
    assert_eq!(arrive(&mut receiver, 2), (0, Some(1)));
    assert_eq!(arrive(&mut receiver, 1), (5, Some(6)));
    assert_eq!(arrive(&mut receiver, 6), (2, Some(8)));
    assert_eq!(arrive(&mut receiver, 3), (0, Some(8)));
}

#[test]
fn a_delayed_ack_waits_for_the_second_segment_or_its_timer() {
    let mut receiver = receiver(|config| {
        config.ack = AckKind::Delayed;
        config.ack_delay = Duration::from_ms(100);
    });
    let ack = |r: &mut Receiver, at, seq| {
        r.handle_segment(at, Seq::new(seq), 0, 64, optcp_units::Marking::NONE)
            .ack
            .map(|ack| ack.seq.number())
    };
    assert_eq!(ack(&mut receiver, ms(1), 0), None);
    assert_eq!(receiver.deadline(), Some(ms(101)));
    assert_eq!(ack(&mut receiver, ms(2), 1), Some(2));
    assert_eq!(receiver.deadline(), None);
    assert_eq!(ack(&mut receiver, ms(3), 2), None);
    assert_eq!(receiver.handle_timer(ms(103)).seq, Seq::new(3));
    // Out of order, and filling the gap: immediate.
    assert_eq!(ack(&mut receiver, ms(4), 4), Some(3));
    assert_eq!(ack(&mut receiver, ms(5), 3), Some(5));
}

#[test]
fn the_first_segments_and_those_after_a_duplicate_are_acknowledged_at_once() {
    let mut receiver = receiver(|config| {
        config.ack = AckKind::Delayed;
        config.quick_acks = 2;
    });
    assert_eq!(arrive(&mut receiver, 0), (1, Some(1)));
    assert_eq!(arrive(&mut receiver, 1), (1, Some(2)));
    assert_eq!(arrive(&mut receiver, 2), (1, None));
    assert_eq!(arrive(&mut receiver, 3), (1, Some(4)));
    // Duplicate: acknowledged immediately, and the next segment as well.
    assert_eq!(arrive(&mut receiver, 3), (0, Some(4)));
    assert_eq!(arrive(&mut receiver, 4), (1, Some(5)));
    assert_eq!(arrive(&mut receiver, 5), (1, None));
}

/// RFC 2018 section 7, with segments of one unit: the first four of eight are lost, or every other one.
#[test]
fn sack_reports_most_recent_segments_first() {
    let sack = |config: &mut Config| config.recovery = RecoveryKind::Sack;
    let mut case2 = receiver(sack);
    assert_eq!(blocks(&mut case2, 1), [(1, 2)]);
    assert_eq!(blocks(&mut case2, 2), [(1, 3)]);
    assert_eq!(blocks(&mut case2, 3), [(1, 4)]);
    let mut case3 = receiver(sack);
    assert_eq!(blocks(&mut case3, 0), []);
    assert_eq!(blocks(&mut case3, 2), [(2, 3)]);
    assert_eq!(blocks(&mut case3, 4), [(4, 5), (2, 3)]);
    assert_eq!(blocks(&mut case3, 6), [(6, 7), (4, 5), (2, 3)]);
    // Then the fourth packet arrives, and after it the second.
    assert_eq!(blocks(&mut case3, 3), [(2, 5), (6, 7)]);
    assert_eq!(blocks(&mut case3, 1), [(6, 7)]);
    assert_eq!(blocks(&mut case3, 5), []);
}

#[test]
fn sack_blocks_are_limited_by_option_size() {
    let mut receiver = receiver(|config| {
        config.recovery = RecoveryKind::Sack;
        config.sack_blocks = 3;
    });
    for seq in [2, 4, 6] {
        blocks(&mut receiver, seq);
    }
    assert_eq!(blocks(&mut receiver, 8), [(8, 9), (6, 7), (4, 5)]);
}

/// RFC 2018 section 3: 40 bytes of options hold four blocks, or three next to timestamps.
#[test]
fn timestamps_reduce_sack_blocks_by_one() {
    for (timestamps, fit) in [(false, 4), (true, 3)] {
        let mut receiver = receiver(|config| {
            *config = Config { timestamps, ..Profile::Linux6.config() };
        });
        for seq in [2, 4, 6, 8] {
            blocks(&mut receiver, seq);
        }
        let all = [(10, 11), (8, 9), (6, 7), (4, 5)];
        assert_eq!(blocks(&mut receiver, 10), all[..fit], "{timestamps}");
    }
}

/// RFC 2883 sections 4.1 and 4.2: duplicate below the cumulative ACK, and within a block; reported once.
#[test]
fn duplicate_segment_is_reported_once() {
    let mut receiver = receiver(|config| {
        config.recovery = RecoveryKind::Sack;
        config.dsack = true;
    });
    for seq in [0, 1, 2] {
        assert_eq!(blocks(&mut receiver, seq), []);
    }
    assert_eq!(blocks(&mut receiver, 1), [(1, 2)]);
    assert_eq!(blocks(&mut receiver, 3), []);
    assert_eq!(blocks(&mut receiver, 6), [(6, 7)]);
    assert_eq!(blocks(&mut receiver, 7), [(6, 8)]);
    assert_eq!(blocks(&mut receiver, 6), [(6, 7), (6, 8)]);
    assert_eq!(blocks(&mut receiver, 2), [(2, 3), (6, 8)]);
    assert_eq!(blocks(&mut receiver, 9), [(9, 10), (6, 8)]);
}

/// RFC 7323 section 4.3: a delayed ACK echoes the timestamp of the earlier segment (A). An
/// out-of-order segment echoes the last one that moved the left edge (B). A segment that fills the
/// gap echoes its timestamp (C).
#[test]
fn the_timestamp_of_the_left_edge_is_echoed() {
    let mut receiver = receiver(|config| config.ack = AckKind::Delayed);
    let echo = |r: &mut Receiver, seq, stamp| {
        r.handle_segment(Time::ZERO, Seq::new(seq), stamp, 64, optcp_units::Marking::NONE)
            .ack
            .map(|ack| ack.echo)
    };
    assert_eq!(echo(&mut receiver, 0, 10), None);
    assert_eq!(echo(&mut receiver, 1, 11), Some(10));
    assert_eq!(echo(&mut receiver, 3, 13), Some(10));
    assert_eq!(echo(&mut receiver, 4, 14), Some(10));
    assert_eq!(echo(&mut receiver, 2, 20), Some(20));
}

/// RFC 7323 section 5.3: rule R2 discards a segment before the window, so that its timestamp is not kept. The newest
/// segment ends at Last.ACK.sent and passes Linux's test (`tcp_sequence`).
#[test]
fn timestamps_of_old_segments_are_not_echoed() {
    let mut receiver = receiver(|config| config.ack = AckKind::EveryPacket);
    let mut echo = |seq, stamp| stamped(&mut receiver, seq, stamp).ack.map(|ack| ack.echo);
    for seq in 0..3 {
        assert_eq!(echo(seq, 10 + seq), Some(10 + seq));
    }
    assert_eq!(echo(0, 30), Some(12));
    assert_eq!(echo(1, 31), Some(12));
    assert_eq!(echo(2, 32), Some(32));
}

/// RFC 7323 section 5.3, rule R1, with Linux's tolerance of one tick. After a spurious retransmission has arrived, the
/// originals behind it are older and are discarded. In a recorded Linux (`delay-spike` with CUBIC) the receiver repeats
/// the same ACK for 50 ms of originals, until the next retransmission arrives.
#[test]
fn segments_older_than_a_retransmission_are_discarded() {
    let mut receiver = receiver(|config| {
        config.timestamps = true;
        config.recovery = RecoveryKind::Sack;
    });
    let mut arrive = |seq, stamp| {
        let arrival = stamped(&mut receiver, seq, stamp);
        let ack = arrival.ack.unwrap();
        (arrival.progress, ack.seq.number(), ack.echo)
    };
    assert_eq!(arrive(0, 2278), (1, 1, 2278));
    // The original of segment 0, and of 1 and 2.
    assert_eq!(arrive(0, 2009), (0, 1, 2278));
    assert_eq!(arrive(1, 2010), (0, 1, 2278));
    assert_eq!(arrive(2, 2276), (0, 1, 2278));
    // One tick older is accepted, but not echoed.
    assert_eq!(arrive(1, 2277), (1, 2, 2278));
    assert_eq!(arrive(2, 2329), (1, 3, 2329));
}

/// Timestamps are compared modulo 2^32 (RFC 7323 section 5.2).
#[test]
fn timestamps_that_wrap_are_not_older() {
    let mut receiver = receiver(|config| config.timestamps = true);
    for (seq, stamp) in [(0, 1 << 31), (1, u32::MAX), (2, 3)] {
        let arrival = stamped(&mut receiver, seq, stamp);
        assert_eq!(arrival.progress, 1);
    }
}

#[test]
fn sprayed_acks_have_consecutive_labels() {
    for (repath, expected) in [(Repath::Packet, [1, 2, 3]), (Repath::Rto, [0, 0, 0])] {
        let mut receiver = receiver(|config| config.repath = repath);
        let labels = [0, 2, 1].map(|seq| {
            arrive(&mut receiver, seq);
            receiver.flow_label()
        });
        assert_eq!(labels, expected);
    }
}

/// The header of segment 3 arrives after segment 0: the ACK reports it first, then what has arrived beyond the gap. A
/// segment that has arrived is not reported.
#[test]
fn trimmed_segment_is_reported_unless_it_has_arrived() {
    let mut receiver = receiver(|config| {
        config.recovery = RecoveryKind::Sack;
        config.loss_detection = crate::config::LossDetectionKind::Trimmed;
    });
    arrive(&mut receiver, 0);
    arrive(&mut receiver, 2);
    let report = |receiver: &mut Receiver, seq| {
        let ack = receiver.handle_trimmed(Time::ZERO, Seq::new(seq), optcp_units::Marking::NONE);
        let blocks = ack.sack.iter().flat_map(|sack| sack.as_slice());
        let blocks: Vec<_> = blocks.map(|(start, end)| (start.number(), end.number())).collect();
        let trimmed = ack.sack.and_then(|sack| sack.trimmed()).map(Seq::number);
        (ack.seq.number(), trimmed, blocks)
    };
    assert_eq!(report(&mut receiver, 3), (1, Some(3), vec![(3, 4), (2, 3)]));
    assert_eq!(report(&mut receiver, 2), (1, None, vec![(2, 3)]));
    assert_eq!(report(&mut receiver, 0), (1, None, vec![(2, 3)]));
    arrive(&mut receiver, 1);
    assert_eq!(report(&mut receiver, 3), (3, Some(3), vec![(3, 4)]));
}

/// RFC 5681 section 4.2: a segment that fills a gap is acknowledged immediately, also if a header showed the gap.
#[test]
fn ack_after_a_trimmed_segment_is_not_delayed() {
    let mut receiver = receiver(|config| {
        config.recovery = RecoveryKind::Sack;
        config.ack = AckKind::Delayed;
        config.loss_detection = crate::config::LossDetectionKind::Trimmed;
    });
    assert_eq!(arrive(&mut receiver, 0), (1, None));
    receiver.handle_trimmed(Time::ZERO, Seq::new(1), optcp_units::Marking::NONE);
    assert_eq!(arrive(&mut receiver, 1), (1, Some(2)));
    assert_eq!(arrive(&mut receiver, 2), (1, None));
}
